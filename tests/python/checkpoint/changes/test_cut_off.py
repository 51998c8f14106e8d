"""Changes of checkpoints that are cut off at every single file operation, and finished later."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.changes.changed import (
    COMMANDS,
    each_command,
    each_command_in_place,
    joined,
    numbers,
    sound,
    without_ids,
)
from checkpoint.checkpoints import AT_ONCE
from checkpoint.faults import (
    KilledError,
    attempt,
    bad_request,
    connection_lost,
    content,
    server_busy,
)
from checkpoint.objects import ObjectStore
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.change import Change, finish_unfinished, is_decided
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.counted_difference import diff
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.checkpoint.row_reading import read_rows
from holdfast_spark.cli import main as cli


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


def on_objects(
    name: str, folder: Path
) -> tuple[Callable[[], Checkpoint], Callable[[Checkpoint], object]]:
    """What opens a new copy of a command's checkpoint in a store of objects, and the command."""
    make, command = COMMANDS[name]
    made = make(folder / "checkpoint")
    return lambda: Checkpoint.open(ObjectStore.upload(made, "checkpoint")), command


def finished_on_objects(checkpoint: Checkpoint) -> dict[str, bytes]:
    """What there is once what was cut off is finished."""
    finish_unfinished(checkpoint.location)
    assert not unfinished(checkpoint.location)
    return without_ids(ObjectStore.content())


@each_command
def test_a_store_of_objects_without_renaming_serves_as_well(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, command = on_objects(name, tmp_path)
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
        found = finished_on_objects(checkpoint)
        assert found in (before, after), at
        ends.add(found == after)
    assert ends == {False, True}


@each_command
def test_a_question_that_fails_is_taken_for_no_answer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = itertools.cycle((connection_lost, bad_request, server_busy))
    fresh, command = on_objects(name, tmp_path)
    checkpoint = fresh()
    before = without_ids(ObjectStore.content())
    command(checkpoint)
    after = without_ids(ObjectStore.content())
    for at, error in enumerate(errors, start=1):
        checkpoint = fresh()
        tried = attempt(monkeypatch, at, error, partial(command, checkpoint), of_questions=True)
        if not tried.reached:
            break
        found = finished_on_objects(checkpoint)
        assert found in (before, after), at
        assert found == after or tried.error, at
    assert at > 50


@each_command_in_place
def test_what_the_library_of_a_store_raises_at_a_change_is_told_with_what_to_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, command = on_objects(name, tmp_path)
    told = set()
    for at in itertools.count(1):
        checkpoint = fresh()
        tried = attempt(monkeypatch, at, server_busy, partial(command, checkpoint), lasts=True)
        if not tried.reached:
            break
        assert "The server is busy" in str(tried.error)
        if unfinished(checkpoint.location):
            assert "holdfast repair --apply" in re.sub(r"\s+", " ", str(tried.error))
            told.add("is decided, but not complete" in str(tried.error))
    assert told == {False, True}


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
