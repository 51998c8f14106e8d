"""What a command leaves that is killed before its change begins, or while it undoes one."""

from __future__ import annotations

import itertools
import os
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import AT_ONCE, counts, row
from checkpoint.faults import Faults, KilledError, attempt, content
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.change import Change, finish_unfinished, is_decided
from holdfast_spark.checkpoint.changes.leftovers import leftovers
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.steps import DECIDED, ChangeSteps
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished, was_planned_by_change
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.cli import main as cli

VERSIONS = {"1.delta": [row(1, 10)], "2.delta": [row(2, 20)], "3.delta": [row(3, 30)]}


def stopped(folder: Path) -> Path:
    counts(folder, VERSIONS, batches=3)
    for file in folder.rglob("*"):
        os.utime(file, (0, 0))
    return folder


def spread(path: Path) -> object:
    return repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE)


def killed_before_it_began(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a change that has written but one of its new files."""
    tried = attempt(monkeypatch, 8, KilledError, partial(spread, path))
    assert tried.reached
    assert not unfinished(Location.of(str(path)))
    (left,) = (path / BACKUPS).iterdir()
    return left


def test_repair_removes_the_new_files_of_a_change_that_had_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "c")
    before = content(path)
    left = killed_before_it_began(path, monkeypatch)
    told = repair(Checkpoint.open(str(path)), settled=AT_ONCE)
    assert [(step.action, step.path) for step in told.steps] == [("undo", str(left))]
    assert (told.applied, left.exists()) == (False, True)
    done = CliRunner().invoke(cli.main, ["repair", str(path), "--apply", "--settled", "0"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(f"undone: {left} is left of a change that was cut off before it")
    assert done.stdout.endswith("What was cut off is undone.\n")
    assert not left.exists()
    assert content(path) == before
    assert repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE).steps == ()


def test_but_not_of_one_that_may_be_writing_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "c")
    left = killed_before_it_began(path, monkeypatch)
    told = repair(Checkpoint.open(str(path)), apply=True, settled=timedelta(minutes=5))
    assert (told.steps, told.applied, left.exists()) == ((), False, True)


def test_nor_where_nobody_knows_whether_one_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "c")
    left = killed_before_it_began(path, monkeypatch)
    an_hour_ago = (datetime.now() - timedelta(hours=1)).timestamp()
    for file in left.rglob("*"):
        os.utime(file, (an_hour_ago, an_hour_ago))
    settled = timedelta(minutes=5)
    assert leftovers(Location.of(str(path)), settled=settled)
    monkeypatch.setattr("holdfast_spark.checkpoint.changes.leftovers.is_at_work", lambda _: None)
    assert not leftovers(Location.of(str(path)), settled=settled)
    assert leftovers(Location.of(str(path)), settled=AT_ONCE)


def test_what_is_left_goes_with_a_change_that_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "c")
    left = killed_before_it_began(path, monkeypatch)
    attempt(monkeypatch, 30, KilledError, partial(spread, path))
    (journal,) = unfinished(Location.of(str(path)))
    told = repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE)
    assert [step.path for step in told.steps] == [str(journal), str(left)]
    assert not (path / BACKUPS).exists()


def test_what_is_undone_and_cut_off_anywhere_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(stopped(tmp_path / "before"))
    for at in itertools.count(1):
        path = stopped(tmp_path / f"{at}")
        root = Location.of(str(path))
        # The change fails when all its new files are in place, and undoes itself.
        with monkeypatch.context() as patch:
            patch.setattr(ChangeSteps, "require_ours", meddled)
            undoing = from_there_on(patch, ChangeSteps, "undo", at)
            with pytest.raises((CheckpointError, KilledError)):
                spread(path)
        finish_unfinished(root)
        assert content(path) == before
        # Else a later command would take the next batch for one that Holdfast has planned.
        assert not was_planned_by_change(root, 3)
        assert files_below(path / BACKUPS) == []
        if not undoing.failed:
            break
    assert at > 10


def test_a_change_whose_decision_fails_is_never_completed_by_halves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(stopped(tmp_path / "before"))
    mark = ChangeSteps.mark
    for at in itertools.count(1):
        path = stopped(tmp_path / f"{at}")

        def failing(steps: ChangeSteps, part: str) -> None:
            mark(steps, part)
            if part == DECIDED:
                raise CheckpointError("The disk has it, and has not said so.")

        with monkeypatch.context() as patch:
            patch.setattr(ChangeSteps, "mark", failing)
            undoing = from_there_on(patch, ChangeSteps, "undo", at)
            with pytest.raises((CheckpointError, KilledError)):
                spread(path)
        decided = any(is_decided(journal) for journal in unfinished(Location.of(str(path))))
        finish_unfinished(Location.of(str(path)))
        if not decided:
            assert content(path) == before
        assert verify_checkpoint(Checkpoint.open(str(path))).goes_on
        if not undoing.failed:
            break
    assert at > 10


def meddled(_: ChangeSteps) -> None:
    raise CheckpointError("Somebody has written there.")


def from_there_on(patch: pytest.MonkeyPatch, owner: type, name: str, at: int) -> Faults:
    """Kill the process at a change of a file, counted from where a method begins."""
    faults = Faults(at, KilledError)
    method = getattr(owner, name)

    def counted(*arguments: object) -> object:
        patch.setattr(os, "fsync", lambda _: faults.change())
        patch.setattr(Faults, "active", faults)
        try:
            return method(*arguments)
        finally:
            Faults.active = None

    patch.setattr(owner, name, counted)
    return faults


def files_below(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


@pytest.mark.parametrize("decided", [True, False])
def test_a_change_without_a_fence_does_not_touch_what_the_query_has_written_since(
    *, decided: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repair that leaves the rows as they are keeps nobody from going on when it is cut off."""
    path = stopped(tmp_path / "c")
    for name in ("2.snapshot", "4.delta"):  # one to rebuild, and one of a batch that nobody made
        (path / "state/0/0" / name).write_bytes(b"damage")

    def dying(steps: ChangeSteps, part: str) -> None:
        if part == DECIDED and not decided:
            raise KilledError
        mark(steps, part)
        if part == DECIDED:
            raise KilledError

    mark = ChangeSteps.mark
    with monkeypatch.context() as patch:
        patch.setattr(ChangeSteps, "mark", dying)
        patch.setattr(Change, "_undo_after", lambda *_: None)
        with pytest.raises(KilledError):
            repair(Checkpoint.open(path), apply=True, settled=AT_ONCE)
    more = {**VERSIONS, "2.snapshot": [row(1, 10), row(2, 20)], "4.delta": [row(4, 40)]}
    counts(path, more, batches=4)
    after = content(path)
    told = repair(Checkpoint.open(path), settled=AT_ONCE)
    assert [step.action for step in told.steps] == ["leave"]
    done = CliRunner().invoke(cli.main, ["repair", str(path), "--apply", "--settled", "0"])
    assert done.exit_code == 0, done.stderr
    assert "and the query has gone on since" in done.stdout
    assert done.stdout.endswith("What was cut off is left as far as it had come.\n")
    assert content(path) == after
    assert not unfinished(Location.of(str(path)))
    assert verify_checkpoint(Checkpoint.open(path)).state_is_sound
