"""What state stores say about themselves, as typed values.

`progress_metrics` reads what a query reports after each batch: it is there for every provider and
on Spark Connect too. `store_metrics` asks the JVM of the driver for each store that it has loaded:
these are all stores in local mode. On a cluster executors hold them, and it says so.

The functions may be called from any thread that may use the Spark session.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from holdfast_spark import _jvm
from holdfast_spark.errors import StoresInExecutorsError, WrongArgumentError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.streaming.query import StreamingQuery as ConnectStreamingQuery
    from pyspark.sql.streaming.query import StreamingQuery

    Metrics = TypeVar("Metrics", bound=DataclassInstance)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMetrics:
    """One loaded state store.

    Attributes:
        checkpoint_location: the query's state folder, as Spark gives it to the store.
        operator_id: number of the stateful operator in the query.
        partition_id: number of the partition.
        store_name: name of the store in its operator, `default` for most.
        query_run_id: run of the query that loaded the store.
        versions_in_memory: versions that can be opened without reading files, ascending.
        num_keys: keys in the newest of them.
        memory_used_bytes: heap that the store holds, index and all versions included.
        live_bytes: bytes of the rows in the newest version.
        held_bytes: heap bytes of the newest version: row pages, live or not, and index.
        custom_metrics: the store's other metrics by name.
    """

    checkpoint_location: str
    operator_id: int
    partition_id: int
    store_name: str
    query_run_id: str
    versions_in_memory: tuple[int, ...]
    num_keys: int
    memory_used_bytes: int
    live_bytes: int
    held_bytes: int
    custom_metrics: Mapping[str, int]


_SPARK_STORES = "org.apache.spark.sql.execution.streaming.state"

# What every progress report has.
_REPORT = {"id", "runId", "durationMs", "stateOperators"}

# A metric of each provider; Holdfast comes first, for it also reports those of Spark's default one.
_REPORTED_BY = {
    "io.holdfast.HoldfastStateStoreProvider": "holdfastLiveBytes",
    f"{_SPARK_STORES}.HDFSBackedStateStoreProvider": "loadedMapCacheHitCount",
    f"{_SPARK_STORES}.RocksDBStateStoreProvider": "rocksdbGetCount",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorMetrics:
    """The state of one stateful operator after a batch, summed over its partitions.

    The fields up to `num_state_store_instances` are those of `StateOperatorProgress` of Spark 4.2
    and mean what Spark says there; times are in milliseconds. Then come custom metrics of a
    provider: None where the provider in use does not report them. Those beginning with `holdfast_`
    come from Holdfast alone.

    Attributes:
        state_on_current_version_size_bytes: size of the newest version alone.
        loaded_map_cache_hit_count: versions that were found in memory.
        loaded_map_cache_miss_count: versions that had to be loaded from files.
        num_snapshots_auto_repaired: corrupt snapshots that were replaced by older ones and deltas.
        force_snapshot_count: snapshots that the coordinator asked for.
        holdfast_open_time_ms: time to open versions for reading and writing.
        holdfast_load_time_ms: time to load versions from files.
        holdfast_load_bytes: size of these files.
        holdfast_commit_time_ms: time to write delta files and publish versions.
        holdfast_snapshot_time_ms: time to write snapshot files.
        holdfast_snapshot_bytes: size of these files.
        holdfast_compaction_time_ms: time to move rows out of sparse pages.
        holdfast_live_bytes: bytes of the rows in the newest version.
        holdfast_held_bytes: heap bytes of all versions in memory: row pages and index.
        holdfast_versions_in_memory: versions that can be opened without reading files.
        holdfast_delta_records: records in the batch's delta files.
        holdfast_delta_bytes: bytes of the batch's delta files.
        holdfast_replayed_files: delta files that were replayed to load versions.
        holdfast_relocated_bytes: bytes of live rows moved to free memory.
        holdfast_get_count: keys looked up.
        holdfast_put_count: rows put.
        holdfast_remove_count: keys removed.
        holdfast_iterator_count: walks over all rows of a store.
        holdfast_scan_count: scans of a prefix or a range of keys.
        holdfast_looked_at_count: rows that were looked at by walks over all rows, or over expired
            ones in their place; `num_rows_removed` says how many of those were to be found.
        holdfast_eviction_hint_count: walks that looked for expired rows only where there may be
            some.
        holdfast_commit_records_time_us: microseconds of commits to write the changes, as far as it
            is not done while the version is made.
        holdfast_commit_file_time_us: microseconds to finish the delta files, until they have their
            names in the checkpoint.
        holdfast_commit_version_time_us: microseconds to make the versions in memory.
        holdfast_commit_snapshot_time_us: microseconds for snapshots that had to be in the commit,
            and to publish the versions.
        holdfast_near_memory_limit_count: stores of executors whose state holds more than four
            fifths of what the memory limit allows.
        custom_metrics: all custom metrics of the provider, by the names it gives them.
    """

    operator_name: str
    num_rows_total: int
    num_rows_updated: int
    num_rows_removed: int
    num_rows_dropped_by_watermark: int
    all_updates_time_ms: int
    all_removals_time_ms: int
    commit_time_ms: int
    memory_used_bytes: int
    num_shuffle_partitions: int
    num_state_store_instances: int
    state_on_current_version_size_bytes: int | None = None
    loaded_map_cache_hit_count: int | None = None
    loaded_map_cache_miss_count: int | None = None
    num_snapshots_auto_repaired: int | None = None
    force_snapshot_count: int | None = None
    holdfast_open_time_ms: int | None = None
    holdfast_load_time_ms: int | None = None
    holdfast_load_bytes: int | None = None
    holdfast_commit_time_ms: int | None = None
    holdfast_snapshot_time_ms: int | None = None
    holdfast_snapshot_bytes: int | None = None
    holdfast_compaction_time_ms: int | None = None
    holdfast_live_bytes: int | None = None
    holdfast_held_bytes: int | None = None
    holdfast_versions_in_memory: int | None = None
    holdfast_delta_records: int | None = None
    holdfast_delta_bytes: int | None = None
    holdfast_replayed_files: int | None = None
    holdfast_relocated_bytes: int | None = None
    holdfast_get_count: int | None = None
    holdfast_put_count: int | None = None
    holdfast_remove_count: int | None = None
    holdfast_iterator_count: int | None = None
    holdfast_scan_count: int | None = None
    holdfast_looked_at_count: int | None = None
    holdfast_eviction_hint_count: int | None = None
    holdfast_commit_records_time_us: int | None = None
    holdfast_commit_file_time_us: int | None = None
    holdfast_commit_version_time_us: int | None = None
    holdfast_commit_snapshot_time_us: int | None = None
    holdfast_near_memory_limit_count: int | None = None
    custom_metrics: Mapping[str, int]

    @property
    def provider_class(self) -> str | None:
        """The provider that really keeps the state, by the metrics that it alone reports.

        What the session or the checkpoint asks for may differ: Spark takes it from the checkpoint.
        None for a provider that is neither Holdfast nor one of Spark's.
        """
        reported = set(self.custom_metrics)
        return next((name for name, mark in _REPORTED_BY.items() if mark in reported), None)

    @property
    def is_holdfast(self) -> bool:
        """Whether the operator keeps its state in Holdfast."""
        return self.holdfast_live_bytes is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressMetrics:
    """One progress report of a streaming query.

    Attributes:
        id: the query, the same after a restart from its checkpoint.
        run_id: this run of the query.
        name: name of the query, if it has one.
        timestamp: beginning of the trigger, ISO 8601 in UTC.
        batch_id: the batch that the report is about.
        batch_duration_ms: time that the batch took.
        num_input_rows: rows that the batch read from all sources.
        input_rows_per_second: rate at which rows arrived; None before there is one.
        processed_rows_per_second: rate at which rows were processed; None before there is one.
        duration_ms: time of each step of the batch, by Spark's names.
        operators: the stateful operators of the query.
    """

    id: str
    run_id: str
    name: str | None
    timestamp: str
    batch_id: int
    batch_duration_ms: int
    num_input_rows: int
    input_rows_per_second: float | None = None
    processed_rows_per_second: float | None = None
    duration_ms: Mapping[str, int]
    operators: tuple[OperatorMetrics, ...]


def store_metrics(spark: SparkSession | None = None) -> tuple[StoreMetrics, ...]:
    """Return the metrics of every Holdfast store that is loaded in the driver's JVM.

        for store in store_metrics(spark):
            print(store.operator_id, store.partition_id, store.num_keys)

    Args:
        spark: the session whose JVM is asked; the active session for None.

    Raises:
        NoActiveSessionError: `spark` is None and no session is active.
        SparkConnectError: the session is a Spark Connect client.
        JarNotOnClassPathError: the session runs without the Holdfast jar.
        WrongSparkLineError: the session's Holdfast jar is for another Spark line.
        StoresInExecutorsError: the driver has no stores, because the session has executors.
    """
    stores = json.loads(_jvm.session_bridge(spark).loadedStores())
    if not stores and (master := _jvm.master_with_executors(spark)):
        raise StoresInExecutorsError(master=master)
    return tuple(
        _read(StoreMetrics, store, versions_in_memory=tuple(store["versionsInMemory"]))
        for store in stores
    )


@overload
def progress_metrics(progress: Mapping[str, Any]) -> ProgressMetrics: ...


@overload
def progress_metrics(
    progress: StreamingQuery | ConnectStreamingQuery | None,
) -> ProgressMetrics | None: ...


def progress_metrics(
    progress: Mapping[str, Any] | StreamingQuery | ConnectStreamingQuery | None,
) -> ProgressMetrics | None:
    """Return a progress report of a streaming query as typed values, whatever its provider.

        print(progress_metrics(query).operators[0].num_rows_total)

    Args:
        progress: a query, for its last report, or one of its reports: an item of
            `query.recentProgress`, `query.lastProgress`, the `progress` of a listener's event, or a
            report's JSON as a dictionary.

    Returns:
        The report; None for a query that has not made one yet.

    Raises:
        WrongArgumentError: it is neither a query nor a report.
    """
    if progress is None:
        return None
    if not isinstance(progress, Mapping):
        if not hasattr(progress, "lastProgress"):
            raise _no_progress(progress)
        last = progress.lastProgress
        return None if last is None else progress_metrics(last)
    if not set(progress) >= _REPORT:
        raise _no_progress(progress)
    try:
        return _read(
            ProgressMetrics,
            progress,
            id=str(progress["id"]),
            run_id=str(progress["runId"]),
            batch_duration_ms=_duration(progress),
            operators=tuple(_operator_metrics(operator) for operator in progress["stateOperators"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as e:
        raise _no_progress(progress) from e


def _duration(progress: Mapping[str, Any]) -> int:
    """Return the time that a batch took, which Spark 3.5 tells among its parts alone."""
    found = progress.get("batchDuration")
    return int(progress["durationMs"].get("triggerExecution", 0) if found is None else found)


def _no_progress(found: object) -> WrongArgumentError:
    expected = "a streaming query or one of its progress reports"
    return WrongArgumentError(function="metrics.progress_metrics", expected=expected, found=found)


def _operator_metrics(operator: Mapping[str, Any]) -> OperatorMetrics:
    # Spark leaves out of its JSON what has no values (`StateOperatorProgress.jsonValue`, 4.3).
    custom = operator.get("customMetrics", {})
    return _read(OperatorMetrics, {**custom, **operator, "customMetrics": custom})


def _read(metrics: type[Metrics], source: Mapping[str, Any], **given: object) -> Metrics:
    """Make `metrics` of the fields that are given and of those that `source` has in camel case."""
    named = {field.name: _camel_case(field.name) for field in dataclasses.fields(metrics)}
    found = {name: source[key] for name, key in named.items() if key in source}
    return metrics(**{**found, **given})


def _camel_case(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
