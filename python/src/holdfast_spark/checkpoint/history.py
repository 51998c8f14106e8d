"""How the stores of a checkpoint came to be what they are, from all files that are still there."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, UnsupportedProviderError
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.partition_history import PartitionReader, Point, versions_of
from holdfast_spark.checkpoint.rows.json_text import json_rows
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

_HOTTEST_KEYS = 15
_ROCKSDB_ROWS = (
    "The rows in files of Spark's RocksDB provider only Spark reads: how many there are is known "
    "of versions that have a zip."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFigures:
    """A version of a store, in all partitions together.

    Attributes:
        version: the version.
        written: when the newest of its files was written, as ISO 8601 in UTC; null where the file
            system does not tell.
        rows: rows that the version has; null where that cannot be told, because older files are
            gone or damaged. Of RocksDB those of a version that has a zip, which tells them.
        row_bytes: bytes of their keys and values; null as `rows` is, and of RocksDB.
        puts: rows that its deltas put; null where deltas are missing or cannot be read.
        removals: keys that its deltas remove; null as `puts` is.
        delta_bytes: size of its delta files, or changelogs of RocksDB.
        snapshots: partitions that have a snapshot of it, or a zip of RocksDB.
        snapshot_bytes: size of these.
        deltas_to_replay: deltas that a restart would have to replay, in the partition where they
            are most; null where the version cannot be put together.
    """

    version: int
    written: str | None
    rows: int | None
    row_bytes: int | None
    puts: int | None
    removals: int | None
    delta_bytes: int
    snapshots: int
    snapshot_bytes: int
    deltas_to_replay: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFigures:
    """A partition of a store.

    Attributes:
        partition_id: its number.
        rows: rows of its newest version; null where that cannot be told.
        row_bytes: bytes of their keys and values; null as `rows` is.
        changes: records in its delta files; null where they cannot be read.
        delta_bytes: size of its delta files.
        snapshot_bytes: size of its snapshot files.
    """

    partition_id: int
    rows: int | None
    row_bytes: int | None
    changes: int | None
    delta_bytes: int
    snapshot_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HotKey:
    """A key that changed often in the delta files that are there.

    Attributes:
        partition_id: the partition that it is in.
        key: the key as `holdfast show` has it; its bytes in hexadecimal where the schema cannot be
            read.
        changes: how often it changed at least.
        changes_at_most: how often it changed at most; the same unless there were too many keys to
            count them all.
    """

    partition_id: int
    key: Any
    changes: int
    changes_at_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreHistory:
    """The stores of one name in all partitions of an operator.

    Attributes:
        operator_id: number of the stateful operator.
        operator: Spark's name of it.
        name: name of the store, `default` for most.
        versions: the versions that there are files of, oldest first.
        partitions: the partitions.
        hottest_keys: the keys that changed most often, the hottest first.
        not_read: why figures are missing, a sentence each.
    """

    operator_id: int
    operator: str
    name: str
    versions: tuple[VersionFigures, ...]
    partitions: tuple[PartitionFigures, ...]
    hottest_keys: tuple[HotKey, ...]
    not_read: tuple[str, ...]


def read_histories(
    checkpoint: Checkpoint,
    *,
    operator_id: int | None = None,
    on_file: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[StoreHistory, ...]:
    """Read the delta files of a checkpoint, and the snapshots that its oldest versions need.

    The memory in use is some 32 bytes for each row of the largest partition and some 32 MiB.

    Args:
        checkpoint: the checkpoint.
        operator_id: this operator only; all for None.
        on_file: called after each version of each partition with the number done and of all.

    Returns:
        A history for each operator and name of a store. What is damaged is named in it.

    Raises:
        CheckpointError: a log or the metadata of an operator cannot be read.
    """
    stores = [store for store in checkpoint.stores if operator_id in (None, store.operator_id)]
    by_name: dict[tuple[int, str], list[StoreFiles]] = defaultdict(list)
    for store in stores:
        by_name[store.operator_id, store.name].append(store)
    reader = _Reader(checkpoint, on_file, sum(len(versions_of(store)) for store in stores))
    return tuple(reader.history(stores) for stores in by_name.values())


class _Reader:
    def __init__(
        self, checkpoint: Checkpoint, on_file: Callable[[int, int], None], total: int
    ) -> None:
        self._checkpoint = checkpoint
        self._on_file = on_file
        self._done = 0
        self._total = total

    def history(self, stores: Sequence[StoreFiles]) -> StoreHistory:
        first = stores[0]
        schema, readable, not_read = self._schema(stores)
        versions: dict[int, _Version] = defaultdict(_Version)
        partitions: list[PartitionFigures] = []
        hot_keys: list[HotKey] = []
        for store in stores:
            reader = PartitionReader(store, self._checkpoint.settings, readable=readable)
            partition = _Partition(store.partition_id)
            for point in reader.points():
                versions[point.version].add(point)
                partition.add(point)
                self._done += 1
                self._on_file(self._done, self._total)
            partitions.append(partition.figures())
            hot_keys += _hottest(store, reader, schema)
            not_read += reader.not_read
        return StoreHistory(
            operator_id=first.operator_id,
            operator=self._checkpoint.operator(first.operator_id).name,
            name=first.name,
            versions=tuple(versions[v].figures(v, of=len(stores)) for v in sorted(versions)),
            partitions=tuple(partitions),
            hottest_keys=tuple(sorted(hot_keys, key=lambda key: -key.changes)[:_HOTTEST_KEYS]),
            not_read=tuple(not_read),
        )

    def _schema(self, stores: Sequence[StoreFiles]) -> tuple[ColumnFamily | None, bool, list[str]]:
        """Return the schema, whether rows can be read, and what stands against either."""
        if any(store.is_rocksdb for store in stores):
            return None, False, [_ROCKSDB_ROWS]
        try:
            first = stores[0]
            schema = self._checkpoint.row_schema(first.operator_id, store_name=first.name)
        except CheckpointError as error:
            # Records can be counted by an unknown schema, but not in an unknown format.
            return None, not isinstance(error, UnsupportedProviderError), [str(error)]
        return schema, True, []


def _hottest(
    store: StoreFiles, reader: PartitionReader, schema: ColumnFamily | None
) -> list[HotKey]:
    hottest = reader.hot_keys.hottest(_HOTTEST_KEYS)
    keys = _readable_keys([key for key, _ in hottest], store, schema)
    return [
        HotKey(
            partition_id=store.partition_id,
            key=key,
            changes=changes,
            changes_at_most=changes + reader.hot_keys.missed,
        )
        for key, (_, changes) in zip(keys, hottest, strict=True)
    ]


def _readable_keys(
    keys: Sequence[bytes], store: StoreFiles, schema: ColumnFamily | None
) -> list[Any]:
    if schema:
        records = Records.of((key, b"") for key in keys)
        decoder = RowDecoder(records.memory, where=f"the store {store}")
        with contextlib.suppress(CheckpointError):
            decoded = decoder.rows(schema.key, records.key_starts, records.key_lengths)
            rows = pa.RecordBatch.from_arrays([decoded], names=["key"])
            return [row["key"] for row in json_rows(rows)]
    return [key.hex() for key in keys]


class _Version:
    """Adds up the partitions of a version."""

    def __init__(self) -> None:
        self._partitions = 0
        self._written: datetime | None = None
        self._rows: int | None = 0
        self._row_bytes: int | None = 0
        self._puts: int | None = 0
        self._removals: int | None = 0
        self._delta_bytes = 0
        self._snapshots = 0
        self._snapshot_bytes = 0
        self._deltas_to_replay: int | None = 0

    def add(self, point: Point) -> None:
        self._partitions += 1
        if point.written and (self._written is None or point.written > self._written):
            self._written = point.written
        self._rows = _plus(self._rows, point.rows)
        self._row_bytes = _plus(self._row_bytes, point.row_bytes)
        self._puts = _plus(self._puts, point.puts)
        self._removals = _plus(self._removals, point.removals)
        self._delta_bytes += point.delta_bytes
        self._snapshots += point.snapshot_bytes is not None
        self._snapshot_bytes += point.snapshot_bytes or 0
        most = (self._deltas_to_replay, point.deltas_to_replay)
        self._deltas_to_replay = None if None in most else max(n for n in most if n is not None)

    def figures(self, version: int, *, of: int) -> VersionFigures:
        """Return the sums; what is not known of all `of` partitions is not known."""
        whole = self._partitions == of
        return VersionFigures(
            version=version,
            written=self._written.isoformat(timespec="seconds") if self._written else None,
            rows=self._rows if whole else None,
            row_bytes=self._row_bytes if whole else None,
            puts=self._puts if whole else None,
            removals=self._removals if whole else None,
            delta_bytes=self._delta_bytes,
            snapshots=self._snapshots,
            snapshot_bytes=self._snapshot_bytes,
            deltas_to_replay=self._deltas_to_replay if whole else None,
        )


class _Partition:
    """Adds up the versions of a partition."""

    def __init__(self, partition_id: int) -> None:
        self._partition_id = partition_id
        self._newest: Point | None = None
        self._changes: int | None = None
        self._delta_bytes = 0
        self._snapshot_bytes = 0

    def add(self, point: Point) -> None:
        self._newest = point
        if point.puts is not None and point.removals is not None:
            self._changes = (self._changes or 0) + point.puts + point.removals
        self._delta_bytes += point.delta_bytes
        self._snapshot_bytes += point.snapshot_bytes or 0

    def figures(self) -> PartitionFigures:
        return PartitionFigures(
            partition_id=self._partition_id,
            rows=self._newest.rows if self._newest else None,
            row_bytes=self._newest.row_bytes if self._newest else None,
            changes=self._changes,
            delta_bytes=self._delta_bytes,
            snapshot_bytes=self._snapshot_bytes,
        )


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
