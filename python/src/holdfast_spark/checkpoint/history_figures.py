"""The figures of a store's history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast_spark.checkpoint.family_history import FamilyFigures


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
        column_family: the column family that it is in; null in a store without.
    """

    partition_id: int
    key: Any
    changes: int
    changes_at_most: int
    column_family: str | None = None


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
        families: its column families; none in a store without. Its other figures are those of all
            of them, and a part of a list counts as a row.
    """

    operator_id: int
    operator: str
    name: str
    versions: tuple[VersionFigures, ...]
    partitions: tuple[PartitionFigures, ...]
    hottest_keys: tuple[HotKey, ...]
    not_read: tuple[str, ...]
    families: tuple[FamilyFigures, ...] = ()
