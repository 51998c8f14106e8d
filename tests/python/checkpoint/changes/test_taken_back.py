"""The page that tells how to go back to before a change is right for every kind of change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import Harm, garbled, gone, invoke, verified
from checkpoint.whole import BATCHES, whole
from harness import ROOT
from pages.markdown import blocks

# With the harm that it mends.
CHANGES: dict[str, Harm | None] = {
    "migrate --to holdfast": None,
    "repartition --partitions 3": None,
    "repair --drop-tail": gone(f"state/0/0/{BATCHES}.delta"),
    "repair": garbled("state/0/0/3.snapshot"),
}


def content(checkpoint: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in checkpoint.rglob("*") if file.is_file()}


def changed(folder: Path, what: str, *, checksums: bool) -> tuple[Path, dict[Path, bytes]]:
    """A checkpoint after a change, and what was in it before."""
    path = whole(folder / "checkpoint", checksums=checksums)
    if harm := CHANGES[what]:
        harm(path)
    before = content(path)
    command, *options = what.split()
    done = invoke(command, path, *options, "--apply", "--settled", "0")
    assert done.exit_code == 0, done.output
    assert content(path) != before
    return path, before


def take_back(checkpoint: Path) -> None:
    """Run the code of the page with the paths of a reader."""
    (code,) = blocks(ROOT / "docs" / "changes.md", "python")
    (backup,) = (checkpoint / "holdfast-backup").iterdir()
    for name, value in (("/data/checkpoints/clicks", checkpoint), (None, backup.name)):
        said = name or code.partition('"holdfast-backup" / "')[2].partition('"')[0]
        assert code.count(said) == 1
        code = code.replace(said, str(value))
    exec(compile(code, "changes.md", "exec"), {})  # noqa: S102 - the project's own page


@pytest.mark.parametrize("checksums", [False, True])
@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_is_taken_back_leaves_the_checkpoint_as_it_was(
    tmp_path: Path, what: str, *, checksums: bool
) -> None:
    path, before = changed(tmp_path, what, checksums=checksums)
    take_back(path)
    assert content(path) == before


@pytest.mark.parametrize("what", ["repartition --partitions 3", "repair --drop-tail"])
def test_a_change_is_not_taken_back_once_the_query_has_run(tmp_path: Path, what: str) -> None:
    path, _ = changed(tmp_path, what, checksums=False)
    planned = verified(path).next_batch
    shutil.copy(path / "commits" / str(planned - 1), path / "commits" / str(planned))
    after = content(path)
    with pytest.raises(SystemExit, match="has run since"):
        take_back(path)
    assert content(path) == after
