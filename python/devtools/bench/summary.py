"""Tables of a full benchmark: a row for what tells a user something; the README has some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from devtools.bench.eviction_runs import SHOWN
from devtools.bench.results import Machine, Result, machines, rounded
from devtools.bench.run import HDFS, HOLDFAST, LARGEST, ROCKSDB, ROCKSDB_DEFAULTS
from devtools.bench.runs import LARGER_PAGES, SHORTEST_PAUSES

# What the table and the plots call who is measured.
COLUMNS = {
    HOLDFAST: "Holdfast",
    HDFS: "HDFSBacked",
    ROCKSDB: "RocksDB",
    ROCKSDB_DEFAULTS: "RocksDB, defaults",
}

_FLOOR = "no state"

_HEAD = f"| | {' | '.join((*COLUMNS.values(), _FLOOR))} |"

# The size of state that the README shows.
_ROWS_IN_README = 1_000_000

# A machine with others on it makes two runs of the same differ by this much (docs/benchmarks): the
# least of a row wins only where all others are further away.
_NOISE = 1.2

_MEAN = "batchWithMaintenanceMeanMillis"

# Of those in which rows expire; on the page of evictions all of them are.
_EVICTING = ("deduplicationByTime", "sessions", "join")


@dataclass(frozen=True, slots=True)
class Unit:
    """How a number is shown.

    Attributes:
        name: what follows it.
        scale: what it is multiplied by.
    """

    name: str
    scale: float = 1.0


_NANOS = Unit("ns")
_MICROS = Unit("us", 1e-3)
_MILLIS = Unit("ms")
_NANOS_IN_MILLIS = Unit("ms", 1e-6)
_SECONDS = Unit("s", 1e-3)
_BYTES = Unit("B")
_KILOBYTES = Unit("kB", 1e-3)
_PERCENT = Unit("%")
_TIMES = Unit("x")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    Attributes:
        text: what it shows; less is better in all rows.
        measure: the measurement.
        number: the name of its number.
        unit: how that is shown.
        arguments: what the measurement was told, as far as it tells it from others.
        options: options of the JVM.
        floor: the name of the number that the same takes without state.
        in_readme: whether it is one of the few that the README has, where Holdfast wins and where
            it does not.
    """

    text: str
    measure: str
    number: str
    unit: Unit
    arguments: dict[str, str | int] = field(default_factory=dict)
    options: str = ""
    floor: str = ""
    in_readme: bool = False

    def is_of(self, result: Result) -> bool:
        """Whether a result has the row's number."""
        run = result.run
        told = all(run.arguments.get(name) == value for name, value in self.arguments.items())
        told = told and run.arguments.get("query") == self.arguments.get("query")
        same = run.measure == self.measure and run.options == self.options and told
        return same and self.number in result.numbers


def markdown(results: Iterable[Result], *, for_readme: bool = False) -> str:
    """Return the table as Markdown, with those rows whose numbers were measured.

    The least number of a row is bold where the others are more than the noise above it. What the
    same takes without state has no part in that. A row says where it was measured if most were
    elsewhere.

    Args:
        results: what was measured.
        for_readme: only the rows that the README has.
    """
    chosen = [row for row in rows() if row.in_readme or not for_readme]
    return "".join(f"{line}\n" for line in _lines(list(results), chosen))


def with_table(text: str, table: str) -> str:
    """Return a page with this table in the place of the one that it has.

    Args:
        text: the page, with one table of a benchmark.
        table: the table as Markdown.
    """
    lines = text.splitlines(keepends=True)
    start = lines.index(f"{_HEAD}\n")
    end = next(i for i, line in enumerate(lines) if i > start and not line.startswith("|"))
    return "".join((*lines[:start], table, *lines[end:]))


def _lines(found: list[Result], chosen: Iterable[Row]) -> Iterator[str]:
    yield _HEAD
    yield "|---" + "|---:" * (len(COLUMNS) + 1) + "|"
    most = machines(found)[:1]
    for row in chosen:
        of_row: dict[str, Result] = {}
        for result in found:
            if row.is_of(result):
                of_row.setdefault(result.run.provider, result)
        if of_row:
            text = ", on ".join((row.text, *_elsewhere(of_row.values(), most)))
            numbers = {provider: result.numbers for provider, result in of_row.items()}
            yield f"| {text} | {' | '.join(_cells(row, numbers))} |"


# The providers of a row are measured on one machine (`bench`).
def _elsewhere(of_row: Iterable[Result], most: list[Machine]) -> list[str]:
    return [machine.cpu for machine in machines(of_row) if machine not in most]


def _cells(row: Row, found: dict[str, dict[str, float]]) -> Iterator[str]:
    numbers = {provider: of_provider[row.number] for provider, of_provider in found.items()}
    for provider in COLUMNS:
        value = numbers.get(provider)
        if value is None:
            yield ""
            continue
        text = _shown(row.unit, value)
        others = [number for other, number in numbers.items() if other != provider]
        # One alone has nobody to win against.
        wins = bool(others) and value * _NOISE < min(others)
        yield f"**{text}**" if wins else text
    # Every provider was measured beside it; the one of Holdfast stands for all.
    floor = found.get(HOLDFAST, {}).get(row.floor)
    yield "" if floor is None else _shown(row.unit, floor)


def _shown(unit: Unit, value: float) -> str:
    return f"{rounded(value * unit.scale, digits=3)} {unit.name}"


def rows() -> Iterator[Row]:
    """Yield the rows of the table."""
    yield from _operation_rows()
    yield from _batch_rows()
    yield from _memory_rows()
    yield from _recovery_rows()
    yield from _largest_rows()


def _operation_rows() -> Iterator[Row]:
    million: dict[str, str | int] = {"kind": "small", "rows": 1_000_000}
    for text, number, unit in (
        ("`get`, the key is there, 1 M rows", "getHitNanos", _NANOS),
        ("`get`, the key is not there", "getMissNanos", _NANOS),
        ("`put`, another value of a key", "putOverwriteNanos", _NANOS),
        ("`put`, a new key", "putNewNanos", _NANOS),
        ("`remove`", "removeNanos", _NANOS),
        ("iteration, a row", "iterateNanos", _NANOS),
        ("`commit` of 100,000 changes", "commitNanos", _NANOS_IN_MILLIS),
        ("open for writing, after a commit", "openForWriteNanos", _NANOS_IN_MILLIS),
        ("open for reading", "openForReadNanos", _NANOS_IN_MILLIS),
    ):
        in_readme = number == "commitNanos"
        yield Row(text, "operations", number, unit, million, in_readme=in_readme)
    for text, number in (
        ("`put` with its share of a commit of 100,000, 1 M rows", "putWithCommitNanos"),
        ("`remove` with its share of a commit of 100,000, 1 M rows", "removeWithCommitNanos"),
    ):
        yield Row(text, "commits", number, _NANOS, million, in_readme=True)
    grouped: dict[str, str | int] = {**million, "kind": "grouped"}
    yield Row("prefix scan of 10 rows", "operations", "prefixScanNanos", _MICROS, grouped)
    yield Row("`put` in a store that is scanned", "operations", "putNewNanos", _NANOS, grouped)


def _batch_rows() -> Iterator[Row]:
    for rows, text in (
        (10_000, "10,000"),
        (1_000_000, "1 M"),
        (10_000_000, "10 M"),
        (LARGEST, "50 M"),
    ):
        arguments: dict[str, str | int] = {"rows": rows, "changes": 1_000}
        words = f"1,000 changes, {text} rows: open to commit, median"
        in_readme = rows == _ROWS_IN_README
        yield Row(*(words, "batches", "batchMedianMillis", _MILLIS, arguments), in_readme=in_readme)
        if rows == LARGEST:
            words = f"the same with `{LARGER_PAGES}`"
            number = "batchMedianMillis"
            yield Row(words, "batches", number, _MILLIS, arguments, LARGER_PAGES)
        words = "with its share of maintenance, mean"
        yield Row(words, "batches", _MEAN, _MILLIS, arguments)
    million: dict[str, str | int] = {"rows": 1_000_000, "changes": 1_000}
    words = "written for 1,000 changes, 1 M rows, snapshots included"
    yield Row(words, "batches", "writtenBytesPerBatch", _KILOBYTES, million)
    many: dict[str, str | int] = {"rows": 1_000_000, "changes": 100_000}
    words = "100,000 changes, 1 M rows: open to commit, median"
    yield Row(words, "batches", "batchMedianMillis", _MILLIS, many)
    yield from _query_rows()


def _query_rows() -> Iterator[Row]:
    multiple = "as a multiple of the same without state"
    for rows, text, options in (
        (10_000, "10,000 rows", ""),
        (1_000_000, "1 M rows", ""),
        (LARGEST, "50 M rows", ""),
        (LARGEST, f"50 M rows, `{LARGER_PAGES}`", LARGER_PAGES),
    ):
        words = f"batch of a query, aggregation, 1,000 changes, {text}"
        batch = f"batchMillisAt{rows}"
        in_readme = rows == _ROWS_IN_README
        yield Row(
            *(words, "querySizes", batch, _MILLIS),
            options=options,
            floor="floorMillis",
            in_readme=in_readme,
        )
        for words, number, unit in (
            (multiple, f"timesFloorAt{rows}", _TIMES),
            ("calls of its stores, both tasks together", f"storeMillisAt{rows}", _MILLIS),
        ):
            yield Row(words, "querySizes", number, unit, options=options)
    for query in _EVICTING:
        evicting: dict[str, str | int] = {"query": query}
        words = f"batch of a query, {SHOWN[query]}, 1,000 rows come and as many expire, 1 M rows"
        batch, floor = "batchMillisAt1000000", "floorMillis"
        yield Row(*(words, "querySizes", batch, _MILLIS, evicting), floor=floor, in_readme=True)
        yield Row(multiple, "querySizes", "timesFloorAt1000000", _TIMES, evicting)


def _memory_rows() -> Iterator[Row]:
    for versions, text in ((1, "one version"), (2, "two versions")):
        arguments: dict[str, str | int] = {"kind": "small", "rows": 1_000_000, "versions": versions}
        words = f"heap for a row of 40 bytes, {text} held, all rows rewritten"
        in_readme = versions > 1
        yield Row(*(words, "footprint", "heapBytesPerRow", _BYTES, arguments), in_readme=in_readme)
    for options, collector in ((SHORTEST_PAUSES, "ZGC"), ("", "G1")):
        for text, number, unit in (
            ("longest pause", "gcLongestPauseMillis", _MILLIS),
            ("share of the time in its pauses", "gcSharePercent", _PERCENT),
            ("longest batch", "batchMaxMillis", _MILLIS),
            ("a batch with its share of maintenance, mean", _MEAN, _MILLIS),
        ):
            words = f"batches without a break for ten minutes, {collector}: {text}"
            yield Row(words, "steady", number, unit, options=options)
    for files, manager in (("spark", "Spark's file manager"), ("holdfast", "Holdfast's")):
        beside: dict[str, str | int] = {"changes": 20, "partitions": 1, "files": files}
        words = f"commit of 20 changes, 600,000 rows, longest of 600 beside the median, {manager}"
        yield Row(words, "snapshotsBeside", "longestTimesMedian", _TIMES, beside)


def _recovery_rows() -> Iterator[Row]:
    for deltas, changes, text in (
        (0, 1_000, "a snapshot of 1 M rows"),
        (50, 20_000, "it and 50 deltas of 20,000"),
        (500, 1_000, "it and 500 deltas of 1,000"),
    ):
        arguments: dict[str, str | int] = {
            "rows": 1_000_000,
            "deltas": deltas,
            "changes": changes,
        }
        row = (f"load {text}", "recovery", "loadMedianMillis", _MILLIS, arguments)
        yield Row(*row, in_readme=not deltas)


def _largest_rows() -> Iterator[Row]:
    large: dict[str, str | int] = {"rows": LARGEST}
    yield Row("heap for a row, 50 M rows", "footprint", "heapBytesPerRow", _BYTES, large)
    words = "restart: load a snapshot of 50 M rows and 10 deltas"
    yield Row(words, "recovery", "loadMedianMillis", _SECONDS, large)
