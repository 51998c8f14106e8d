"""Changes of checkpoints that fail, or are cut off, at every single file operation."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import GOLDEN, counts, lz4, records, row
from checkpoint.faults import KilledError, attempt, content, full_disk, no_permission
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.change import Change, undo_unfinished
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.cli import main as cli

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31)],
    "4.delta": [row(5, 50)],
}

Command = Callable[[Checkpoint], object]


def damaged(folder: Path) -> Path:
    """A checkpoint with a snapshot to rebuild and a tail to give up."""
    counts(folder, VERSIONS, batches=4)
    for name in ("2.snapshot", "3.delta"):
        (folder / "state/0/0" / name).write_bytes(lz4(records([row(1, 1)]))[:30])
    for name in ("state/0/0/.3.delta.crc", "commits/.3.crc", "offsets/.3.crc", "offsets/.1.crc"):
        (folder / name).write_bytes(b"crc\0")
    return folder


def joined(folder: Path) -> Path:
    """A checkpoint that Spark made of a join, with four stores."""
    shutil.copytree(GOLDEN / "spark-4.3" / "join" / "checkpoint", folder)
    (folder / "offsets/.3.crc").write_bytes(b"crc\0")
    return folder


def with_ids(folder: Path) -> Path:
    """The same in checkpoint format 2, by Holdfast."""
    shutil.copytree(GOLDEN / "spark-4.3" / "ids_join" / "checkpoint", folder)
    (folder / "commits/.3.crc").write_bytes(b"crc\0")
    return folder


def one_with_ids(folder: Path) -> Path:
    """One store in checkpoint format 2."""
    shutil.copytree(GOLDEN / "spark-4.3" / "ids" / "checkpoint", folder)
    (folder / "commits/.3.crc").write_bytes(b"crc\0")
    return folder


def sound(folder: Path) -> Path:
    counts(folder, VERSIONS, batches=4)
    (folder / "offsets/.3.crc").write_bytes(b"crc\0")
    return folder


COMMANDS: dict[str, tuple[Callable[[Path], Path], Command]] = {
    "repartition": (joined, lambda found: repartition(found, 3, apply=True)),
    "repair": (damaged, lambda found: repair(found, drop_tail=True, apply=True)),
    "repartition with ids": (with_ids, lambda found: repartition(found, 3, apply=True)),
    "migrate": (sound, lambda found: migrate(found, "holdfast", apply=True)),
    "migrate with ids": (one_with_ids, lambda found: migrate(found, "hdfs", apply=True)),
}
each_command = pytest.mark.parametrize("name", COMMANDS)


@pytest.mark.parametrize("error", [full_disk, no_permission])
@each_command
def test_a_failure_leaves_the_checkpoint_as_it_was(
    name: str,
    error: Callable[[], OSError],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make, command = COMMANDS[name]
    before = content(make(tmp_path / "before"))
    failures = 0
    for at in itertools.count(1):
        path = make(tmp_path / f"{at}")
        checkpoint = Checkpoint.open(str(path))
        tried = attempt(monkeypatch, at, error, partial(command, checkpoint))
        assert not unfinished(checkpoint.location)
        # A failure may be harmless, such as that of making a folder that is there.
        assert (content(path) == before) == (tried.error is not None)
        if not tried.reached:
            break
        if tried.error:
            failures += 1
            assert str(error().strerror) in str(tried.error)
    assert failures > 5


@pytest.mark.parametrize("name", ["repartition", "repair"])
def test_what_was_cut_off_is_undone_later(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    before = content(make(tmp_path / "before"))
    undone = 0
    for at in itertools.count(1):
        path = make(tmp_path / f"{at}")
        checkpoint = Checkpoint.open(str(path))
        tried = attempt(monkeypatch, at, KilledError, partial(command, checkpoint))
        if not tried.reached:
            break
        if journals := unfinished(checkpoint.location):
            undone += 1
            check_undone(path, journals[0])
        assert content(path) == before
    assert undone > 3


def check_undone(path: Path, journal: Location) -> None:
    """Undo what was cut off, as the commands say."""
    checkpoint = Checkpoint.open(str(path))
    for command in (partial(repartition, checkpoint, 5), partial(migrate, checkpoint, "holdfast")):
        with pytest.raises(CheckpointError, match=r"run holdfast repair --apply, which undoes it"):
            command()
    odd = inspect_checkpoint(checkpoint).odd
    assert (
        f"A change by Holdfast was cut off ({journal}): holdfast repair --apply undoes it." in odd
    )
    result = CliRunner().invoke(cli.main, ["repair", str(path), "--settled", "0"])
    assert result.stdout.startswith(f"undo: {journal} tells of a change that was cut off")
    result = CliRunner().invoke(cli.main, ["repair", str(path), "--settled", "0", "--apply"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith("What was cut off is undone.\n")
    assert not unfinished(Location.of(str(path)))


def test_undoing_may_be_cut_off_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cut_off_while_filling(tmp_path, monkeypatch)
    before = content(joined(tmp_path / "before"))
    for at in itertools.count(1):
        tried = attempt(
            monkeypatch, at, KilledError, lambda: undo_unfinished(Location.of(str(path)))
        )
        if not tried.reached:
            break
    assert at > 3
    assert content(path) == before


def cut_off_while_filling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint in which new files stand where the old ones were, and others are missing."""
    for at in itertools.count(1):
        path = joined(tmp_path / f"{at}")
        checkpoint = Checkpoint.open(str(path))
        tried = attempt(
            monkeypatch,
            at,
            KilledError,
            partial(repartition, checkpoint, 3, apply=True),
        )
        assert tried.reached
        journals = unfinished(Location.of(str(path)))
        if journals and "filling" in journals[0].read_text() and not (path / "state").exists():
            return path
    raise AssertionError


def test_when_undoing_fails_the_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    move = Location.move

    def only_once(location: Location, target: Location) -> None:
        if location.path.endswith("commits") or BACKUPS in location.path:
            raise CheckpointError("Cannot move it.")
        move(location, target)

    root = Location.of(str(path))
    change = Change(root, root / BACKUPS / "now", goes=["state", "commits"])
    monkeypatch.setattr(Location, "move", only_once)
    with pytest.raises(CheckpointError, match="do not start the query, and run holdfast repair"):
        change.make()
    change.abandon()
    monkeypatch.undo()
    undo_unfinished(root)
    assert content(path) == before


def test_a_change_elsewhere_than_on_a_disk_is_undone_file_by_file() -> None:
    fs = MemoryFileSystem()
    root = Location(fs, "/changed")
    for name in ("state/0/0/1.delta", "state/0/1/1.delta", "offsets/0"):
        (root / name).create(b"old")
    change = Change(root, root / BACKUPS / "now", ["state"], ["offsets/0"], ["state"])
    for name in ("state/0/0/1.snapshot", "offsets/0"):
        change.new(name).create(b"new")
    change.make()
    assert (root / "offsets/0").read_bytes() == b"new"
    assert [entry.path for entry in (root / "state").files()] == ["/changed/state/0/0/1.snapshot"]
    # As a move leaves it that was cut off between its copies and its removals.
    (root / "state").remove_tree()
    (root / "state/0/1/1.delta").create(b"old")
    change.undo("clearing")
    kept = {entry.path: (Location(fs, entry.path)).read_bytes() for entry in root.files()}
    assert kept.pop("/changed/offsets/0") == b"new"
    assert kept == {"/changed/state/0/0/1.delta": b"old", "/changed/state/0/1/1.delta": b"old"}
    fs.rm("/changed", recursive=True)


def test_a_savepoint_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    for at in itertools.count(1):
        target = tmp_path / f"copy-{at}"
        command = partial(make_savepoint, Checkpoint.open(str(path)), Location.of(str(target)))
        tried = attempt(monkeypatch, at, full_disk, command)
        assert content(path) == before
        if not tried.reached:
            break
        if tried.error:
            assert "No space left on device" in str(tried.error)
            assert not target.exists()
    assert at > 10


def test_a_running_query_is_not_changed(tmp_path: Path) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    hour = timedelta(hours=1)
    for command in (
        lambda found: repartition(found, 3, apply=True, settled=hour),
        lambda found: repair(found, apply=True, drop_tail=True, settled=hour),
    ):
        with pytest.raises(CheckpointError, match="seems to be running"):
            command(Checkpoint.open(str(path)))
    assert content(path) == before
