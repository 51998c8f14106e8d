"""A query whose stores are in executor processes of their own, one of which is killed."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Spark, is_since

# As in the app.
BATCHES = 5
KILLED_IN = 2

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]


def custom_metrics(run: dict[str, Any]) -> list[dict[str, int]]:
    return [progress["stateOperators"][0]["customMetrics"] for progress in run["progress"]]


def rows_in_state(run: dict[str, Any]) -> dict[int, int]:
    """The rows after each batch, but for the one that ran twice, whose tasks Spark counts twice."""
    return {
        progress["batchId"]: progress["stateOperators"][0]["numRowsTotal"]
        for progress in run["progress"]
        if progress["batchId"] != KILLED_IN
    }


@pytest.mark.slow
def test_a_query_outlives_the_kill_of_an_executor_within_a_batch(spark: Spark) -> None:
    result = spark.python("lose_executor.py", spark.folder).result()
    found, expected = result["holdfast"], result["spark"]

    assert len(expected["output"]) == BATCHES
    assert found["output"] == expected["output"]
    assert rows_in_state(found) == rows_in_state(expected)

    metrics = custom_metrics(found)
    assert all("holdfastOpenTimeMs" in batch for batch in metrics)
    # Tasks went where their store was, until one was lost and another executor read its files.
    loaded = [batch["loadedMapCacheMissCount"] for batch in metrics]
    assert loaded[:KILLED_IN] == [0] * KILLED_IN
    assert loaded[KILLED_IN] > 0
    # Before Spark 4.1 a store that is only read loads them, of which Spark counts nothing.
    if is_since("4.1"):
        assert metrics[KILLED_IN]["holdfastReplayedFiles"] >= KILLED_IN
