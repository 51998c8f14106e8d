"""Memory, executors and checkpoint growth of a stateful operator, calculated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast_spark._arguments import above_zero, instance, or_none, require_arguments, whole
from holdfast_spark._memory_limit import SHARE_OF_HEAP
from holdfast_spark._operator_names import IN_COLUMN_FAMILIES, spark_name
from holdfast_spark._text import counted
from holdfast_spark.capacity import layout
from holdfast_spark.capacity.growth import (
    NO_FILES,
    Interval,
    delta_bytes,
    files,
    hdfs_interval,
    holdfast_interval,
    snapshot_bytes,
)
from holdfast_spark.capacity.hdfs_memory import hdfs_memory
from holdfast_spark.capacity.holdfast_memory import holdfast_memory
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.memory import NO_MEMORY, Memory
from holdfast_spark.capacity.rocksdb_memory import rocksdb_memory
from holdfast_spark.capacity.workload import WORKLOAD, Workload

_HOLDFAST = "holdfast"
_HDFS = "hdfs"
_ROCKSDB = "rocksdb"
_MEMORY: Mapping[str, Callable[[StoreLoad, int], Memory]] = {
    "holdfast": holdfast_memory,
    _HDFS: hdfs_memory,
    _ROCKSDB: rocksdb_memory,
}
_INTERVALS: Mapping[str, Interval] = {"holdfast": holdfast_interval, "hdfs": hdfs_interval}
_COMPRESSED_REFERENCES_BYTES = 32 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePlan:
    """A store of the operator, all partitions together.

    Attributes:
        name: its name.
        rows: rows in it.
        key_bytes: bytes of a key, as Spark lays rows out.
        value_bytes: bytes of a value.
        changes: rows that a batch puts.
        overwritten: those of them that take the place of another row.
        removed: rows that a batch removes.
        delta_bytes: bytes that a batch writes to delta files.
        snapshot_bytes: bytes of a snapshot of all partitions.
    """

    name: str
    rows: int
    key_bytes: float
    value_bytes: float
    changes: int
    overwritten: int
    removed: int
    delta_bytes: int
    snapshot_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPlan:
    """What the operator's state takes with a provider.

    Attributes:
        provider: `holdfast`, `hdfs`, which is Spark's default provider, or `rocksdb`.
        heap_bytes: in the heaps of all executors between batches.
        peak_heap_bytes: there while a batch runs.
        native_bytes: outside the heaps.
        bytes_per_row: heap and native bytes between batches for each row.
        estimated: whether the figures are estimates that were not compared with measurements.
        partitions_per_executor: partitions that an executor has room for; null without a heap
            size, and for a provider that does not keep its rows in the heap.
        executors: executors needed; null as `partitions_per_executor` is, and where an executor has
            no room for a single partition.
        retained_files: state files that the checkpoint keeps; null for RocksDB.
        retained_bytes: their size; null for RocksDB.
        written_bytes: bytes that a batch writes on average, snapshots among them; null for RocksDB.
    """

    provider: str
    heap_bytes: int
    peak_heap_bytes: int
    native_bytes: int
    bytes_per_row: float
    estimated: bool
    partitions_per_executor: int | None
    executors: int | None
    retained_files: int | None
    retained_bytes: int | None
    written_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The capacity that an operator needs.

    Attributes:
        operator: Spark's name of it.
        partitions: shuffle partitions, taken to be of equal size.
        versions: versions in memory.
        stores: its stores.
        providers: what they take with each provider that can keep them.
        compression: size of state files beside what is in them.
        assumptions: what was taken for granted, a sentence each.
    """

    operator: str
    partitions: int
    versions: int
    stores: tuple[StorePlan, ...]
    providers: tuple[ProviderPlan, ...]
    compression: float
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a query runs with.

    Attributes:
        partitions: shuffle partitions, at least 1.
        versions: versions in memory, at least 1 (`maxBatchesToRetainInMemory`).
        batches_to_retain: `minBatchesToRetain`.
        heap_bytes: heap of an executor; None if that is not asked.
        state_share: share of the heap that state may take; Holdfast's default memory limit unless
            another is set.
        compression: size of state files beside what is in them.
    """

    partitions: int
    versions: int = 2
    batches_to_retain: int = 100
    heap_bytes: int | None = None
    state_share: float = SHARE_OF_HEAP
    compression: float = 1.0


def make_plan(workload: Workload, surroundings: Surroundings) -> Plan:
    """Calculate the capacity that an operator needs.

    Args:
        workload: the operator; of its partitions and compression those of `surroundings` count.
        surroundings: what the query runs with.

    Raises:
        WrongArgumentError: it is no workload, or no surroundings that can be.
    """
    require_arguments("capacity.make_plan", workload=(workload, WORKLOAD))
    _require_surroundings(surroundings)
    in_families = spark_name(workload.operator) in IN_COLUMN_FAMILIES
    able = [name for name in _MEMORY if not (in_families and name == _HDFS)]
    return Plan(
        operator=workload.operator,
        partitions=surroundings.partitions,
        versions=surroundings.versions,
        stores=tuple(_store(load, surroundings) for load in workload.loads),
        providers=tuple(_provider(name, workload.loads, surroundings) for name in able),
        compression=surroundings.compression,
        assumptions=(*workload.assumptions, *_assumptions(surroundings, able)),
    )


def _require_surroundings(surroundings: Surroundings) -> None:
    by, kind = "capacity.make_plan", instance("Surroundings", Surroundings)
    require_arguments(by, surroundings=(surroundings, kind))
    require_arguments(
        by,
        partitions=(surroundings.partitions, whole(1)),
        versions=(surroundings.versions, whole(1)),
        batches_to_retain=(surroundings.batches_to_retain, whole(1)),
        heap_bytes=(surroundings.heap_bytes, or_none(whole(1))),
        state_share=(surroundings.state_share, above_zero(most=1)),
        compression=(surroundings.compression, above_zero()),
    )


def _store(load: StoreLoad, surroundings: Surroundings) -> StorePlan:
    partition = load.partition(surroundings.partitions)
    compressed = surroundings.partitions * surroundings.compression
    return StorePlan(
        name=load.name,
        rows=round(load.rows),
        key_bytes=round(load.key_bytes, 1),
        value_bytes=round(load.value_bytes, 1),
        changes=round(load.changes),
        overwritten=round(load.overwritten),
        removed=round(load.removed),
        delta_bytes=round(delta_bytes(partition) * compressed),
        snapshot_bytes=round(snapshot_bytes(partition) * compressed),
    )


def _provider(name: str, loads: Sequence[StoreLoad], surroundings: Surroundings) -> ProviderPlan:
    partitions = [load.partition(surroundings.partitions) for load in loads]
    memory = sum(
        (_MEMORY[name](partition, surroundings.versions) for partition in partitions),
        start=NO_MEMORY,
    )
    rows = sum(partition.rows for partition in partitions)
    fitting, executors = _executors(memory, surroundings)
    count, kept, written = _files(name, partitions, surroundings)
    return ProviderPlan(
        provider=name,
        heap_bytes=round(memory.heap * surroundings.partitions),
        peak_heap_bytes=round(memory.peak_heap * surroundings.partitions),
        native_bytes=round(memory.native * surroundings.partitions),
        bytes_per_row=round((memory.heap + memory.native) / rows, 1) if rows else 0,
        estimated=name == _ROCKSDB,
        partitions_per_executor=fitting,
        executors=executors,
        retained_files=count,
        retained_bytes=kept,
        written_bytes=written,
    )


def _executors(partition: Memory, surroundings: Surroundings) -> tuple[int | None, int | None]:
    """Return the partitions that fit into an executor, and the executors needed."""
    if not surroundings.heap_bytes or not partition.peak_heap:
        return None, None
    room = surroundings.heap_bytes * surroundings.state_share
    fitting = min(surroundings.partitions, math.floor(room / partition.peak_heap))
    return fitting, math.ceil(surroundings.partitions / fitting) if fitting else None


def _files(
    name: str, partitions: Sequence[StoreLoad], surroundings: Surroundings
) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return number and size of the files that are kept, and the bytes that a batch writes."""
    if name not in _INTERVALS:
        return None, None, None
    of_partition = sum(
        (
            files(
                partition,
                _INTERVALS[name],
                batches_to_retain=surroundings.batches_to_retain,
                compression=surroundings.compression,
                spare_snapshots=layout.SPARE_SNAPSHOTS if name == _HOLDFAST else 0,
            )
            for partition in partitions
        ),
        start=NO_FILES,
    )
    return (
        round(of_partition.count * surroundings.partitions),
        round(of_partition.kept_bytes * surroundings.partitions),
        round(of_partition.written_bytes * surroundings.partitions),
    )


def _assumptions(surroundings: Surroundings, providers: Sequence[str]) -> Iterator[str]:
    yield "In the figures, rows are spread evenly over the partitions."
    if any(provider != _ROCKSDB for provider in providers):
        yield from _assumptions_of_heap(surroundings)
    yield (
        "The figures of RocksDB are estimates: block cache, full write buffers, filters and the "
        "index of blocks, without bounded memory usage. Its files on local disks come on top."
    )


def _assumptions_of_heap(surroundings: Surroundings) -> Iterator[str]:
    yield (
        "Rows that are overwritten are random ones, those that are removed the oldest ones, and "
        "Holdfast's pages have reached their steady share of holes."
    )
    retained = counted(surroundings.batches_to_retain, "batch is", "batches are")
    yield (
        f"The newest {retained} retained, minDeltasForSnapshot is not set, and maintenance runs "
        f"once in {layout.MIN_DELTAS_FOR_SNAPSHOT + 1} batches or more often."
    )
    if surroundings.compression == 1:
        yield "State files are as large as what is in them: compression is left out."
    if (surroundings.heap_bytes or 0) >= _COMPRESSED_REFERENCES_BYTES:
        yield (
            "Heaps of 32 GiB and more have larger references, which the figures do not have: with "
            "Spark's default provider they take a third more."
        )
