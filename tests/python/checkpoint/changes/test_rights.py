"""That a change which may not write is refused before it begins, and leaves nothing behind."""

from __future__ import annotations

import itertools
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.local import LocalFileSystem as LocalFiles
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import LocalFileSystem

from checkpoint.changes.each_change import CHANGES, changeable, each_change
from checkpoint.checkpoints import AT_ONCE, counts, row
from checkpoint.faults import KilledError, attempt, full_disk
from holdfast_spark.checkpoint import Checkpoint, Location, read_rows, repair, repartition
from holdfast_spark.checkpoint.errors import CheckpointError, UnreadablePathError
from holdfast_spark.checkpoint.files.abilities import why_it_keeps_files
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.cli.main import main

# The user that runs tests may write everywhere, as in a container.
ACCESS = os.access


def all_of(folder: Path) -> dict[Path, bytes | None]:
    """Files with their content, and folders."""
    return {each: each.read_bytes() if each.is_file() else None for each in folder.rglob("*")}


def forbid(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    def access(path: Path, mode: int) -> bool:
        return ACCESS(path, mode) and not (mode & os.W_OK and path in folders)

    monkeypatch.setattr(os, "access", access)


@each_change
@pytest.mark.parametrize("folder", ["", "offsets", "state/0/0"])
def test_a_change_that_may_not_write_is_refused_before_it_begins(
    name: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changeable(tmp_path, name)
    forbid(monkeypatch, path / folder)
    before = all_of(path)
    if name == "migrate" and folder.startswith("state"):  # which it leaves as it is
        assert CHANGES[name](path, settled=AT_ONCE, apply=True).applied
        return
    (told,) = CHANGES[name](path, settled=AT_ONCE).in_the_way
    with pytest.raises(CheckpointError) as raised:
        CHANGES[name](path, settled=AT_ONCE, apply=True)
    assert str(raised.value) == told
    assert told.startswith(f"Cannot write to {path / folder}: this user may not")
    assert all_of(path) == before


def test_where_backups_are_they_count_and_not_the_folder_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changeable(tmp_path, "repair")
    (path / BACKUPS).mkdir()
    with monkeypatch.context() as patch:
        forbid(patch, path / BACKUPS)
        assert repair(Checkpoint.open(path), drop_tail=True, settled=AT_ONCE).in_the_way
    forbid(monkeypatch, path, path / "offsets")
    (path / "state/0/0/1.snapshot").write_bytes(b"damage")
    assert repair(Checkpoint.open(path), apply=True, settled=AT_ONCE).applied


def test_the_command_tells_it_in_a_dry_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = changeable(tmp_path, "repartition")
    forbid(monkeypatch, path / "state/0")
    result = CliRunner().invoke(
        main, ["repartition", str(path), "--partitions", "3", "--settled", "0"]
    )
    told = f"With --apply it would be refused now: Cannot write to {path}/state/0: this user may"
    assert told in result.stdout


@each_change
def test_nothing_stays_of_a_change_that_failed_and_was_undone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, at = changeable(tmp_path, name), 0
    before = all_of(path)
    while True:
        at += 1
        tried = attempt(
            monkeypatch,
            at,
            full_disk,
            lambda: CHANGES[name](path, settled=AT_ONCE, apply=True),
        )
        if tried.error is None:
            break
        assert all_of(path) == before, at
    assert at > 5


def test_what_a_change_puts_into_a_folder_stays_on_hdfs_too(tmp_path: Path) -> None:
    # The file system that fsspec has for hdfs://, on local files; it removes folders that are full.
    path = counts(tmp_path / "c", {"1.delta": [row(1, 10)], "2.delta": [row(2, 2)]}, batches=2)
    place = Location(ArrowFSWrapper(LocalFileSystem()), str(path))
    assert repartition(Checkpoint.open(place), 3, apply=True, settled=AT_ONCE).applied
    assert all((path / "state/0/0" / name).exists() for name in ("2.snapshot", "_metadata/schema"))
    rows = [row for piece in read_rows(Checkpoint.open(place)) for row in piece.to_pylist()]
    assert len(rows) == 2


class KeepingFileSystem(LocalFiles):  # type: ignore[misc] # fsspec has no types
    """A file system that moves no file to the place of another, on local files."""

    protocol = "webhdfs"

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:  # noqa: ANN401
        assert mode == "rb"
        return super()._open(path, mode, **more)


@each_change
def test_a_file_system_that_replaces_no_file_is_for_reading(name: str, tmp_path: Path) -> None:
    path = changeable(tmp_path, name)
    before = all_of(path)
    place = Location(KeepingFileSystem(skip_instance_cache=True), str(path))
    with pytest.raises(UnreadablePathError) as raised:
        CHANGES[name](place, settled=AT_ONCE, apply=True)
    assert str(raised.value) == (
        f"Cannot change webhdfs://{path}: webhdfs:// is for reading: it moves no file to the place "
        "of another. Use hdfs://."
    )
    assert all_of(path) == before


def test_what_replaces_files_is_for_changes() -> None:
    for fs in (MemoryFileSystem(), ArrowFSWrapper(LocalFileSystem())):
        assert why_it_keeps_files(fs) is None


def test_nor_is_what_was_cut_off_finished_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off = 0
    for at in itertools.count(1):
        path = changeable(tmp_path / str(at), "repartition")
        change = partial(CHANGES["repartition"], path, settled=AT_ONCE, apply=True)
        if attempt(monkeypatch, at, KilledError, change).error is None:
            break
        before = all_of(path)
        place = Location(KeepingFileSystem(skip_instance_cache=True), str(path))
        if unfinished(place):
            cut_off += 1
            with pytest.raises(UnreadablePathError, match="webhdfs:// is for reading"):
                repair(Checkpoint.open(place), apply=True, settled=AT_ONCE)
        assert all_of(path) == before
    assert cut_off > 10
