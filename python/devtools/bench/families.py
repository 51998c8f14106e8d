"""The page of a full benchmark about stores with column families: `transformWithState`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devtools.bench.drawing import rows_text
from devtools.bench.family_runs import FAMILIES, KEYS, TRANSFORMS
from devtools.bench.results import Result, measured, rounded
from devtools.bench.run import HOLDFAST, ROCKSDB
from devtools.bench.tables import table

_STATES = {
    "valueState": "value, read and updated",
    "listState": "list, read, and a value appended",
    "mapState": "map, a value read and updated",
    "timers": "value and timer, as many fire as come",
}
_OPERATIONS = (
    ("a value appended to a list of 10", "listAppendNanos"),
    ("in a batch", "listAppendBatchNanos"),
    ("a list of 10 values read", "listRead10Nanos"),
    ("a list of 1,000 values read", "listRead1000Nanos"),
    ("a value of a map updated", "mapUpdateNanos"),
    ("in a batch", "mapUpdateBatchNanos"),
    ("100 rows of a range read", "rangeScan100Nanos"),
    ("a timer found, and removed", "timerNanos"),
    ("in a batch", "timerBatchNanos"),
    ("a value found whose time to live ends, and removed", "timeToLiveNanos"),
    ("in a batch", "timeToLiveBatchNanos"),
)
_OPERATIONS_HEAD = ("1 M rows, us", "Holdfast", "RocksDB", "times Holdfast")
_QUERIES_HEAD = (
    "state of a key",
    "keys",
    "Holdfast",
    "no state",
    "times no state",
    "RocksDB",
    "times Holdfast",
    "in stores: Holdfast",
    "RocksDB",
)


def markdown(results: Iterable[Result]) -> str:
    """Return the page, with those rows whose numbers were measured; nothing if there are none."""
    found = [result for result in results if result.run.group == FAMILIES]
    if not found:
        return ""
    return "\n".join(
        (
            "# transformWithState",
            "",
            "What state variables and timers do with a store of a million rows, in microseconds; "
            "medians of rounds of 100,000. In a batch is a share of the whole: open, the "
            "operations, commit. A list of 1 M rows is 100,000 keys with ten values, or 1,000 with "
            "a thousand.",
            "",
            measured(found),
            "",
            *table(_OPERATIONS_HEAD, _operations(found)),
            "",
            "A batch of 1,000 changes of a query in Scala, in milliseconds; means of the middle "
            "half. Sizes of a provider and the same query without state take turns in one JVM. "
            "Time in stores is that of both tasks together. Without state no timer fires: to call "
            "the function of a timer is no part of the same without state.",
            "",
            *table(_QUERIES_HEAD, _queries(found)),
            "",
        )
    )


def _operations(found: list[Result]) -> Iterator[list[str]]:
    numbers = {
        result.run.provider: result.numbers
        for result in found
        if result.run.measure == "familyOperations"
    }
    for text, number in _OPERATIONS:
        ours, theirs = (numbers.get(each, {}).get(number) for each in (HOLDFAST, ROCKSDB))
        if ours is not None or theirs is not None:
            yield [text, _cell(ours, 1e-3), _cell(theirs, 1e-3), _times(theirs, ours)]


def _queries(found: list[Result]) -> Iterator[list[str]]:
    for query in TRANSFORMS:
        for keys in KEYS:
            numbers = {
                result.run.provider: result.numbers
                for result in found
                if result.run.arguments.get("query") == query
                and f"batchMillisAt{keys}" in result.numbers
            }
            if not numbers:
                continue
            ours, theirs = (numbers.get(each, {}) for each in (HOLDFAST, ROCKSDB))
            batch, store = f"batchMillisAt{keys}", f"storeMillisAt{keys}"
            yield [
                _STATES[query],
                rows_text(keys),
                _cell(ours.get(batch)),
                _cell(ours.get("floorMillis")),
                _cell(ours.get(f"timesFloorAt{keys}")),
                _cell(theirs.get(batch)),
                _times(theirs.get(batch), ours.get(batch)),
                _cell(ours.get(store)),
                _cell(theirs.get(store)),
            ]


def _times(theirs: float | None, ours: float | None) -> str:
    return "" if theirs is None or not ours else _cell(theirs / ours)


def _cell(value: float | None, scale: float = 1.0) -> str:
    return "" if value is None else rounded(value * scale, digits=3)
