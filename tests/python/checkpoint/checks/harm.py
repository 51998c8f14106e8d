"""Ways to harm a checkpoint; each takes its folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.checks.verified import Verification
from holdfast_spark.cli import main as cli

Harm = Callable[[Path], object]
STATE_FILE = "state/0/0/5.delta"
KINDS = ("commits", "delta", "metadata", "offsets", "operator", "schema", "snapshot", "sources")


def verified(path: Path, *, shared_sources: bool = False) -> Verification:
    return verify_checkpoint(Checkpoint.open(str(path)), shared_sources=shared_sources)


def invoke(command: str, path: Path, *options: str) -> Result:
    return CliRunner().invoke(cli.main, [command, str(path), *options])


def gone(*names: str) -> Harm:
    def harm(path: Path) -> None:
        for name in names:
            (path / name).unlink()

    return harm


def folder_gone(name: str) -> Harm:
    return lambda path: shutil.rmtree(path / name)


def text(name: str, before: str, after: str) -> Harm:
    """Replace a text in a file, which keeps its time."""

    def harm(path: Path) -> None:
        content = (path / name).read_text()
        assert before in content
        rewrite(path / name, content.replace(before, after).encode())

    return harm


def content(name: str, changed: Callable[[bytes], bytes]) -> Harm:
    return lambda path: rewrite(path / name, changed((path / name).read_bytes()))


def empty(name: str) -> Harm:
    return content(name, lambda _: b"")


def cut(name: str) -> Harm:
    return content(name, lambda whole: whole[: len(whole) * 2 // 3])


def garbled(name: str) -> Harm:
    return content(name, lambda whole: bytes(byte ^ 0x5A for byte in whole))


def zeros(name: str) -> Harm:
    return content(name, lambda whole: whole[:20] + bytes(len(whole) - 20))


def copied(name: str, target: str) -> Harm:
    def harm(path: Path) -> None:
        shutil.copy2(path / name, path / target)

    return harm


def exchanged(one: str, other: str) -> Harm:
    def harm(path: Path) -> None:
        (path / one).rename(path / "aside")
        (path / other).rename(path / one)
        (path / "aside").rename(path / other)

    return harm


def contents(path: Path) -> dict[str, bytes]:
    files = (file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def rewrite(file: Path, changed: bytes) -> None:
    before = file.stat()
    file.write_bytes(changed)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
