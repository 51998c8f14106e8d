"""What a benchmark measures of queries in which as many rows leave the state as come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from devtools.bench.run import (
    HDFS,
    HEAP,
    HOLDFAST,
    JOIN_HEAP,
    LARGEST,
    LARGEST_HEAP,
    ROCKSDB,
    ROCKSDB_JOIN_4,
    Run,
    each,
)

_BEST = (HOLDFAST, HDFS, ROCKSDB)

# The group of those in which as many rows leave the state as come.
EVICTIONS = "evictions"

# Its queries, one for each way in which operators look for rows that have expired; what tells most
# is measured first.
EVICTING = (
    "deduplicationByTime",
    "windows",
    "join",
    "sessions",
    "timeouts",
    "deduplication",
    "windowsInUpdate",
    "outerJoin",
)
# Those that plots and tables of the whole benchmark have, by the names that they have there.
SHOWN = {
    "deduplicationByTime": "deduplication",
    "windows": "windows",
    "sessions": "sessions",
    "join": "join",
}
_EVICTING_LARGEST = ("deduplicationByTime", "windows")
_EVICTING_JOINS = ("join", "outerJoin")
# On Spark's providers this size is measured apart from the smaller ones.
_LARGE = (10_000_000,)

# Stream-stream joins in which nothing expires.
IDLE_JOINS = ("join", "joinByKey", "joinOfGroups", "joinOfGroupsByKey")


def evictions() -> Iterator[Run]:
    """Yield the runs of the group of evictions, what tells most first."""
    for query in EVICTING:
        largest = (LARGEST,) if query in _EVICTING_LARGEST else ()
        sizes = (10_000, 1_000_000, *_LARGE, *largest)
        yield _evicting(HOLDFAST, query, sizes, heap=LARGEST_HEAP, batches=60, warmUp=40)
    for query in IDLE_JOINS:
        idle: dict[str, str | int] = {
            "query": query,
            "rows": 1_000_000,
            "batches": 9,
            "warmUp": 10,
            "warmUpBatches": 3,
            "partitions": 2,
        }
        peers = (*_BEST, ROCKSDB_JOIN_4)
        yield from (replace(run, group=EVICTIONS) for run in each("idleJoins", peers, idle))
    for query in EVICTING:
        for provider in _peers(query):
            yield _evicting(provider, query, (10_000, 1_000_000), batches=16, warmUp=20)
    # Every batch takes them seconds, one of a join half a minute.
    for query in EVICTING:
        for provider in (HDFS, ROCKSDB):
            large = provider == HDFS and query in _EVICTING_JOINS
            heap = JOIN_HEAP if large else LARGEST_HEAP
            yield _evicting(provider, query, _LARGE, heap, batches=4, warmUp=0, warmUpBatches=2)
    for query in _EVICTING_JOINS:
        yield _evicting(ROCKSDB_JOIN_4, query, _LARGE, LARGEST_HEAP, batches=16, warmUp=20)


def _peers(query: str) -> Sequence[str]:
    return (HDFS, ROCKSDB, ROCKSDB_JOIN_4) if query in _EVICTING_JOINS else (HDFS, ROCKSDB)


def _evicting(
    provider: str, query: str, sizes: Sequence[int], heap: str = HEAP, **more: int
) -> Run:
    arguments: dict[str, str | int] = {
        "query": query,
        "sizes": ",".join(str(rows) for rows in sizes),
        "changes": 1_000,
        "partitions": 2,
        **more,
    }
    return Run("querySizes", provider, arguments, heap, group=EVICTIONS)
