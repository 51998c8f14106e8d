"""What the state files of a partition take; `layout` has the constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from holdfast_spark.capacity import layout
from holdfast_spark.capacity.load import StoreLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """State files of a partition, or of several.

    Attributes:
        count: files that the checkpoint keeps.
        kept_bytes: their size.
        written_bytes: bytes that a batch writes on average, snapshots among them.
    """

    count: float
    kept_bytes: float
    written_bytes: float

    def __add__(self, other: Files) -> Files:
        return Files(
            count=self.count + other.count,
            kept_bytes=self.kept_bytes + other.kept_bytes,
            written_bytes=self.written_bytes + other.written_bytes,
        )


NO_FILES = Files(count=0, kept_bytes=0, written_bytes=0)

Interval = Callable[[float, float], int]


def delta_bytes(load: StoreLoad) -> float:
    """Return the bytes of a delta, uncompressed."""
    return delta_content(load) + layout.END_MARKER_BYTES


def delta_content(load: StoreLoad) -> float:
    """Return the bytes of the records in a delta, uncompressed."""
    removal = layout.RECORD_LENGTHS_BYTES + load.key_bytes
    return load.changes * _record_bytes(load) + load.removed * removal


def snapshot_bytes(load: StoreLoad) -> float:
    """Return the bytes of a snapshot, uncompressed."""
    return load.rows * _record_bytes(load) + layout.END_MARKER_BYTES


def holdfast_interval(delta: float, snapshot: float) -> int:
    """Return the versions from one snapshot to the next with Holdfast's own policy.

    Args:
        delta: size of a delta file.
        snapshot: size of a snapshot file.
    """
    opening = layout.BYTES_PER_OPEN
    paying = math.ceil((snapshot + opening) / (delta + opening))
    return max(layout.MIN_DELTAS_FOR_SNAPSHOT + 1, min(paying, layout.MAX_DELTAS))


def hdfs_interval(_delta: float, _snapshot: float) -> int:
    """Return the versions from one snapshot to the next with Spark's default provider."""
    return layout.MIN_DELTAS_FOR_SNAPSHOT + 1


def files(
    load: StoreLoad,
    interval: Interval,
    *,
    batches_to_retain: int,
    compression: float,
    spare_snapshots: int = 0,
) -> Files:
    """Return the state files of a partition.

    The oldest version that is kept lies, on average, half way between two snapshots, and the deltas
    from the one before it are kept too.

    Args:
        load: the partition.
        interval: how often there is a snapshot.
        batches_to_retain: `minBatchesToRetain`.
        compression: size of the files beside what is in them.
        spare_snapshots: how many snapshots before that one are kept as well, with their deltas.
    """
    delta, snapshot = delta_bytes(load) * compression, snapshot_bytes(load) * compression
    versions = interval(delta, snapshot)
    deltas = batches_to_retain + versions * (0.5 + spare_snapshots)
    snapshots = deltas / versions
    return Files(
        count=deltas + snapshots,
        kept_bytes=deltas * delta + snapshots * snapshot,
        written_bytes=delta + snapshot / versions,
    )


def _record_bytes(load: StoreLoad) -> float:
    return layout.RECORD_LENGTHS_BYTES + load.row_bytes
