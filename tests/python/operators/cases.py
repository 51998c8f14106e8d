"""The table of queries: every stateful operator of Spark's default provider, in every output mode,
and `transformWithState`, which Spark has on its RocksDB provider alone.

The queries themselves are functions of modules that this one names and does not import: the tests
read the table where there is no pyspark.

With their default provider Spark 4.2 and 4.3 store new aggregations in format 1 or 2, and new joins
in format 2 alone: 1 is for reading old checkpoints, and 3 and 4 need column families. The other
operators here have one format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec

from operators.plan import PROVIDERS, ROCKSDB, SPARK

# The first Spark that has `transformWithState` in Python, by what a processor gets and gives.
_FIRST_TRANSFORM = {"pandas": "4.0", "rows": "4.1"}
_SPARK = version("pyspark") if find_spec("pyspark") else max(_FIRST_TRANSFORM.values())

_STREAMING = "spark.sql.streaming"
_AGGREGATION_FORMAT_1 = {f"{_STREAMING}.aggregation.stateFormatVersion": "1"}
_SESSIONS_MERGED = {f"{_STREAMING}.sessionWindow.merge.sessions.in.local.partition": "true"}
# With batches that only look for timeouts a query without more data would never end.
_NO_EMPTY_BATCHES = {f"{_STREAMING}.noDataMicroBatches.enabled": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A query.

    Attributes:
        name: its name, of letters and hyphens.
        mode: its output mode.
        query: the function that makes it.
        module: where that function is.
        arguments: what the function takes after the inputs.
        settings: Spark settings for it alone.
        masked: field of the state's values that holds the time at which the query ran, if any.
        variables: its state variables, if it is a `transformWithState`.
        timers: whether it has timers whose time does not depend on when the query ran.
    """

    name: str
    mode: str
    query: str
    module: str = "operators.queries"
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    masked: str | None = None
    variables: tuple[str, ...] = ()
    timers: bool = False

    def provider_class(self, provider: str) -> str:
        """The class of `plan.HOLDFAST`, or for `plan.SPARK` of what Spark has."""
        return ROCKSDB if provider == SPARK and self.variables else PROVIDERS[provider]


def _in_modes(
    name: str, query: str, *modes: str, settings: Mapping[str, str] | None = None
) -> Iterator[Case]:
    for mode in modes:
        yield Case(name=f"{name}-{mode}", mode=mode, query=query, settings=settings or {})


def _aggregations() -> Iterator[Case]:
    yield from _in_modes("aggregation", "by_key", "update", "complete")
    yield from _in_modes("aggregation-1", "by_key", "update", settings=_AGGREGATION_FORMAT_1)
    yield from _in_modes("aggregation-of-objects", "lists", "update")
    yield from _in_modes("window", "tumbling", "append", "update", "complete")
    yield from _in_modes("window-1", "tumbling", "append", settings=_AGGREGATION_FORMAT_1)
    yield from _in_modes("sliding-window", "sliding", "append", "update")


def _selections() -> Iterator[Case]:
    yield from _in_modes("drop-duplicates", "distinct", "append", "update")
    yield from _in_modes("drop-duplicates-timed", "distinct_timed", "append", "update")
    yield from _in_modes("drop-duplicates-within-watermark", "distinct_for_a_while", "append")
    yield from _in_modes("limit", "limited", "append")


def _sessions() -> Iterator[Case]:
    yield from _in_modes("session", "sessions", "append", "complete")
    yield from _in_modes(
        "session-merged", "sessions", "append", "complete", settings=_SESSIONS_MERGED
    )
    yield from _in_modes("session-of-row-gap", "sessions_of_row_gap", "append")


def _joins() -> Iterator[Case]:
    for kind in ("inner", "left_outer", "right_outer", "full_outer", "left_semi"):
        name = f"join-{kind.replace('_', '-')}-append"
        yield Case(name=name, mode="append", query="joined", arguments=(kind,))
    yield from _in_modes("join-inner-unbounded", "joined_unbounded", "append")


def _several() -> Iterator[Case]:
    yield from _in_modes("windows-of-distinct", "windows_of_distinct", "append")
    yield from _in_modes("windows-of-windows", "windows_of_windows", "append")
    yield from _in_modes("windows-of-join", "windows_of_join", "append")
    yield from _in_modes("join-of-windows", "join_of_windows", "append")


def _pandas() -> Iterator[Case]:
    for timeout, mode in (("no", "update"), ("event-time", "append"), ("event-time", "update")):
        yield Case(
            name=f"pandas-{timeout}-timeout-{mode}",
            mode=mode,
            query="tallied",
            arguments=(timeout, mode),
        )
    yield Case(
        name="pandas-processing-time-timeout-update",
        mode="update",
        query="tallied",
        arguments=("processing-time", "update"),
        settings=_NO_EMPTY_BATCHES,
        masked="timeoutTimestamp",
    )


def _transforms() -> Iterator[Case]:
    several = (
        ("rows", "none", ""),
        ("rows", "eventTime", ""),
        ("rows", "processingTime", ""),
        ("rows", "to live", ""),
        ("rows", "eventTime", "begin"),
        ("pandas", "eventTime", ""),
        ("pandas", "to live", ""),
        ("pandas", "eventTime", "begin"),
    )
    for api, times, begin in several:
        if _FIRST_TRANSFORM[api] > _SPARK:
            continue
        by_clock = times in ("processingTime", "to live")
        name = "-".join(filter(None, ("transform", api, times.replace(" ", "-"), begin)))
        yield Case(
            name=name,
            mode="update",
            query="booked",
            module="operators.ledger",
            arguments=(api, times, begin),
            settings=_NO_EMPTY_BATCHES if by_clock else {},
            masked="ttlExpirationMs" if times == "to live" else None,
            variables=("total", "amounts", "signs"),
            timers=times == "eventTime",
        )


CASES: dict[str, Case] = {
    case.name: case
    for cases in (_aggregations, _selections, _sessions, _joins, _several, _pandas, _transforms)
    for case in cases()
}
