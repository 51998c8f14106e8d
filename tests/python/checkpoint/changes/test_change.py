"""Changes of checkpoints that fail, or are cut off, at every single file operation."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import AT_ONCE, GOLDEN, counts, lz4, records, row
from checkpoint.faults import KilledError, attempt, content, full_disk, no_permission, read_only
from checkpoint.objects import ObjectStore
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.change import Change, finish_unfinished, is_decided
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.counted_difference import diff
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.checkpoint.row_reading import read_rows
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
    """A checkpoint that Holdfast made in checkpoint format 2."""
    shutil.copytree(GOLDEN / "spark-4.3" / "ids" / "checkpoint", folder)
    (folder / "commits/.3.crc").write_bytes(b"crc\0")
    return folder


def sound(folder: Path) -> Path:
    counts(folder, VERSIONS, batches=4)
    (folder / "offsets/.3.crc").write_bytes(b"crc\0")
    return folder


COMMANDS: dict[str, tuple[Callable[[Path], Path], Command]] = {
    "repartition": (sound, lambda found: repartition(found, 3, apply=True, settled=AT_ONCE)),
    "repartition of a join": (
        joined,
        lambda found: repartition(found, 3, apply=True, settled=AT_ONCE),
    ),
    "repair": (damaged, lambda found: repair(found, drop_tail=True, apply=True, settled=AT_ONCE)),
    "repartition with ids": (
        with_ids,
        lambda found: repartition(found, 3, apply=True, settled=AT_ONCE),
    ),
    "migrate": (sound, lambda found: migrate(found, "holdfast", apply=True, settled=AT_ONCE)),
    "migrate with ids": (
        with_ids,
        lambda found: migrate(found, "hdfs", apply=True, settled=AT_ONCE),
    ),
}
each_command = pytest.mark.parametrize("name", COMMANDS)
# These have many files that all go the same way: of them, not each is made to fail.
STRIDES = {"repartition of a join": 7, "repartition with ids": 3, "migrate with ids": 3}


def numbers(name: str) -> Iterator[int]:
    """Yield the changes of files that are made to fail, by their number."""
    return itertools.count(1, STRIDES.get(name, 1))


@each_command
def test_a_failure_leaves_the_checkpoint_as_it_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    before = content(make(tmp_path / "before"))
    failures = 0
    # Whichever the file system has, it goes the same way.
    for at, error in zip(numbers(name), itertools.cycle((full_disk, no_permission))):
        path = make(tmp_path / f"{at}")
        checkpoint = Checkpoint.open(str(path))
        tried = attempt(monkeypatch, at, error, partial(command, checkpoint))
        assert not unfinished(checkpoint.location)
        # A failure may be harmless, such as that of making a folder that is there; and what is
        # decided is tried again.
        assert (content(path) == before) == (tried.error is not None)
        if not tried.reached:
            break
        if tried.error:
            failures += 1
            assert str(error().strerror) in str(tried.error)
    assert failures > 5


@each_command
def test_what_was_cut_off_is_undone_or_completed_later(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    before = without_ids(content(make(tmp_path / "before")))
    command(Checkpoint.open(str(make(tmp_path / "after"))))
    after = without_ids(content(tmp_path / "after"))
    finished = {"undone": 0, "complete": 0}
    for at in numbers(name):
        path = make(tmp_path / f"{at}")
        checkpoint = Checkpoint.open(str(path))
        tried = attempt(monkeypatch, at, KilledError, partial(command, checkpoint))
        if not tried.reached:
            break
        wanted = before
        if journals := unfinished(checkpoint.location):
            how = "complete" if is_decided(journals[0]) else "undone"
            wanted = after if how == "complete" else before
            if not finished[how]:
                check_refusals(path, journals[0])
            finished[how] += 1
            check_finished(path, journals[0], how)
        found = without_ids(content(path))
        # Without a journal the change had not begun, or was complete.
        assert found == wanted or (not journals and found == after), at
    assert min(finished.values()) > 3


@each_command
def test_a_store_of_objects_without_renaming_serves_as_well(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    folder = make(tmp_path / "checkpoint")

    def fresh() -> Checkpoint:
        return Checkpoint.open(ObjectStore.upload(folder, "checkpoint"))

    checkpoint = fresh()
    before = without_ids(ObjectStore.content())
    command(checkpoint)
    after = without_ids(ObjectStore.content())
    ends = set()
    for at in numbers(name):
        checkpoint = fresh()
        tried = attempt(monkeypatch, at, KilledError, partial(command, checkpoint))
        if not tried.reached:
            break
        finish_unfinished(checkpoint.location)
        assert not unfinished(checkpoint.location)
        found = without_ids(ObjectStore.content())
        assert found in (before, after), at
        ends.add(found == after)
    assert ends == {False, True}


def without_ids(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files with new ids and times of batches alike, which differ from change to change."""
    differing = rb"[0-9a-f]{32}-none|\"batchTimestampMs\":\d+"
    return {
        re.sub(differing.decode(), "", name): re.sub(differing, b"", content)
        for name, content in files.items()
    }


def check_refusals(path: Path, journal: Location) -> None:
    """See that nothing is done with a checkpoint in which a change was cut off."""
    checkpoint = Checkpoint.open(str(path))
    target = Location.of(f"{path}-copy")
    for command in (
        partial(repartition, checkpoint, 5, settled=AT_ONCE),
        partial(migrate, checkpoint, "holdfast", settled=AT_ONCE),
        partial(make_savepoint, checkpoint, target),
        partial(read_rows, checkpoint),
        partial(diff, checkpoint),
    ):
        with pytest.raises(CheckpointError, match=r"repair --apply, which undoes or completes it"):
            command()
    assert not target.exists()
    odd = inspect_checkpoint(checkpoint).odd
    assert any(line.startswith(f"A change by Holdfast was cut off ({journal}): ") for line in odd)


def check_finished(path: Path, journal: Location, how: str) -> None:
    """Undo or complete what was cut off, as the commands say."""
    result = CliRunner().invoke(cli.main, ["repair", str(path), "--settled", "0"])
    action = "complete" if how == "complete" else "undo"
    assert result.stdout.startswith(f"{action}: {journal} tells of a change that was cut off")
    assert "Run holdfast repair" not in result.stdout
    # At once: no run gets past the fence.
    result = CliRunner().invoke(cli.main, ["repair", str(path), "--apply"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(f"What was cut off is {how}.\n")
    assert not unfinished(Location.of(str(path)))


@pytest.mark.parametrize("decided", [False, True])
def test_finishing_may_be_cut_off_as_well(
    *, decided: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cut_off(tmp_path, monkeypatch, decided=decided)
    joined(tmp_path / "before")
    if decided:
        repartition(Checkpoint.open(str(tmp_path / "before")), 3, apply=True, settled=AT_ONCE)
    for at in itertools.count(1):
        tried = attempt(
            monkeypatch, at, KilledError, lambda: finish_unfinished(Location.of(str(path)))
        )
        if not tried.reached:
            break
    assert at > 3
    assert without_ids(content(path)) == without_ids(content(tmp_path / "before"))


def cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, decided: bool) -> Path:
    """A checkpoint with all new files in place, just before or after the change is decided."""
    path = joined(tmp_path / "cut-off")
    replace = Location.replace

    def dying(location: Location, content: bytes) -> None:
        if location.path.endswith("/decided"):
            if decided:
                replace(location, content)
            raise KilledError
        replace(location, content)

    with monkeypatch.context() as patch:
        patch.setattr(Location, "replace", dying)
        # What the process itself would undo stays as it is when it has ended.
        patch.setattr(Change, "_undo_after", lambda *_: None)
        with pytest.raises(KilledError):
            repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE)
    (journal,) = unfinished(Location.of(str(path)))
    assert is_decided(journal) == decided
    return path


def test_when_undoing_fails_the_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    root = Location.of(str(path))
    change = Change(root, root / BACKUPS / "now")
    change.add("state/0/0/4.delta", b"other")
    move = Location.move

    def only_there(location: Location, target: Location) -> None:
        if "/new/" in location.path:
            move(location, target)
        raise CheckpointError("Cannot go on.")

    monkeypatch.setattr(Location, "move", only_there)
    with pytest.raises(CheckpointError, match="do not start the query, and run holdfast repair"):
        change.make(lambda **_: None)
    monkeypatch.undo()
    assert content(path) != before
    finish_unfinished(root)
    assert content(path) == before


def test_maintenance_that_is_writing_a_snapshot_cannot_finish_it(tmp_path: Path) -> None:
    path = sound(tmp_path / "checkpoint")
    hidden = path / "state/0/0/.4.snapshot.26f6c1c0.TID7.tmp"
    hidden.write_bytes(b"the rows of the former partition")
    assert repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE).applied
    with pytest.raises(FileNotFoundError):
        hidden.rename(path / "state/0/0/4.snapshot")


def test_a_snapshot_that_maintenance_has_put_over_a_new_one_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    move = Location.move

    def maintained(location: Location, target: Location) -> None:
        move(location, target)
        if target.path.endswith("/0/0/4.snapshot") and "/new/" in location.path:
            (path / "state/0/0/4.snapshot").write_bytes(b"the rows of the former partition")

    with monkeypatch.context() as patch:
        patch.setattr(Location, "move", maintained)
        with pytest.raises(CheckpointError, match=r"4\.snapshot has changed meanwhile"):
            repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE)
    assert content(path) == before


def test_of_two_that_begin_the_next_batch_one_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    claim = Location.claim

    def late(location: Location, text: bytes, *, by: Location) -> bool:
        (path / "offsets/4").write_bytes(b"v1\n{}\n{}")
        return claim(location, text, by=by)

    monkeypatch.setattr(Location, "claim", late)
    for command in (
        lambda found: repartition(found, 3, apply=True, settled=AT_ONCE),
        lambda found: migrate(found, "holdfast", apply=True, settled=AT_ONCE),
    ):
        with pytest.raises(CheckpointError, match=r"offsets/4 has come meanwhile"):
            command(Checkpoint.open(str(path)))
        assert (path / "offsets/4").read_bytes() == b"v1\n{}\n{}"
        (path / "offsets/4").unlink()
    assert content(path) == content(sound(tmp_path / "before"))


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
    (path / "state/0/0/1.snapshot").write_bytes(b"damage")
    before = content(path)
    hour = timedelta(hours=1)
    for command in (
        lambda found: repartition(found, 3, apply=True, settled=hour),
        lambda found: repair(found, apply=True, drop_tail=True, settled=hour),
    ):
        with pytest.raises(CheckpointError, match="seems to be running"):
            command(Checkpoint.open(str(path)))
    assert content(path) == before


# A conversion begins with a local folder.
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"migrate with ids"}))
def test_a_checkpoint_that_may_only_be_read_is_what_the_sentence_tells(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, change = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    before = content(path)
    tried = attempt(monkeypatch, 1, read_only, lambda: change(Checkpoint.open(str(path))))
    assert re.fullmatch(
        rf"Cannot (write|make) {path}/holdfast-backup\S*: Read-only file system\.", str(tried.error)
    )
    assert content(path) == before
    assert not (path / BACKUPS).exists()


def test_a_change_that_has_not_begun_leaves_what_it_cannot_remove_to_repair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    for at in itertools.count(2):
        tried = attempt(
            monkeypatch,
            at,
            read_only,
            lambda: migrate(Checkpoint.open(str(path)), "holdfast", apply=True, settled=AT_ONCE),
        )
        if unfinished(Location.of(str(path))):
            break
        assert re.fullmatch(
            r"Cannot (write|make|copy) \S*: Read-only file system\.", str(tried.error)
        )
        assert content(path) == before
        assert repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE).complete
        assert not (path / BACKUPS).exists() or not list((path / BACKUPS).iterdir())
    assert at > 3


# A repair without batches to give up leaves the rows as they are.
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"repair"}))
def test_nothing_is_changed_where_the_query_would_not_go_on_from_the_newest_commit(
    name: str, tmp_path: Path
) -> None:
    """Spark runs the newest planned batch, from the state before it, whatever is committed."""
    make, command = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    for batch in (2, 3):
        (path / f"commits/{batch}").unlink()
    before = content(path)
    with pytest.raises(
        CheckpointError, match=r"has planned the batches 2 to 3, and .* ends with 1"
    ):
        command(Checkpoint.open(str(path)))
    assert content(path) == before


def test_who_is_interrupted_behind_the_decision_leaves_a_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    move = Location.move

    def interrupted(location: Location, target: Location) -> None:
        move(location, target)
        if target.path.endswith("/state/0/0/2.delta"):
            monkeypatch.setattr(Location, "move", move)
            raise KeyboardInterrupt

    monkeypatch.setattr(Location, "move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE)
    assert not unfinished(Location.of(str(path)))
    after = sound(tmp_path / "after")
    repartition(Checkpoint.open(str(after)), 3, apply=True, settled=AT_ONCE)
    assert without_ids(content(path)) == without_ids(content(after))
