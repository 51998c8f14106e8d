"""What `verify` says of state that was written for a batch that no offsets tell of."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import invoke, verified
from checkpoint.whole import BATCHES, PARTITIONS, SNAPSHOT
from holdfast_spark.checkpoint.files.providers import PROVIDERS

NEXT = BATCHES
IN_MICRO_BATCHES, IN_REAL_TIME = 0, 7


def attempt(version: int) -> str:
    base = f"{version - 1:032x}" if version > 1 else "none"
    return f"{version}_{version:032x}-{base}"


@pytest.fixture
def path(path: Path) -> Path:
    """The same in checkpoint format 2, as after batches in real-time mode.

    And a batch more has written its state, and was killed before its offsets.
    """
    for partition in range(PARTITIONS):
        store = path / f"state/0/{partition}"
        (store / f"{SNAPSHOT}.snapshot").unlink()
        shutil.copy2(store / f"{BATCHES}.delta", store / f"{BATCHES + 1}.delta")
        os.utime(store / f"{BATCHES + 1}.delta", (10 * NEXT + 5, 10 * NEXT + 5))
        for version in range(1, BATCHES + 2):
            (store / f"{version}.delta").rename(store / f"{attempt(version)}.delta")
    for batch in range(BATCHES):
        plan = path / f"offsets/{batch}"
        plan.write_text(plan.read_text().replace(PROVIDERS["hdfs"], PROVIDERS["holdfast"]))
        file = path / f"commits/{batch}"
        _, unique_id = attempt(batch + 1).split("_")
        commit = json.loads(file.read_text().split("\n")[1])
        commit["stateUniqueIds"] = {"0": [[unique_id]] * PARTITIONS}
        file.write_text(f"v2\n{json.dumps(commit)}")
        os.utime(file, (10 * batch + 9, 10 * batch + 9))
    return planned_at(path, IN_REAL_TIME)


def planned_at(path: Path, second: int, *, since: int = 0) -> Path:
    """Set when each batch was planned, of the ten seconds that it took."""
    for batch in range(since, BATCHES):
        os.utime(path / f"offsets/{batch}", (10 * batch + second, 10 * batch + second))
    return path


def of_partition(path: Path, partition: int) -> Path:
    return path / f"state/0/{partition}/{attempt(BATCHES + 1)}.delta"


@pytest.mark.parametrize("partitions", [1, 2])
def test_state_of_a_batch_that_real_time_mode_has_not_planned_is_no_matter(
    path: Path, partitions: int
) -> None:
    for partition in range(partitions, PARTITIONS):  # where it was killed before
        of_partition(path, partition).unlink()
    found = verified(path)
    assert (found.broken, found.sound, found.goes_on) == ((), True, True)
    assert found.next_batch == NEXT
    (note,) = found.notes
    assert f"State of batch {NEXT} was written, and the batch was not planned" in note
    assert str(of_partition(path, 0)) in note
    for options in ((), ("--drop-tail",)):
        assert "Nothing is damaged" in invoke("repair", path, *options).output
    copy = path.with_name("copy")
    assert invoke("savepoint", path, str(copy)).exit_code == 0
    assert verified(copy).notes == ()
    changed = invoke("migrate", path, "--to", "hdfs", "--apply", "--settled", "0")
    assert changed.exit_code == 0, changed.output
    assert not of_partition(path, 0).exists()
    assert (verified(path).sound, verified(path).notes) == (True, ())


@pytest.mark.parametrize("since", [0, BATCHES - 1])
def test_a_lost_plan_of_a_query_in_micro_batches_is_found(path: Path, since: int) -> None:
    assert_lost(planned_at(path, IN_MICRO_BATCHES, since=since))


def test_times_of_copies_do_not_tell_the_mode(path: Path) -> None:
    for state, offsets in ((1, 2), (2, 1), (1, 1)):
        for file in path.rglob("*"):
            time = {"state": state, "offsets": offsets}.get(file.relative_to(path).parts[0], 3)
            os.utime(file, (time, time))
        assert_lost(path)
    assert invoke("repair", path, "--drop-tail", "--apply", "--settled", "0").exit_code == 0
    assert verified(path).sound


def test_a_plan_is_lost_where_the_newest_commit_is_in_format_1(path: Path) -> None:
    file = path / f"commits/{NEXT - 1}"
    file.write_text('v1\n{"nextBatchWatermarkMs":500}')
    assert not verified(path).goes_on


def test_a_first_batch_that_is_not_planned_may_be_one_in_real_time_mode(path: Path) -> None:
    for log in ("offsets", "commits"):
        shutil.rmtree(path / log)
    expected = "in real-time mode, whose first batch has not ended"
    assert expected in invoke("verify", path).output


def assert_lost(path: Path) -> None:
    found = verified(path)
    (file,) = found.broken
    assert (file.path, file.stops) == (str(path / f"offsets/{NEXT}"), True)
    assert "is gone: expected the plan" in file.error
    assert "real-time mode, which plans a batch when it has ended" in file.error
