"""What a benchmark measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from devtools.bench.eviction_runs import evictions
from devtools.bench.family_runs import families
from devtools.bench.run import (
    HDFS,
    HEAP,
    HOLDFAST,
    LARGEST,
    LARGEST_HEAP,
    ROCKSDB,
    ROCKSDB_DEFAULTS,
    Run,
    each,
)

_IN_MEMORY = (HOLDFAST, HDFS)
_BEST = (HOLDFAST, HDFS, ROCKSDB)
_ALL = (HOLDFAST, HDFS, ROCKSDB, ROCKSDB_DEFAULTS)

_SIZES = (10_000, 100_000, 1_000_000)

# Options that the settings template names.
LARGER_PAGES = "-XX:+UseTransparentHugePages"
SHORTEST_PAUSES = "-XX:+UseZGC -XX:ZAllocationSpikeTolerance=5"


def short_runs() -> list[Run]:
    """Return the runs of `./dev bench`, which take some minutes."""
    return [
        *each("operations", _BEST, {"kind": "small", "rows": 100_000, "changes": 100_000}),
        *each("operations", _BEST, {"kind": "grouped", "rows": 100_000, "changes": 10_000}),
        *_batches(_BEST, rows=(10_000, 1_000_000), changes=1_000, batches=100),
        *each("footprint", _IN_MEMORY, {"kind": "small", "rows": 500_000, "versions": 1}),
        *_recovery(_BEST, rows=500_000, deltas=(0, 50), changes=10_000),
        *_query_sizes(_BEST, (10_000, 500_000), batches=25),
    ]


def full_runs() -> list[Run]:
    """Return the runs of `./dev bench --full`, which take six to eight hours and need 24 GiB."""
    return [
        *_full_operations(),
        *each("sparkWorkload", _ALL, {"rows": 10_000}),
        *_full_batches(),
        *_query_sizes(_BEST, _SIZES, batches=150),
        *(
            run
            for kind in ("small", "large")
            for versions in (1, 2, 5)
            for run in each(
                "footprint", _IN_MEMORY, {"kind": kind, "rows": 1_000_000, "versions": versions}
            )
        ),
        *_recovery(_BEST, rows=1_000_000, deltas=(0, 10, 100, 500), changes=1_000),
        *_recovery(_BEST, rows=1_000_000, deltas=(50,), changes=20_000),
        *_recovery(_BEST, rows=0, deltas=(10, 100, 500), changes=1_000),
        *_steady(),
        *_snapshots_beside(),
        *each("walks", _IN_MEMORY, {"kind": "small", "rows": 4_000_000, "left": 1_000}),
        *_largest(),
        *evictions(),
        *families(),
    ]


def _full_operations() -> Iterator[Run]:
    # Some of this machine's JVMs get faster memory than others, and it shows in these most.
    for rows, repeats in zip(_SIZES, (1, 1, 3), strict=True):
        changes = min(rows, 100_000)
        small: dict[str, str | int] = {"kind": "small", "rows": rows, "changes": changes}
        yield from (replace(run, repeats=repeats) for run in each("operations", _ALL, small))
    many: dict[str, str | int] = {"kind": "small", "rows": 1_000_000, "changes": 100_000}
    yield from (replace(run, repeats=3) for run in each("commits", _IN_MEMORY, many))
    large: dict[str, str | int] = {"kind": "small", "rows": 10_000_000, "changes": 100_000}
    yield from each("operations", (HOLDFAST, ROCKSDB), large, heap="8g")
    for kind in ("large", "grouped"):
        for rows in (100_000, 1_000_000):
            yield from each("operations", _BEST, {"kind": kind, "rows": rows, "changes": 100_000})


def _full_batches() -> Iterator[Run]:
    yield from _batches(_BEST, rows=_SIZES, changes=100, batches=400)
    yield from _batches(_ALL, rows=_SIZES, changes=1_000, batches=400)
    yield from _batches(_BEST, rows=(1_000_000,), changes=100_000, batches=30)
    yield from _batches(
        (HOLDFAST, ROCKSDB), rows=(10_000_000,), changes=1_000, batches=400, heap="8g"
    )


def _batches(
    providers: Sequence[str], *, rows: Sequence[int], changes: int, batches: int, heap: str = HEAP
) -> Iterator[Run]:
    for count in rows:
        arguments: dict[str, str | int] = {
            "kind": "small",
            "rows": count,
            "changes": changes,
            "batches": batches,
        }
        yield from each("batches", providers, arguments, heap)


def _largest() -> Iterator[Run]:
    # Beside the smallest in the same heap, and both with larger memory pages.
    for options in ("", LARGER_PAGES):
        for count in (10_000, LARGEST):
            arguments: dict[str, str | int] = {
                "kind": "small",
                "rows": count,
                "changes": 1_000,
                "batches": 400,
            }
            yield Run("batches", HOLDFAST, arguments, LARGEST_HEAP, options)
        sizes = (10_000, 1_000_000, LARGEST)
        yield from _query_sizes((HOLDFAST,), sizes, batches=300, heap=LARGEST_HEAP, options=options)
    yield from _recovery((HOLDFAST,), rows=LARGEST, deltas=(10,), changes=1_000, heap=LARGEST_HEAP)
    one: dict[str, str | int] = {"kind": "small", "rows": LARGEST, "versions": 1}
    yield Run("footprint", HOLDFAST, one, LARGEST_HEAP)


def _recovery(
    providers: Sequence[str],
    *,
    rows: int,
    deltas: Sequence[int],
    changes: int,
    heap: str = HEAP,
) -> Iterator[Run]:
    for count in deltas:
        arguments: dict[str, str | int] = {
            "kind": "small",
            "rows": rows,
            "deltas": count,
            "changes": changes,
        }
        yield from each("recovery", providers, arguments, heap)


def _steady() -> Iterator[Run]:
    # Two and a half times what is left after a full collection: 420 and 840 MB, or 430 and 950 with
    # ZGC, which has no compressed references.
    for provider, rows, heaps in (
        (HOLDFAST, 5_000_000, {SHORTEST_PAUSES: "1070m", "": "1060m"}),
        (HDFS, 3_000_000, {SHORTEST_PAUSES: "2400m", "": "2100m"}),
    ):
        arguments: dict[str, str | int] = {
            "kind": "small",
            "rows": rows,
            "changes": 1_000,
            "seconds": 600,
        }
        for options, heap in heaps.items():
            yield Run("steady", provider, arguments, heap, options)


def _snapshots_beside() -> Iterator[Run]:
    for partitions, files in ((1, "spark"), (1, "holdfast"), (2, "holdfast")):
        arguments: dict[str, str | int] = {
            "rows": 600_000,
            "changes": 20,
            "batches": 600,
            "partitions": partitions,
            "snapshots": "default",
            "files": files,
        }
        yield from each("snapshotsBeside", _BEST, arguments)


def _query_sizes(
    providers: Sequence[str],
    sizes: Sequence[int],
    *,
    batches: int,
    heap: str = HEAP,
    options: str = "",
) -> Iterator[Run]:
    arguments: dict[str, str | int] = {
        "sizes": ",".join(str(rows) for rows in sizes),
        "changes": 1_000,
        "batches": batches,
        "partitions": 2,
    }
    for run in each("querySizes", providers, arguments, heap):
        yield replace(run, options=options)
