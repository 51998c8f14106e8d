"""What a benchmark measures of stores with column families: `transformWithState`."""

from __future__ import annotations

from collections.abc import Iterator
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
    for sizes, batches in ((KEYS[:2], 60), (KEYS[2:], 40)):
        for query in TRANSFORMS:
            arguments: dict[str, str | int] = {
                "query": query,
                "sizes": ",".join(str(keys) for keys in sizes),
                "changes": 1_000,
                "batches": batches,
                "partitions": 2,
                "warmUp": 40,
            }
            for run in each("querySizes", _PROVIDERS, arguments, LARGEST_HEAP):
                yield replace(run, group=FAMILIES)
