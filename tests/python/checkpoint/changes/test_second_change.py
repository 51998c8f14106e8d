"""Changes one after the other: what Holdfast has written does not count as the query's."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from checkpoint.checkpoints import AT_ONCE, counts, row
from checkpoint.faults import KilledError, content
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.change import finish_unfinished
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import Repartition, repartition
from holdfast_spark.checkpoint.errors import RunningQueryError
from holdfast_spark.checkpoint.files.location import Location

VERSIONS = {"1.delta": [row(1, 10)], "2.delta": [row(2, 20)], "3.delta": [row(3, 30)]}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A checkpoint of a query that has written nothing for long."""
    path = counts(tmp_path / "checkpoint", VERSIONS, batches=3)
    for file in path.rglob("*"):
        os.utime(file, (0, 0))
    return path


def opened(path: Path) -> Checkpoint:
    return Checkpoint.open(str(path))


def change_again(path: Path, *, apply: bool = True, stopped: bool = True) -> Repartition:
    return repartition(opened(path), 3, apply=apply, stopped=stopped, settled=MINUTE)


def written_ago(file: Path, seconds: int) -> None:
    os.utime(file, (time.time() - seconds, time.time() - seconds))


def test_a_second_change_need_not_wait_after_the_first(path: Path) -> None:
    assert migrate(opened(path), "holdfast", apply=True, settled=MINUTE).applied
    assert change_again(path).applied
    assert repartition(opened(path), 1, apply=True, stopped=True, settled=MINUTE).applied


def test_nor_after_one_that_was_cut_off_and_completed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = Location.move

    def dying(location: Location, target: Location) -> None:
        if target.path.endswith("offsets/3"):  # the last thing, when it is decided
            raise KilledError
        move(location, target)

    with monkeypatch.context() as patch:
        patch.setattr(Location, "move", dying)
        with pytest.raises(KilledError):
            migrate(opened(path), "holdfast", apply=True, settled=AT_ONCE)
    finish_unfinished(Location.of(str(path)))
    assert change_again(path).applied


def test_what_the_query_wrote_before_the_first_change_still_counts(path: Path) -> None:
    written_ago(path / "commits/2", 30)
    first = migrate(opened(path), "holdfast", apply=True, settled=AT_ONCE)
    # The commit has been written anew by the change.
    expected = rf"a file that an earlier change has put into {first.backup} changed 3\d s ago"
    with pytest.raises(RunningQueryError, match=expected):
        change_again(path)


@pytest.mark.parametrize("name", ["commits/3", "state/0/0/4.delta", "offsets/4", "offsets/2"])
def test_what_the_query_writes_after_it_counts(path: Path, name: str) -> None:
    migrate(opened(path), "holdfast", apply=True, settled=MINUTE)
    file = path / name
    file.write_bytes((path / "commits/2").read_bytes() if name == "commits/3" else b"v1\n{}\n{}")
    before = content(path)
    with pytest.raises(RunningQueryError, match=rf"{name} changed \d s ago"):
        change_again(path)
    assert content(path) == before


def test_a_planned_batch_is_still_taken_for_a_running_one(path: Path) -> None:
    migrate(opened(path), "holdfast", apply=True, settled=MINUTE)
    with pytest.raises(
        RunningQueryError, match=r"may be running: .* that holdfast planned in an .*\. Let the"
    ):
        change_again(path, stopped=False)


def test_a_dry_run_says_what_it_would_do_and_what_is_in_its_way(path: Path) -> None:
    assert change_again(path, apply=False).in_the_way == ()
    written_ago(path / "commits/2", 30)
    migrate(opened(path), "holdfast", apply=True, settled=AT_ONCE)
    before = content(path)
    told = change_again(path, apply=False, stopped=False)
    assert (told.applied, told.to_partitions, [store.rows for store in told.stores]) == (
        *(False, 3),
        [3],
    )
    settled, planned = told.in_the_way
    assert "a file that an earlier change has put into" in settled
    assert "the batch 3 that holdfast planned in an earlier change is not committed" in planned
    assert change_again(path, apply=False).in_the_way == (settled,)
    assert migrate(opened(path), "hdfs", settled=AT_ONCE).in_the_way == (planned,)
    assert content(path) == before


def test_a_dry_run_of_a_repair_does_so_too(path: Path) -> None:
    (path / "state/0/0/3.delta").write_bytes(b"x")
    (path / "offsets/3").write_bytes((path / "offsets/2").read_bytes())
    told = repair(opened(path), drop_tail=True, settled=MINUTE)
    assert (told.drops_tail, told.last_batch, told.applied) == (True, 1, False)
    settled, planned = told.in_the_way
    assert "3.delta changed" in settled or "offsets/3 changed" in settled
    assert "the batch 3 is planned and not committed" in planned
    with pytest.raises(RunningQueryError):
        repair(opened(path), drop_tail=True, apply=True, settled=MINUTE)
