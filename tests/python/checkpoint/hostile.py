"""Checkpoints of somebody who wants what is beside them, and what the commands open for that."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from click.testing import CliRunner, Result

from holdfast_spark.cli import main as cli

HIDDEN = "what somebody else keeps for himself"

_opened: list[str] | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event in ("open", "os.scandir", "os.listdir", "os.rename"):
        _opened.extend(str(a) for a in arguments[:2] if isinstance(a, (str, os.PathLike)))


sys.addaudithook(_hook)


@contextmanager
def opened() -> Iterator[list[str]]:
    """Gather the paths of everything that is opened, listed or renamed."""
    global _opened  # noqa: PLW0603 - a hook cannot be taken away
    found: list[str] = []
    _opened = found
    try:
        yield found
    finally:
        _opened = None


# Every command about a checkpoint; {} is a folder that does not exist.
COMMANDS: dict[str, tuple[str, ...]] = {
    "inspect": ("--json",),
    "verify": (),
    "show": (),
    "diff": ("--batch-id", "2"),
    "report": ("--output", "{}/page.html"),
    "repair": ("--drop-tail", "--apply", "--stopped", "--settled", "0"),
    "migrate": ("--to", "holdfast", "--apply", "--stopped", "--settled", "0"),
    "repartition": ("--partitions", "3", "--apply", "--stopped", "--settled", "0"),
    "savepoint": ("{}/copy",),
    "plan": (),
}
CHEAP = [command for command in COMMANDS if command != "report"]


def run(command: str, path: Path, aside: Path) -> Result:
    """Run a command, whose errors are sentences and no tracebacks."""
    aside.mkdir(exist_ok=True)
    options = [option.format(aside) for option in COMMANDS[command]]
    where = ["--checkpoint", str(path)] if command == "plan" else [str(path)]
    result = CliRunner().invoke(cli.main, [command, *where, *options])
    assert "holdfast --verbose shows where it comes from" not in result.output, result.output
    return result


def peak_of(action: Callable[[], object]) -> int:
    """Return the most memory that Python had for an action at once, in bytes."""
    tracemalloc.start()
    try:
        with suppress(SystemExit):
            action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def victim(folder: Path) -> Path:
    """Make the folder of somebody else."""
    folder.mkdir()
    for name in ("0", "1.delta", "schema", "metadata"):
        (folder / name).write_text(HIDDEN)
    return folder


def edit(file: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Change the JSON of a file that begins with a version."""
    first, _, text = file.read_text().partition("\n")
    read = json.loads(text)
    change(read)
    file.write_text(f"{first}\n{json.dumps(read)}")
