"""Memory that a partition takes with RocksDB, estimated; `layout` has the constants."""

from __future__ import annotations

from holdfast_spark.capacity import layout
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.memory import Memory


def rocksdb_memory(load: StoreLoad, _: int) -> Memory:
    """Return an estimate of what a partition takes, without bounded memory usage.

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
