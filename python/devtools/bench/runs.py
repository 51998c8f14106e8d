"""What a benchmark measures: runs of `io.holdfast.bench.Measure`, each in a JVM of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

HOLDFAST = "holdfast"
HDFS = "hdfs"
ROCKSDB = "rocksdb"
ROCKSDB_DEFAULTS = "rocksdb-defaults"

_IN_MEMORY = (HOLDFAST, HDFS)
_BEST = (HOLDFAST, HDFS, ROCKSDB)
_ALL = (HOLDFAST, HDFS, ROCKSDB, ROCKSDB_DEFAULTS)

_SIZES = (10_000, 100_000, 1_000_000)
_HEAP = "6g"

# Those that are measured at one size in a JVM; the others have `querySizes`.
QUERIES = ("deduplication", "join", "sessions")

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
_EVICTING_LARGEST = ("deduplicationByTime", "windows")

# Stream-stream joins in which nothing expires.
IDLE_JOINS = ("join", "joinByKey", "joinOfGroups", "joinOfGroupsByKey")

LARGEST = 50_000_000
_LARGEST_HEAP = "14g"

# Options that the settings template names.
LARGER_PAGES = "-XX:+UseTransparentHugePages"
SHORTEST_PAUSES = "-XX:+UseZGC -XX:ZAllocationSpikeTolerance=5"


@dataclass(frozen=True, slots=True)
class Run:
    """A measurement of one provider.

    Attributes:
        measure: name of the measurement.
        provider: who is measured.
        arguments: what else the measurement is told, by name.
        heap: the JVM's heap, as `-Xmx` takes it.
        options: other options of the JVM, one after another.
        repeats: how many JVMs measure it, one after another; numbers are medians of theirs.
        group: what it is a part of, if not simply one of its measurement.
    """

    measure: str
    provider: str
    arguments: dict[str, str | int]
    heap: str = _HEAP
    options: str = ""
    repeats: int = 1
    group: str = ""

    @property
    def name(self) -> str:
        """What one asks for to have it run: its group or its measurement."""
        return self.group or self.measure

    @property
    def java_options(self) -> list[str]:
        """The options that the JVM is started with.

        Its memory is touched before: the first use of a page takes the system longer than most of
        what is measured, and in an executor it was long ago.
        """
        heap = [f"-Xmx{self.heap}", f"-Xms{self.heap}"]
        return [*heap, "-XX:+AlwaysPreTouch", *self.options.split()]

    @property
    def title(self) -> str:
        """What is measured, whoever is."""
        arguments = (f"{name} {value}" for name, value in self.arguments.items())
        options = (f"-Xms{self.heap}", *self.options.split())
        repeats = (f"medians of {self.repeats} JVMs",) if self.repeats > 1 else ()
        return f"{self.measure}: {', '.join((*arguments, *options, *repeats))}"

    @property
    def words(self) -> list[str]:
        """The command line of the measurement."""
        arguments = {"provider": self.provider, **self.arguments}
        return [self.measure, *(f"{name}={value}" for name, value in arguments.items())]


def short_runs() -> list[Run]:
    """Return the runs of `./dev bench`, which take some minutes."""
    return [
        *_each("operations", _BEST, {"kind": "small", "rows": 100_000, "changes": 100_000}),
        *_each("operations", _BEST, {"kind": "grouped", "rows": 100_000, "changes": 10_000}),
        *_batches(_BEST, rows=(10_000, 1_000_000), changes=1_000, batches=100),
        *_each("footprint", _IN_MEMORY, {"kind": "small", "rows": 500_000, "versions": 1}),
        *_recovery(_BEST, rows=500_000, deltas=(0, 50), changes=10_000),
        *_query_sizes(_BEST, (10_000, 500_000), batches=25),
    ]


def full_runs() -> list[Run]:
    """Return the runs of `./dev bench --full`, which take four to five hours and need 24 GiB."""
    return [
        *_full_operations(),
        *_each("sparkWorkload", _ALL, {"rows": 10_000}),
        *_full_batches(),
        *_query_sizes(_BEST, _SIZES, batches=150),
        *_queries(),
        *(
            run
            for kind in ("small", "large")
            for versions in (1, 2, 5)
            for run in _each(
                "footprint", _IN_MEMORY, {"kind": kind, "rows": 1_000_000, "versions": versions}
            )
        ),
        *_recovery(_BEST, rows=1_000_000, deltas=(0, 10, 100, 500), changes=1_000),
        *_recovery(_BEST, rows=1_000_000, deltas=(50,), changes=20_000),
        *_recovery(_BEST, rows=0, deltas=(10, 100, 500), changes=1_000),
        *_steady(),
        *_snapshots_beside(),
        *_each("walks", _IN_MEMORY, {"kind": "small", "rows": 4_000_000, "left": 1_000}),
        *_largest(),
        *evictions(),
    ]


def _full_operations() -> Iterator[Run]:
    # Some of this machine's JVMs get faster memory than others, and it shows in these most.
    for rows, repeats in zip(_SIZES, (1, 1, 3), strict=True):
        changes = min(rows, 100_000)
        small: dict[str, str | int] = {"kind": "small", "rows": rows, "changes": changes}
        yield from (replace(run, repeats=repeats) for run in _each("operations", _ALL, small))
    large: dict[str, str | int] = {"kind": "small", "rows": 10_000_000, "changes": 100_000}
    yield from _each("operations", (HOLDFAST, ROCKSDB), large, heap="8g")
    for kind in ("large", "grouped"):
        for rows in (100_000, 1_000_000):
            yield from _each("operations", _BEST, {"kind": kind, "rows": rows, "changes": 100_000})


def _full_batches() -> Iterator[Run]:
    yield from _batches(_BEST, rows=_SIZES, changes=100, batches=400)
    yield from _batches(_ALL, rows=_SIZES, changes=1_000, batches=400)
    yield from _batches(_BEST, rows=(1_000_000,), changes=100_000, batches=30)
    yield from _batches(
        (HOLDFAST, ROCKSDB), rows=(10_000_000,), changes=1_000, batches=400, heap="8g"
    )


def _each(
    measure: str, providers: Sequence[str], arguments: dict[str, str | int], heap: str = _HEAP
) -> Iterator[Run]:
    for provider in providers:
        yield Run(measure, provider, arguments, heap)


def _batches(
    providers: Sequence[str], *, rows: Sequence[int], changes: int, batches: int, heap: str = _HEAP
) -> Iterator[Run]:
    for count in rows:
        arguments: dict[str, str | int] = {
            "kind": "small",
            "rows": count,
            "changes": changes,
            "batches": batches,
        }
        yield from _each("batches", providers, arguments, heap)


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
            yield Run("batches", HOLDFAST, arguments, _LARGEST_HEAP, options)
        sizes = (10_000, 1_000_000, LARGEST)
        yield from _query_sizes(
            (HOLDFAST,), sizes, batches=300, heap=_LARGEST_HEAP, options=options
        )
    yield from _recovery((HOLDFAST,), rows=LARGEST, deltas=(10,), changes=1_000, heap=_LARGEST_HEAP)
    one: dict[str, str | int] = {"kind": "small", "rows": LARGEST, "versions": 1}
    yield Run("footprint", HOLDFAST, one, _LARGEST_HEAP)


def _recovery(
    providers: Sequence[str],
    *,
    rows: int,
    deltas: Sequence[int],
    changes: int,
    heap: str = _HEAP,
) -> Iterator[Run]:
    for count in deltas:
        arguments: dict[str, str | int] = {
            "kind": "small",
            "rows": rows,
            "deltas": count,
            "changes": changes,
        }
        yield from _each("recovery", providers, arguments, heap)


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
        yield from _each("snapshotsBeside", _BEST, arguments)


def _query_sizes(
    providers: Sequence[str],
    sizes: Sequence[int],
    *,
    batches: int,
    heap: str = _HEAP,
    options: str = "",
) -> Iterator[Run]:
    arguments: dict[str, str | int] = {
        "sizes": ",".join(str(rows) for rows in sizes),
        "changes": 1_000,
        "batches": batches,
        "partitions": 2,
    }
    for run in _each("querySizes", providers, arguments, heap):
        yield replace(run, options=options)


def _queries() -> Iterator[Run]:
    for query in QUERIES:
        for rows in _SIZES:
            arguments: dict[str, str | int] = {
                "query": query,
                "rows": rows,
                "changes": 1_000,
                "batches": 40,
                "partitions": 2,
            }
            yield from _each("queries", _BEST, arguments)


def evictions() -> Iterator[Run]:
    """Yield the runs of the group of evictions, what tells most first.

    HDFSBacked's join of ten million rows on a side would need more heap than 24 GiB allow.
    """
    for query in EVICTING:
        largest = (LARGEST,) if query in _EVICTING_LARGEST else ()
        sizes = (10_000, 1_000_000, 10_000_000, *largest)
        yield _evicting(HOLDFAST, query, sizes, heap=_LARGEST_HEAP, batches=60, warmUp=40)
    for query in IDLE_JOINS:
        idle: dict[str, str | int] = {
            "query": query,
            "rows": 1_000_000,
            "batches": 9,
            "warmUp": 10,
            "warmUpBatches": 3,
            "partitions": 2,
        }
        yield from (replace(run, group=EVICTIONS) for run in _each("idleJoins", _BEST, idle))
    for query in EVICTING:
        for provider in (HDFS, ROCKSDB):
            yield _evicting(provider, query, (10_000, 1_000_000), batches=16, warmUp=20)
    for query in EVICTING:
        for provider in (HDFS, ROCKSDB):
            if provider == ROCKSDB or "oin" not in query:
                yield _evicting(
                    *(provider, query, (10_000_000,)),
                    heap=_LARGEST_HEAP,
                    batches=4,
                    warmUp=0,
                    warmUpBatches=2,
                )


def _evicting(
    provider: str, query: str, sizes: Sequence[int], heap: str = _HEAP, **more: int
) -> Run:
    arguments: dict[str, str | int] = {
        "query": query,
        "sizes": ",".join(str(rows) for rows in sizes),
        "changes": 1_000,
        "partitions": 2,
        **more,
    }
    return Run("querySizes", provider, arguments, heap, group=EVICTIONS)
