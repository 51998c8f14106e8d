"""Memory that a partition of a store takes with each provider; `layout` has the constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast.capacity import layout


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLoad:
    """What a store, or one partition of it, holds and what a batch does to it.

    Attributes:
        name: name of the store.
        rows: rows in it.
        key_bytes: bytes of a key.
        value_bytes: bytes of a value.
        changes: rows that a batch puts.
        overwritten: those of them that take the place of another one.
    """

    name: str
    rows: float
    key_bytes: float
    value_bytes: float
    changes: float
    overwritten: float

    def partition(self, partitions: int) -> StoreLoad:
        """Return one of so many equal partitions."""
        return StoreLoad(
            name=self.name,
            rows=self.rows / partitions,
            key_bytes=self.key_bytes,
            value_bytes=self.value_bytes,
            changes=self.changes / partitions,
            overwritten=self.overwritten / partitions,
        )

    @property
    def row_bytes(self) -> float:
        """Bytes of key and value."""
        return self.key_bytes + self.value_bytes

    @property
    def replaced(self) -> float:
        """Rows that a version has and the next one has not: of several changes of a row one."""
        return min(self.overwritten, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Memory in bytes.

    Attributes:
        heap: in the heap between batches, with all versions that stay in memory.
        peak_heap: in the heap while a batch runs.
        native: outside the heap.
    """

    heap: float
    peak_heap: float
    native: float = 0

    def __add__(self, other: Memory) -> Memory:
        return Memory(
            heap=self.heap + other.heap,
            peak_heap=self.peak_heap + other.peak_heap,
            native=self.native + other.native,
        )


NO_MEMORY = Memory(heap=0, peak_heap=0)


def holdfast_memory(load: StoreLoad, versions: int) -> Memory:
    """Return what a partition takes with Holdfast.

    Versions share what they do not differ in. Where rows are overwritten again and again, pages
    fill up to a fixed share of what is live.

    Args:
        load: the partition.
        versions: versions in memory, at least 1.
    """
    newest = _pages(load) + load.rows * layout.INDEX_BYTES_PER_ROW
    older = _pages_of_older(load) + _index_of_older(load)
    return Memory(heap=newest + (versions - 1) * older, peak_heap=newest + versions * older)


def hdfs_memory(load: StoreLoad, versions: int) -> Memory:
    """Return what a partition takes with Spark's default provider.

    Every version is a map of its own; rows that did not change are shared. A batch begins with
    another copy of the map.

    Args:
        load: the partition.
        versions: versions in memory, at least 1.
    """
    wanted = layout.SLOTS_PER_ROW * load.rows + 1
    slots = layout.TABLE_GROWTH << math.ceil(math.log2(wanted))
    one_map = load.rows * layout.NODE_BYTES + slots * layout.REFERENCE_BYTES
    value = layout.WRAPPER_BYTES + layout.UNSAFE_ROW_BYTES + load.value_bytes
    rows = load.rows * (layout.UNSAFE_ROW_BYTES + load.key_bytes + value)
    older = one_map + load.replaced * value
    newest = one_map + rows
    return Memory(heap=newest + (versions - 1) * older, peak_heap=newest + versions * older)


def rocksdb_memory(load: StoreLoad, _: int) -> Memory:
    """Return an estimate of what a partition takes with RocksDB, without bounded memory usage.

    It assumes that the write buffers are full, or hold all rows where these are fewer, and that no
    more than the block cache, the filters and the index of blocks stays of the files.

    Args:
        load: the partition.
    """
    entry = load.row_bytes + layout.ENTRY_BYTES
    buffers = min(layout.WRITE_BUFFERS * layout.WRITE_BUFFER_BYTES, load.rows * entry)
    blocks = load.rows * entry / layout.BLOCK_BYTES
    index = blocks * (load.key_bytes + layout.BLOCK_PLACE_BYTES)
    filters = load.rows * layout.FILTER_BYTES_PER_ROW
    return Memory(heap=0, peak_heap=0, native=layout.BLOCK_CACHE_BYTES + buffers + index + filters)


def _record_bytes(load: StoreLoad) -> float:
    return layout.RECORD_HEADER_BYTES + load.row_bytes


def _pages(load: StoreLoad) -> float:
    record = _record_bytes(load)
    live = load.rows * record
    if record > layout.MAX_SHARED_ROW_BYTES:
        return live + load.rows * layout.ARRAY_HEADER_BYTES
    # The last page is half full.
    packed = live * _unused_ends(record, live) + min(live / 2, layout.PAGE_BYTES) / 2
    if not 0 < load.overwritten < load.rows:
        return packed
    slack = min(layout.MAX_SLACK_BYTES, max(live / 2, layout.MIN_SLACK_BYTES))
    return max(packed, layout.HELD_SHARE * live + slack)


def _unused_ends(record: float, live: float) -> float:
    """Return how many times the bytes of rows a full page has."""
    page = min(layout.PAGE_BYTES, max(live, record))
    return page / (page // record * record)


def _moved(load: StoreLoad) -> float:
    """Return the rows that a batch overwrites or moves."""
    if not load.rows:
        return 0
    share = load.replaced / load.rows
    return load.replaced * (1 + layout.MOVED_SHARE * math.pow(1 - share, 1.5))


def _pages_of_older(load: StoreLoad) -> float:
    """Return the bytes of pages that the version before has and the newest has not any more."""
    return _moved(load) * _record_bytes(load)


def _index_of_older(load: StoreLoad) -> float:
    """Return the bytes of buckets that a batch copies."""
    buckets = load.rows / layout.ROWS_PER_BUCKET
    if not buckets:
        return 0
    changed = load.changes - load.overwritten + _moved(load)
    copied = buckets * (1 - math.exp(-changed / buckets))
    return copied * layout.ROWS_PER_BUCKET * layout.INDEX_BYTES_PER_ROW
