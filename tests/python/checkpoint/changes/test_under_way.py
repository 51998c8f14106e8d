"""Two commands that are at work on the same checkpoint, and one whose process has ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from checkpoint.changes.each_change import CHANGES, changeable, contents, each_change
from checkpoint.checkpoints import AT_ONCE
from checkpoint.objects import ObjectStore
from holdfast_spark.checkpoint import (
    Checkpoint,
    inspect_checkpoint,
    migrate,
    read_rows,
    repair,
    verify_checkpoint,
)
from holdfast_spark.checkpoint.changes.change import finish_unfinished
from holdfast_spark.checkpoint.changes.leftovers import leftovers
from holdfast_spark.checkpoint.changes.spread import Spread
from holdfast_spark.checkpoint.changes.steps import ChangeSteps
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.errors import ChangeUnderWayError

# What a change does while it has a journal.
STEPS = ("raise_fence", "back_up", "place", "require_ours", "complete")


@contextmanager
def meanwhile(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, do: Callable[[], None]
) -> Iterator[list[bool]]:
    """Do something behind a step of a change, once."""
    step: Callable[..., object] = getattr(owner, name)
    done: list[bool] = []

    def with_more(*arguments: object, **more: object) -> object:
        if name == "complete" and not done:
            done.append(True)
            do()
        result = step(*arguments, **more)
        if not done:
            done.append(True)
            do()
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, with_more)
        yield done


@pytest.mark.parametrize("step", STEPS)
@each_change
def test_a_change_that_another_command_makes_is_neither_undone_nor_completed(
    name: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changeable(tmp_path, name)

    def second() -> None:
        before = contents(path)
        for apply in (False, True):
            with pytest.raises(ChangeUnderWayError, match=rf"changing {path}: it is at work in"):
                repair(Checkpoint.open(str(path)), apply=apply, settled=AT_ONCE)
        with pytest.raises(ChangeUnderWayError):
            finish_unfinished(Location.of(str(path)))
        with pytest.raises(ChangeUnderWayError, match="Wait until it has ended"):
            migrate(Checkpoint.open(str(path)), "holdfast", settled=AT_ONCE)
        with pytest.raises(ChangeUnderWayError):
            list(read_rows(Checkpoint.open(str(path))))
        (odd,) = [
            odd for odd in inspect_checkpoint(Checkpoint.open(str(path))).odd if BACKUPS in odd
        ]
        assert odd.startswith("A change by Holdfast is being made (")
        with pytest.raises(ChangeUnderWayError, match="Wait until it has ended"):
            verify_checkpoint(Checkpoint.open(str(path)))
        assert contents(path) == before

    with meanwhile(monkeypatch, ChangeSteps, step, second) as done:
        assert CHANGES[name](str(path), apply=True, settled=AT_ONCE).applied
    assert done
    assert not unfinished(Location.of(str(path)))
    assert verify_checkpoint(Checkpoint.open(str(path))).goes_on


def test_the_new_files_of_a_change_that_is_being_prepared_are_not_left_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changeable(tmp_path, "repartition")

    def second() -> None:
        assert list(path.glob(f"{BACKUPS}/*/new/state/**/*.snapshot"))
        assert leftovers(Location.of(str(path)), settled=AT_ONCE) == []
        assert repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE).steps == ()

    with meanwhile(monkeypatch, Spread, "write", second) as done:
        assert CHANGES["repartition"](str(path), apply=True, settled=AT_ONCE).applied
    assert done


def test_a_command_that_was_killed_is_not_at_work(tmp_path: Path) -> None:
    path = changeable(tmp_path, "repartition")
    before = contents(path)
    program = """
        import os, signal, sys
        from datetime import timedelta
        from holdfast_spark.checkpoint import Checkpoint, repartition
        from holdfast_spark.checkpoint.changes.steps import ChangeSteps

        ChangeSteps.require_ours = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        repartition(Checkpoint.open(sys.argv[1]), 3, apply=True, settled=timedelta(0))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    killed = subprocess.run(command, check=False, env={**os.environ})
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(CheckpointError, match="was being changed when that was cut off"):
        list(read_rows(Checkpoint.open(str(path))))
    done = repair(Checkpoint.open(str(path)), apply=True, settled=timedelta(hours=1))
    assert [step.action for step in done.steps] == ["undo"]
    assert contents(path) == before


@pytest.mark.parametrize(
    ("step", "arguments"),
    [
        ("ChangeSteps.require_ours", ["repartition", "--partitions", "3"]),
        ("ChangeSteps.back_up", ["migrate", "--to", "holdfast"]),
        ("Location.copy_into", ["savepoint"]),
    ],
)
def test_a_command_that_is_terminated_undoes_what_it_has_begun(
    step: str, arguments: list[str], tmp_path: Path
) -> None:
    path = changeable(tmp_path, "repartition")
    before = contents(path)
    more = ["--apply", "--settled", "0"] if len(arguments) > 1 else [str(tmp_path / "savepoint")]
    program = f"""
        import os, signal, sys
        from holdfast_spark.checkpoint.changes.steps import ChangeSteps
        from holdfast_spark.checkpoint.files.location import Location
        from holdfast_spark.cli.main import main

        step = {step}

        def terminated(*arguments):
            done = step(*arguments)
            os.kill(os.getpid(), signal.SIGTERM)
            return done

        {step} = terminated
        # As long as it undoes what it has begun, another one is not heard.
        for undoing in ("undo", "_end"):
            undo = getattr(ChangeSteps, undoing)

            def terminated_again(*arguments, undo=undo):
                os.kill(os.getpid(), signal.SIGTERM)
                return undo(*arguments)

            setattr(ChangeSteps, undoing, terminated_again)
        main(sys.argv[1:])
    """
    name, *options = arguments
    command = [sys.executable, "-c", textwrap.dedent(program), name, str(path), *more, *options]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (143, "")
    assert contents(path) == before
    assert not (path / BACKUPS).exists()
    assert not (tmp_path / "savepoint").exists()


def test_where_there_are_no_locks_a_change_that_has_written_a_moment_ago_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = changeable(tmp_path, "repartition")
    url = ObjectStore.upload(folder, "checkpoint")
    hour = timedelta(hours=1)

    def second() -> None:
        before = ObjectStore.content()
        checkpoint = Checkpoint.open(url)
        with pytest.raises(
            ChangeUnderWayError, match=re.compile(r"changed \d+ s ago.*--settled 0", re.DOTALL)
        ):
            repair(checkpoint, apply=True, settled=hour)
        (sentence,) = repair(checkpoint, settled=hour).in_the_way
        assert sentence.startswith(f"Another command is changing {checkpoint.location}: ")
        with pytest.raises(CheckpointError, match="is being changed, or was when that was cut off"):
            list(read_rows(checkpoint))
        assert ObjectStore.content() == before

    with meanwhile(monkeypatch, ChangeSteps, "place", second) as done:
        assert CHANGES["repartition"](url, apply=True, settled=AT_ONCE).applied
    assert done
