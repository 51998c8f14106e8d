"""One partition of a store, version after version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from holdfast_spark.checkpoint.errors import CheckpointError, UnansweredError
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.files.rocksdb_zip import count_rows
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.rows.hot_keys import HotKeys
from holdfast_spark.checkpoint.rows.records import Records, read_records
from holdfast_spark.checkpoint.rows.row_sizes import RowSizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A version of a partition.

    Attributes:
        version: the version.
        written: when the newest of its files was written; None where nobody knows.
        rows: rows that the version has; None where that cannot be told.
        row_bytes: bytes of their keys and values; None as `rows` is.
        puts: records of its delta that put a row; None without a delta that can be read.
        removals: records of its delta that remove a key; None as `puts` is.
        delta_bytes: size of its delta; 0 without.
        snapshot_bytes: size of its snapshot; None without.
        deltas_to_replay: deltas that lead to it from a snapshot or from nothing; None where some
            are missing.
    """

    version: int
    written: datetime | None
    rows: int | None
    row_bytes: int | None
    puts: int | None
    removals: int | None
    delta_bytes: int
    snapshot_bytes: int | None
    deltas_to_replay: int | None


class Sizes(Protocol):
    """How many rows a version has, and how large they are."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def total_bytes(self) -> int:
        """Bytes of all keys and values."""


SizesOf = TypeVar("SizesOf", bound=Sizes)


class PartitionReader(ABC, Generic[SizesOf]):
    """Reads all deltas of a partition, and a snapshot wherever they do not go on from another one.

    For one thread.

    Args:
        store: the store in that partition.
        empty: what version 0 has.
        readable: whether its files can be read.

    Attributes:
        not_read: the files that could not be read, a sentence each.
    """

    def __init__(self, store: StoreFiles, empty: SizesOf, *, readable: bool) -> None:
        self.not_read: list[str] = []
        self._store = store
        self._readable = readable
        # The rows of the version at hand; None where nobody knows.
        self._rows: SizesOf | None = empty

    def points(self) -> Iterator[Point]:
        """Yield all versions that there are files of, oldest first."""
        reached, replayed = 0, 0
        recoverable = set(self._store.versions)
        for version in versions_of(self._store):
            if version != reached + 1:
                self._rows = None
            delta, snapshot = (
                self._store.deltas.get(version),
                self._store.snapshots.get(version),
            )
            puts, removals = self._apply(delta)
            if self._rows is None and snapshot:
                self._rows = self._load(snapshot)
            rows, row_bytes = self._figures(snapshot)
            reached, replayed = version, 0 if snapshot else replayed + 1
            times = [file.modified for file in (delta, snapshot) if file and file.modified]
            yield Point(
                version=version,
                written=max(times, default=None),
                rows=rows,
                row_bytes=row_bytes,
                puts=puts,
                removals=removals,
                delta_bytes=delta.size_bytes if delta else 0,
                snapshot_bytes=snapshot.size_bytes if snapshot else None,
                deltas_to_replay=replayed if version in recoverable else None,
            )

    def _figures(self, snapshot: StateFile | None) -> tuple[int | None, int | None]:
        """Return the number of rows at hand, and their bytes; of RocksDB what its zip tells."""
        if self._rows is not None:
            return len(self._rows), self._rows.total_bytes
        if snapshot is None or snapshot.kind != "zip":
            return None, None
        try:
            return count_rows(snapshot), None
        except (CheckpointError, UnansweredError) as error:
            self.not_read.append(str(error))
            return None, None

    def _apply(self, delta: StateFile | None) -> tuple[int | None, int | None]:
        """Count the changes of a delta and put them into the rows, if these are known."""
        if delta is None or not self._readable:
            self._rows = None
            return None, None
        try:
            return self._changes_of(delta)
        except (CheckpointError, UnansweredError) as error:
            self.not_read.append(str(error))
            self._rows = None
            return None, None

    def _load(self, snapshot: StateFile) -> SizesOf | None:
        if not self._readable:
            return None
        try:
            return self._rows_of(snapshot)
        except (CheckpointError, UnansweredError) as error:
            self.not_read.append(str(error))
            return None

    @abstractmethod
    def _changes_of(self, delta: StateFile) -> tuple[int, int]:
        """Read a delta; return the records that put a row, and those that remove one."""

    @abstractmethod
    def _rows_of(self, snapshot: StateFile) -> SizesOf:
        """Read a snapshot."""


class RowPartitionReader(PartitionReader[RowSizes]):
    """Reads a partition of a store without column families.

    Attributes:
        hot_keys: the keys that changed in the deltas read so far.
    """

    def __init__(self, store: StoreFiles, settings: PinnedSettings, *, readable: bool) -> None:
        super().__init__(store, RowSizes(), readable=readable)
        self.hot_keys = HotKeys()
        self._settings = settings

    def _changes_of(self, delta: StateFile) -> tuple[int, int]:
        puts = removals = 0
        for records in self._records(delta):
            removed = int((records.value_lengths < 0).sum())
            puts, removals = puts + len(records) - removed, removals + removed
            self.hot_keys.add(records)
            if self._rows is not None:
                self._rows.apply(records)
        return puts, removals

    def _rows_of(self, snapshot: StateFile) -> RowSizes:
        return RowSizes.of(self._records(snapshot))

    def _records(self, file: StateFile) -> Iterator[Records]:
        settings = self._settings
        return read_records(file, codec=settings.codec, row_checksums=settings.row_checksums)


def versions_of(store: StoreFiles) -> list[int]:
    """Return the versions that there are files of, ascending."""
    return sorted({file.version for file in store.files})
