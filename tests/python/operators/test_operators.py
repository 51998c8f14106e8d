"""Queries on Holdfast, killed twice, do in every batch what they do on Spark's own provider.

Spark's readers of checkpoints find in theirs what they find in those of Spark. Everything is in one
file, because one process runs the queries for all of it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recordings import recorded, recording

from operators import plan, readings
from operators.cases import CASES
from operators.matrix import RECORDING, Matrix, run_on_spark
from operators.plan import Layout
from operators.readings import READ_IN_ALL_WAYS, Rows
from operators.run import ROWS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

each_case = pytest.mark.parametrize("case", CASES)
source = pytest.mark.since("4.0", "the `statestore` source")


@each_case
def test_each_batch_writes_the_same_rows(matrix: Matrix, case: str) -> None:
    expected = matrix.output(case, plan.SPARK)
    assert matrix.output(case, plan.HOLDFAST) == expected
    assert sum(len(rows) for rows in expected.values()) > 0


@each_case
def test_each_batch_counts_the_same_rows(matrix: Matrix, case: str) -> None:
    expected = matrix.progress(case, plan.SPARK)
    assert matrix.progress(case, plan.HOLDFAST) == expected


@each_case
def test_the_state_is_the_same_at_the_end(matrix: Matrix, case: str) -> None:
    expected, found = (
        matrix.readings(case, by)[readings.LATEST] for by in (plan.SPARK, plan.HOLDFAST)
    )
    assert found == expected
    assert sum(len(rows) for rows in expected.values()) > 0


@each_case
def test_the_state_is_in_holdfast_from_the_first_batch_to_the_last(
    matrix: Matrix, case: str
) -> None:
    check_provider(matrix.layout, case, plan.HOLDFAST)


def check_provider(layout: Layout, case: str, provider: str) -> None:
    offsets = layout.checkpoint(case, provider) / "offsets"
    logs = [path.read_text() for path in offsets.iterdir() if path.name.isdigit()]
    settings = [json.loads(log.splitlines()[1])["conf"] for log in logs]
    used = {each["spark.sql.streaming.stateStore.providerClass"] for each in settings}
    assert used == {CASES[case].provider_class(provider)}


@pytest.mark.long
def test_what_was_recorded_is_what_spark_does(tmp_path: Path) -> None:
    file, layout = recording(RECORDING), Layout(tmp_path)
    if not file.exists():
        pytest.skip("nothing is recorded for this Spark, and all tests here have run it")
    assert run_on_spark(layout) == recorded(file)
    for case in CASES:
        check_provider(layout, case, plan.SPARK)


@each_case
def test_a_driver_is_killed_when_one_partition_has_written(matrix: Matrix, case: str) -> None:
    kill = matrix.kills[plan.TORN][case]
    assert (kill.planned, kill.committed) == (plan.TORN_BATCH, plan.TORN_BATCH - 1)
    # A limit has one partition.
    partitions = {store.split("/")[1] for store in kill.unwritten}
    assert partitions == ({"1"} if case != "limit-append" else set())


@each_case
def test_a_driver_is_killed_before_a_batch_is_committed(matrix: Matrix, case: str) -> None:
    kill = matrix.kills[plan.WRITTEN][case]
    assert (kill.planned, kill.committed) == (plan.WRITTEN_BATCH, plan.WRITTEN_BATCH - 1)
    assert not kill.unwritten


@pytest.mark.parametrize("name", ROWS)
def test_the_queries_have_rows_of_every_kind(matrix: Matrix, name: str) -> None:
    with_such_rows = {
        case
        for case in CASES
        for progress in matrix.progress(case, plan.HOLDFAST).values()
        for operator in progress
        if operator[name] > 0
    }
    assert len(with_such_rows) >= 10


JOINS = [case for case in READ_IN_ALL_WAYS if "join" in case]


def both(matrix: Matrix, case: str, kind: str) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """The readings of a kind in Holdfast's checkpoint and in Spark's."""
    found, expected = (matrix.readings(case, by)[kind] for by in (plan.HOLDFAST, plan.SPARK))
    assert expected
    return found, expected


@source
@pytest.mark.parametrize("case", CASES)
def test_the_metadata_is_the_same(matrix: Matrix, case: str) -> None:
    found, expected = both(matrix, case, readings.METADATA)
    assert found == expected


@source
@pytest.mark.parametrize("kind", [readings.EARLIER, readings.FROM_SNAPSHOT])
@pytest.mark.parametrize("case", READ_IN_ALL_WAYS)
def test_the_state_of_other_batches_is_the_same(matrix: Matrix, case: str, kind: str) -> None:
    found, expected = both(matrix, case, kind)
    assert found == expected
    assert all(expected.values())


@source
@pytest.mark.parametrize("case", JOINS)
def test_the_sides_of_a_join_are_the_same(matrix: Matrix, case: str) -> None:
    found, expected = both(matrix, case, readings.JOIN_SIDES)
    assert found == expected
    assert all(expected.values())


@source
@pytest.mark.parametrize("case", READ_IN_ALL_WAYS)
def test_the_change_feed_has_the_last_change_of_each_key_in_a_batch(
    matrix: Matrix, case: str
) -> None:
    """Spark's feed has every put and remove, also of a row that comes and goes within a batch."""
    found, expected = both(matrix, case, readings.CHANGES)
    assert {store: by_batch(feed) for store, feed in found.items()} == {
        store: by_batch(net_changes(feed)) for store, feed in expected.items()
    }


def by_batch(feed: Rows) -> Rows:
    return sorted(feed)


def net_changes(feed: Rows) -> Rows:
    """What a feed changes in each batch.

    A row of a feed has batch, kind of change, key, value and partition.
    """
    changes: Rows = []
    there: set[tuple[str, str]] = set()
    for batch in sorted({int(change[0]) for change in feed}):
        last = {(row[4], row[2]): row for row in feed if int(row[0]) == batch}
        for key, change in last.items():
            if change[1] == "update" or key in there:
                changes.append(change)
        there |= {key for key, change in last.items() if change[1] == "update"}
        there -= {key for key, change in last.items() if change[1] == "delete"}
    return changes
