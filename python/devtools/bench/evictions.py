"""The page of a full benchmark about queries in which as many rows leave the state as come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devtools.bench.drawing import rows_text
from devtools.bench.eviction_runs import EVICTING, EVICTIONS, IDLE_JOINS
from devtools.bench.results import Result, measured, rounded
from devtools.bench.run import HDFS, HOLDFAST, ROCKSDB, ROCKSDB_JOIN_4
from devtools.bench.tables import table

_NAMES = {
    "deduplication": "deduplication within watermark",
    "deduplicationByTime": "deduplication by time",
    "windows": "windows, append mode",
    "windowsInUpdate": "windows, update mode",
    "sessions": "session windows",
    "join": "inner join by value",
    "outerJoin": "left outer join by value",
    "timeouts": "flatMapGroupsWithState, event-time timeouts",
    "joinByKey": "join by key",
    "joinOfGroups": "join by value, 20 rows a key",
    "joinOfGroupsByKey": "join by key, 20 rows a key",
}
_PEERS = (HDFS, ROCKSDB, ROCKSDB_JOIN_4)
_SIZES = (10_000, 1_000_000, 10_000_000, 50_000_000)

_QUERIES_HEAD = (
    "query",
    "rows",
    "Holdfast",
    "no state",
    "times no state",
    "HDFSBacked",
    "RocksDB",
    "join format 4",
    "in stores: Holdfast",
    "HDFSBacked",
    "RocksDB",
    "join format 4",
    "removed",
    "looked at",
)
_IDLE_HEAD = ("join, 1 M rows a side", "Holdfast", "HDFSBacked", "RocksDB", "join format 4")


def markdown(results: Iterable[Result]) -> str:
    """Return the page, with those rows whose numbers were measured; nothing if there are none."""
    found = [result for result in results if result.run.group == EVICTIONS]
    if not found:
        return ""
    return "\n".join(
        (
            "# Batches in which rows expire",
            "",
            "A batch of 1,000 new rows, in which about as many expire, in milliseconds; means of "
            "the middle half. Sizes of Holdfast and the same query without state take turns in "
            "one JVM, those of others in theirs. Time in stores is that of both tasks together. "
            "Rows looked at are those that Holdfast read to find the removed ones. Join format 4 "
            "is RocksDB with that format of joins, whose rows lie in the order of time. Without "
            "state nothing expires: what a query does with expired rows, such as calling its "
            "function for groups that have timed out, is no part of the same without state.",
            "",
            measured(found),
            "",
            *table(_QUERIES_HEAD, _queries(found)),
            "",
            "What a side of a join takes in a batch in which nothing expires, in milliseconds, all "
            "tasks together; medians.",
            "",
            *table(_IDLE_HEAD, _idle_joins(found)),
            "",
        )
    )


def _queries(found: list[Result]) -> Iterator[list[str]]:
    for query in EVICTING:
        for rows in _SIZES:
            numbers = {
                provider: _numbers(found, "querySizes", provider, query, f"batchMillisAt{rows}")
                for provider in (HOLDFAST, *_PEERS)
            }
            ours = numbers[HOLDFAST]
            if not any(numbers.values()):
                continue
            yield [
                _NAMES[query],
                rows_text(rows),
                _cell(ours, f"batchMillisAt{rows}"),
                _cell(ours, "floorMillis"),
                _cell(ours, f"timesFloorAt{rows}"),
                *(_cell(numbers[peer], f"batchMillisAt{rows}") for peer in _PEERS),
                *(_cell(each, f"storeMillisAt{rows}") for each in numbers.values()),
                _cell(ours, f"removedRowsAt{rows}"),
                _cell(ours, f"lookedAtRowsAt{rows}"),
            ]


def _idle_joins(found: list[Result]) -> Iterator[list[str]]:
    for query in IDLE_JOINS:
        cells = [
            _cell(_numbers(found, "idleJoins", provider, query, "sideMillis"), "sideMillis")
            for provider in (HOLDFAST, *_PEERS)
        ]
        if any(cells):
            yield [_NAMES[query], *cells]


def _numbers(
    found: list[Result], measure: str, provider: str, query: str, number: str
) -> dict[str, float]:
    """Return the numbers of the run that has one of them; none if it was not measured."""
    return next(
        (
            result.numbers
            for result in found
            if (result.run.measure, result.run.provider) == (measure, provider)
            and result.run.arguments["query"] == query
            and number in result.numbers
        ),
        {},
    )


def _cell(numbers: dict[str, float], name: str) -> str:
    value = numbers.get(name)
    return "" if value is None else rounded(value, digits=3)
