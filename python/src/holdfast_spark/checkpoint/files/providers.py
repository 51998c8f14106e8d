"""The state store providers that a query can be switched between."""

from __future__ import annotations

from holdfast_spark.checkpoint.files.logs import DEFAULT_PROVIDER

HOLDFAST = "io.holdfast.HoldfastStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

# By the names that the command line has for them.
PROVIDERS = {"holdfast": HOLDFAST, "hdfs": DEFAULT_PROVIDER, "rocksdb": ROCKSDB}

# Those that keep state in column families.
WITH_FAMILIES = (HOLDFAST, ROCKSDB)
