"""What a row costs beside its bytes, with each provider: the constants and where they are from.

Sizes of objects are those of a 64-bit JVM with compressed references, which is any heap below 32
GiB: 12 bytes of header, references of 4 bytes, sizes in steps of 8.
"""

from __future__ import annotations

ARRAY_HEADER_BYTES = 16
REFERENCE_BYTES = 4

# Holdfast: jvm/core, io.holdfast.table.

# `RowRecord.HeaderBytes`: the two lengths in front of key and value.
RECORD_HEADER_BYTES = 8
# `Slot.MaxPageBytes`: most that a page of many rows has.
PAGE_BYTES = 256 << 10
# `RowPages.MaxSharedRowBytes`: larger rows get an array each.
MAX_SHARED_ROW_BYTES = PAGE_BYTES // 8
# `Compaction`: pages hold up to so many times the live bytes before rows move, and this much more.
HELD_SHARE = 1.5
MAX_SLACK_BYTES = 2 * PAGE_BYTES
MIN_SLACK_BYTES = 2 * 4096
# `Bucket` and `HashIndex`: by simulation of 1,000 to 400,000 random keys, buckets and directory
# take 10.5 to 11.6 bytes a row, depending on how long ago buckets split.
INDEX_BYTES_PER_ROW = 11.1
# The same where rows come and go: buckets keep the room that they once needed. By simulation of 15
# to 100 batches that replace a twentieth to a fifth of the rows, 13 to 18.
CHURNED_INDEX_BYTES_PER_ROW = 16.0
ROWS_PER_BUCKET = 42.0
# `OrderedNode`, beside it in stores that are scanned: by simulation of random keys 21.2 to 23.6
# bytes a row with the inner nodes, for one word of order.
ORDERED_BYTES_PER_ROW = 22.0
# For each word beyond that, by measurement of random keys; 4 where rows come in order.
ORDERED_BYTES_PER_WORD = 11.0
ROWS_PER_LEAF = 44.5
# Rows that `Compaction` moves for each that is overwritten, while few are; from the simulation of
# pages whose rows are overwritten at random, which Rosenblum and Ousterhout's formula for a log
# that is filled to two thirds agrees with.
MOVED_SHARE = 0.69

# Spark's default provider: HDFSBackedStateStoreMap of 4.3, a ConcurrentHashMap of rows.

# ConcurrentHashMap.Node: hash, key, value, next.
NODE_BYTES = 32
# UnsafeRow: its bytes, their place and three numbers; and the header of the bytes.
UNSAFE_ROW_BYTES = 40 + ARRAY_HEADER_BYTES
# StateStoreRow, which every value is wrapped in.
WRAPPER_BYTES = 16
# ConcurrentHashMap.putAll, by which every version begins (OpenJDK 17): a table for one and a half
# times the rows, rounded up to a power of two, which tryPresize then doubles, since such a table
# counts as full from three quarters on.
SLOTS_PER_ROW = 1.5
TABLE_GROWTH = 2
# PrefixScannableHDFSBackedStateStoreMap: a ConcurrentHashMap that grows as it is filled, from
# prefixes to sets of keys (HashSet of Scala 2.13, whose loads are the same).
MIN_SLOTS = 16
FULL_SHARE = 0.75
SET_BYTES = 32
SET_NODE_BYTES = 24
# A column of an UnsafeRow.
COLUMN_BYTES = 8

# RocksDB, as Spark 4.3 sets it up (RocksDBConf). Nothing of it lies in the heap.

BLOCK_CACHE_BYTES = 8 << 20
# RocksDB's own default; it has two of them before a write waits.
WRITE_BUFFER_BYTES = 64 << 20
WRITE_BUFFERS = 2
# BloomFilter() of ten bits a key, and for each block of 4 KiB a key and its place.
FILTER_BYTES_PER_ROW = 1.25
BLOCK_BYTES = 4 << 10
BLOCK_PLACE_BYTES = 20
# Sequence number and lengths of an entry in a memtable and on disk.
ENTRY_BYTES = 16

# State files: int32 lengths of key and value, and the end marker (HDFSBackedStateStoreProvider).

RECORD_LENGTHS_BYTES = 8
END_MARKER_BYTES = 4
# A snapshot is written when more deltas than this lead to a version (minDeltasForSnapshot).
MIN_DELTAS_FOR_SNAPSHOT = 10
# SnapshotPolicy.WhenReplayCostsAsMuch: Holdfast waits until deltas cost as much as the snapshot
# before them, a file costing its bytes and these, or for this many deltas.
BYTES_PER_OPEN = 64 << 10
MAX_DELTAS = 250
# Cleanup: Holdfast keeps the snapshot before the one it needs, and the deltas between.
SPARE_SNAPSHOTS = 1
