"""What a benchmark measures of stores with column families: `transformWithState`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from devtools.bench.run import HOLDFAST, LARGEST_HEAP, ROCKSDB, Run, each

# The group of these runs.
FAMILIES = "families"

# Queries, by the state that a key has.
TRANSFORMS = ("valueState", "listState", "mapState", "timers")

KEYS = (10_000, 1_000_000, 10_000_000)

_PROVIDERS = (HOLDFAST, ROCKSDB)


def families() -> Iterator[Run]:
    """Yield the runs of the group, what tells most first; the providers take turns."""
    operations: dict[str, str | int] = {"rows": 1_000_000, "changes": 100_000}
    for run in each("familyOperations", _PROVIDERS, operations):
        yield replace(run, group=FAMILIES, repeats=3)
    for query in TRANSFORMS:
        yield replace(_transforming(HOLDFAST, query, KEYS, batches=60, warm_up=60), repeats=3)
    for sizes, batches in ((KEYS[:2], 60), (KEYS[2:], 40)):
        for query in TRANSFORMS:
            yield _transforming(ROCKSDB, query, sizes, batches=batches, warm_up=40)


def _transforming(
    provider: str, query: str, sizes: Sequence[int], batches: int, warm_up: int
) -> Run:
    arguments: dict[str, str | int] = {
        "query": query,
        "sizes": ",".join(str(keys) for keys in sizes),
        "changes": 1_000,
        "batches": batches,
        "partitions": 2,
        "warmUp": warm_up,
    }
    return Run("querySizes", provider, arguments, LARGEST_HEAP, group=FAMILIES)
