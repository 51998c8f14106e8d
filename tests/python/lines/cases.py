"""The names of the queries: one of each stateful operator that Spark's default provider has.

The queries themselves are functions of `queries`, which this module does not import: the tests read
the names where there is no pyspark.
"""

QUERIES = {
    "aggregation": "update",
    "objects": "update",
    "windows": "append",
    "deduplication": "append",
    "deduplication_by_time": "append",
    "deduplication_within_watermark": "append",
    "sessions": "append",
    "join": "append",
    "join_of_windows": "append",
    "limit": "append",
    "groups": "update",
}
"""Each with its output mode."""

OWN_STATE = {"diary": "update"}
"""What Spark has on its RocksDB provider alone, from 4.0 on."""

EVICTING = frozenset(QUERIES) - {"aggregation", "objects", "deduplication", "limit"}
"""Those that remove rows when their time has come."""
