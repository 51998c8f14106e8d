"""That a change waits until its query has been still, called by function as by command."""

from __future__ import annotations

import inspect
import os
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.changes.each_change import CHANGES, changeable, contents, each_change
from checkpoint.checkpoints import AT_ONCE, counts, row
from holdfast_spark import checkpoint
from holdfast_spark.checkpoint import Checkpoint, migrate, repair, repartition
from holdfast_spark.checkpoint.errors import RunningQueryError
from holdfast_spark.cli.main import main


def written(path: Path, *, seconds_ago: float) -> None:
    for file in path.rglob("*"):
        os.utime(file, (time.time() - seconds_ago,) * 2)


@each_change
def test_a_function_refuses_as_the_command_does(name: str, tmp_path: Path) -> None:
    change, path = CHANGES[name], changeable(tmp_path, name)
    written(path, seconds_ago=30)
    before = contents(path)
    with pytest.raises(RunningQueryError, match="until nothing has changed for 60 s"):
        change(path, apply=True)
    (told,) = change(path).in_the_way
    assert "--settled 0 (settled=timedelta(0) in Python)" in told
    assert contents(path) == before
    written(path, seconds_ago=100)
    assert change(path, apply=True).applied


@each_change
def test_a_time_in_the_future_is_called_that(name: str, tmp_path: Path) -> None:
    change, path = CHANGES[name], changeable(tmp_path, name)
    written(path, seconds_ago=-86_391)
    with pytest.raises(RunningQueryError) as caught:
        change(path, apply=True)
    told = str(caught.value)
    assert re.search(r" lies 86,3\d\d s in the future, as where this clock was set back", told)
    assert "Stop it and give --settled 0 (settled=timedelta(0) in Python) if you know" in told
    assert "wait until" not in told
    assert change(path, apply=True, settled=AT_ONCE).applied


@each_change
def test_a_function_can_be_told_that_the_query_is_stopped(name: str, tmp_path: Path) -> None:
    assert CHANGES[name](changeable(tmp_path, name), apply=True, settled=AT_ONCE).applied


def test_where_there_is_nothing_to_change_nothing_is_in_the_way(tmp_path: Path) -> None:
    path = counts(tmp_path / "c", {"1.delta": [row(1, 10)]}, batches=1)
    before = contents(path)
    for apply in (False, True):
        found = repair(Checkpoint.open(path), drop_tail=True, apply=apply)
        assert (found.steps, found.applied, found.in_the_way) == ((), False, ())
        assert migrate(Checkpoint.open(path), "hdfs", apply=apply).in_the_way == ()
        assert repartition(Checkpoint.open(path), 1, apply=apply).in_the_way == ()
    result = CliRunner().invoke(main, ["repair", str(path), "--apply"])
    assert (result.exit_code, result.output) == (0, "Nothing is damaged.\n")
    assert contents(path) == before


def test_every_function_waits_as_long_as_its_command() -> None:
    waiting = []
    for name in checkpoint.__all__:
        function = getattr(checkpoint, name)
        parameters = inspect.signature(function).parameters if inspect.isfunction(function) else {}
        if "apply" in parameters:
            waiting.append(name)
            (option,) = (each for each in main.commands[name].params if each.name == "settled")
            assert parameters["settled"].default.total_seconds() == option.default, name
    assert sorted(waiting) == sorted(CHANGES)
