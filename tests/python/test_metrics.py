"""Metrics as typed values."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from holdfast_spark import _jvm
from holdfast_spark.errors import (
    NoActiveSessionError,
    SparkConnectError,
    StoresInExecutorsError,
    WrongArgumentError,
)
from holdfast_spark.metrics import OperatorMetrics, progress_metrics, store_metrics

OPERATOR: dict[str, Any] = {
    "operatorName": "stateStoreSave",
    "numRowsTotal": 8,
    "numRowsUpdated": 3,
    "numRowsRemoved": 1,
    "numRowsDroppedByWatermark": 2,
    "allUpdatesTimeMs": 4,
    "allRemovalsTimeMs": 5,
    "commitTimeMs": 6,
    "memoryUsedBytes": 700,
    "numShufflePartitions": 2,
    "numStateStoreInstances": 2,
    "customMetrics": {"loadedMapCacheHitCount": 9, "rocksdbGetLatency": 11},
}
PROGRESS: dict[str, Any] = {
    "id": "query",
    "runId": "run",
    "name": None,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "batchId": 3,
    "batchDuration": 120,
    "numInputRows": 10,
    "durationMs": {"addBatch": 100},
    "stateOperators": [OPERATOR],
    "sources": [],
}
HOLDFAST_METRICS = {
    "holdfastOpenTimeMs": 1,
    "holdfastLoadTimeMs": 2,
    "holdfastCommitTimeMs": 3,
    "holdfastSnapshotTimeMs": 4,
    "holdfastLiveBytes": 5,
    "holdfastHeldBytes": 6,
    "holdfastVersionsInMemory": 7,
    "holdfastDeltaRecords": 8,
    "holdfastDeltaBytes": 9,
    "holdfastReplayedFiles": 10,
    "holdfastRelocatedBytes": 11,
    "holdfastLoadBytes": 12,
    "holdfastSnapshotBytes": 13,
    "holdfastCompactionTimeMs": 14,
    "holdfastGetCount": 15,
    "holdfastPutCount": 16,
    "holdfastRemoveCount": 17,
    "holdfastIteratorCount": 18,
    "holdfastScanCount": 19,
    "holdfastLookedAtCount": 20,
    "holdfastEvictionHintCount": 21,
    "holdfastCommitRecordsTimeUs": 22,
    "holdfastCommitFileTimeUs": 23,
    "holdfastCommitVersionTimeUs": 24,
    "holdfastCommitSnapshotTimeUs": 25,
    "holdfastNearMemoryLimitCount": 26,
}
STORE: dict[str, Any] = {
    "checkpointLocation": "/checkpoint/state",
    "operatorId": 0,
    "partitionId": 1,
    "storeName": "default",
    "queryRunId": "run",
    "versionsInMemory": [1, 2],
    "numKeys": 8,
    "memoryUsedBytes": 700,
    "liveBytes": 600,
    "heldBytes": 650,
    "customMetrics": {},
}


class QueryWith:
    """What a query shows of its progress."""

    def __init__(self, progress: dict[str, Any] | None) -> None:
        self.lastProgress = progress


def only_operator(**custom: int) -> OperatorMetrics:
    operator = {**OPERATOR, "customMetrics": {**OPERATOR["customMetrics"], **custom}}
    return progress_metrics({**PROGRESS, "stateOperators": [operator]}).operators[0]


def test_a_report_is_read_with_what_spark_says() -> None:
    progress = progress_metrics(PROGRESS)
    assert (progress.id, progress.run_id, progress.batch_id) == ("query", "run", 3)
    assert progress.batch_duration_ms == 120
    assert progress.duration_ms == {"addBatch": 100}
    assert progress.input_rows_per_second is None
    operator = progress.operators[0]
    assert operator.num_rows_total == 8
    assert operator.memory_used_bytes == 700
    assert operator.custom_metrics == OPERATOR["customMetrics"]


def test_a_report_without_metrics_of_a_provider_is_read() -> None:
    operator = {name: value for name, value in OPERATOR.items() if name != "customMetrics"}
    (read,) = progress_metrics({**PROGRESS, "stateOperators": [operator]}).operators
    assert (read.num_rows_total, read.custom_metrics) == (8, {})


def test_metrics_that_another_provider_does_not_report_are_none() -> None:
    operator = only_operator()
    assert not operator.is_holdfast
    assert str(operator.provider_class).endswith(".HDFSBackedStateStoreProvider")
    assert operator.loaded_map_cache_hit_count == 9
    assert operator.loaded_map_cache_miss_count is None
    fields = dataclasses.asdict(operator)
    assert {v for name, v in fields.items() if name.startswith("holdfast_")} == {None}


def test_the_metrics_of_holdfast_are_read() -> None:
    operator = only_operator(**HOLDFAST_METRICS)
    assert operator.is_holdfast
    assert operator.provider_class == "io.holdfast.HoldfastStateStoreProvider"
    fields = dataclasses.asdict(operator)
    ours = {name: value for name, value in fields.items() if name.startswith("holdfast_")}
    assert sorted(ours.values()) == list(range(1, 27))
    assert ours["holdfast_open_time_ms"] == 1
    assert ours["holdfast_relocated_bytes"] == 11


def test_a_query_gives_its_last_report_or_none() -> None:
    assert progress_metrics(QueryWith(PROGRESS)) == progress_metrics(PROGRESS)  # type: ignore[call-overload]
    assert progress_metrics(QueryWith(None)) is None  # type: ignore[call-overload]
    assert progress_metrics(QueryWith(None).lastProgress) is None


def test_what_is_no_report_is_named() -> None:
    for found in ("x", [PROGRESS], {}, {"id": "query"}):
        with pytest.raises(WrongArgumentError, match="expects a streaming query or one of its"):
            progress_metrics(found)  # type: ignore[arg-type]


@pytest.mark.parametrize("loaded", ["[]", None])
def test_the_stores_of_executors_cannot_be_asked_and_that_is_said(
    loaded: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bridge:
        def loadedStores(self) -> str:  # noqa: N802
            return loaded or json.dumps([STORE])

    monkeypatch.setattr(_jvm, "session_bridge", lambda _: Bridge())
    monkeypatch.setattr(_jvm, "master_with_executors", lambda _: "spark://host:7077")
    if loaded is None:
        assert store_metrics()[0].num_keys == STORE["numKeys"]
    else:
        with pytest.raises(
            StoresInExecutorsError, match=r"of spark://host:7077, .*progress_metrics"
        ):
            store_metrics()


@pytest.mark.spark
def test_without_a_session_the_stores_cannot_be_asked() -> None:
    with pytest.raises(NoActiveSessionError, match="no active Spark session"):
        store_metrics()


@pytest.mark.spark
def test_a_spark_connect_client_is_pointed_to_the_progress() -> None:
    with pytest.raises(SparkConnectError, match=r"progress_metrics\(query\)"):
        _jvm.session_bridge(ConnectSession())  # type: ignore[arg-type]
    with pytest.raises(WrongArgumentError, match=r"expects a Spark session, .* found str 'x'"):
        store_metrics("x")  # type: ignore[arg-type]


class ConnectSession:
    """What a Spark Connect client is, as far as it matters."""

    __module__ = "pyspark.sql.connect.session"
