"""Queries on Holdfast, killed twice, do in every batch what they do on Spark's default provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from operators import plan, readings
from operators.cases import CASES
from operators.matrix import Matrix

# One process runs the queries for all of them.
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("operators")]

each_case = pytest.mark.parametrize("case", CASES)

ROWS = ("numRowsTotal", "numRowsUpdated", "numRowsRemoved", "numRowsDroppedByWatermark")
COUNTED = ("operatorName", "numShufflePartitions", "numStateStoreInstances", *ROWS)


def counts(progress: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: operator[name] for name in COUNTED} for operator in progress["stateOperators"]]


@each_case
def test_each_batch_writes_the_same_rows(matrix: Matrix, case: str) -> None:
    expected = matrix.output(case, plan.SPARK)
    assert matrix.output(case, plan.HOLDFAST) == expected
    assert sum(len(rows) for rows in expected.values()) > 0


@each_case
def test_each_batch_counts_the_same_rows(matrix: Matrix, case: str) -> None:
    expected, found = (
        {batch: counts(progress) for batch, progress in matrix.progress(case, by).items()}
        for by in (plan.SPARK, plan.HOLDFAST)
    )
    assert found == expected


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
    for provider, provider_class in plan.PROVIDERS.items():
        offsets = matrix.layout.checkpoint(case, provider) / "offsets"
        logs = [path.read_text() for path in offsets.iterdir() if path.name.isdigit()]
        settings = [json.loads(log.splitlines()[1])["conf"] for log in logs]
        used = {each["spark.sql.streaming.stateStore.providerClass"] for each in settings}
        assert used == {provider_class}


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
        for operator in counts(progress)
        if operator[name] > 0
    }
    assert len(with_such_rows) >= 10
