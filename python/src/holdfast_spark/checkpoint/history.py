"""How the stores of a checkpoint came to be what they are, from all files that are still there."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    UnansweredError,
    UnsupportedProviderError,
)
from holdfast_spark.checkpoint.family_choice import variables_of
from holdfast_spark.checkpoint.family_history import FamilyPartitionReader, FamilyTotals
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.history_figures import (
    HotKey,
    PartitionFigures,
    StoreHistory,
    VersionFigures,
)
from holdfast_spark.checkpoint.partition_history import (
    Point,
    RowPartitionReader,
    versions_of,
)
from holdfast_spark.checkpoint.rows.hot_keys import HotKeys
from holdfast_spark.checkpoint.rows.json_text import json_rows
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

_HOTTEST_KEYS = 15
_ROCKSDB_ROWS = (
    "The rows in files of Spark's RocksDB provider only Spark reads: how many there are is known "
    "of versions that have a zip."
)


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
    stores = [store for store in checkpoint.live_stores if operator_id in (None, store.operator_id)]
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
        in_families = readable and self._checkpoint.in_families(
            first.operator_id, store_name=first.name
        )
        totals = FamilyTotals()
        versions: dict[int, _Version] = defaultdict(_Version)
        partitions: list[PartitionFigures] = []
        hot_keys: list[HotKey] = []
        for store in stores:
            reader = (
                FamilyPartitionReader(store, readable=readable)
                if in_families
                else RowPartitionReader(store, self._checkpoint.settings, readable=readable)
            )
            partition = _Partition(store.partition_id)
            for point in reader.points():
                versions[point.version].add(point)
                partition.add(point)
                if isinstance(reader, FamilyPartitionReader):
                    totals.add(point, reader.families(point.version))
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
            families=totals.figures(self._variables(first.operator_id), of=len(stores)),
        )

    def _variables(self, operator_id: int) -> dict[str, str]:
        variables = variables_of(self._checkpoint, operator_id)
        return {variable.name: variable.type for variable in variables}

    def _schema(self, stores: Sequence[StoreFiles]) -> tuple[ColumnFamily | None, bool, list[str]]:
        """Return the schema, whether rows can be read, and what stands against either."""
        if any(store.is_rocksdb for store in stores):
            return None, False, [_ROCKSDB_ROWS]
        try:
            first = stores[0]
            if self._checkpoint.in_families(first.operator_id, store_name=first.name):
                return None, True, []
            schema = self._checkpoint.row_schema(first.operator_id, store_name=first.name)
        except (CheckpointError, UnansweredError) as error:
            # Records can be counted by an unknown schema, but not in an unknown format.
            return None, not isinstance(error, UnsupportedProviderError), [str(error)]
        return schema, True, []


def _hottest(
    store: StoreFiles,
    reader: RowPartitionReader | FamilyPartitionReader,
    schema: ColumnFamily | None,
) -> list[HotKey]:
    if isinstance(reader, RowPartitionReader):
        return _hottest_of(store, reader.hot_keys, schema, None)
    return [
        key
        for name, hot_keys in reader.hot_keys_of.items()
        for key in _hottest_of(store, hot_keys, reader.schemas.get(name), name)
    ]


def _hottest_of(
    store: StoreFiles, hot_keys: HotKeys, schema: ColumnFamily | None, family: str | None
) -> list[HotKey]:
    hottest = hot_keys.hottest(_HOTTEST_KEYS)
    keys = _readable_keys([key for key, _ in hottest], store, schema)
    return [
        HotKey(
            partition_id=store.partition_id,
            key=key,
            changes=changes,
            changes_at_most=changes + hot_keys.missed,
            column_family=family,
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
