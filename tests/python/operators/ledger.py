"""State that a Python processor keeps: `transformWithState` and `transformWithStateInPandas`."""

# Names and arguments of methods are Spark's.
# ruff: noqa: N802, N803, ARG002

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timezone
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from operators.inputs import Inputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        StatefulProcessorHandle,
        TimerValues,
    )

_OUTPUT = "k string, rows long, sum long, told string, closed boolean"
_NAMES = ("k", "rows", "sum", "told", "closed")
_OPENING = "k string, opening long"
_HALF_AN_HOUR_MS = 1_800_000

EVENT_TIME = "eventTime"
PROCESSING_TIME = "processingTime"
TO_LIVE = "to live"
_TIME_MODES = {TO_LIVE: PROCESSING_TIME}

Booking = tuple[int, int | None]
"""An amount, and its event time in milliseconds."""

Key = tuple[str | None, ...]
"""The columns of a grouping key."""


def booked(inputs: Inputs, api: str, times: str, begin: str = "") -> DataFrame:
    """Book the amounts `v` of each `k` in state of every kind.

    Args:
        inputs: the sources.
        api: `rows` or `pandas`.
        times: `none`; `eventTime`: a key is closed half an hour after its newest row;
            `processingTime`: in the batch after one with rows of it; `to live`: what is booked
            lives for one batch.
        begin: whether there is something booked before the first row.
    """
    keys = inputs.timed().groupBy("k")
    openings = [("ada", 7), ("bob", -7), ("nobody", 6)]
    start = inputs.spark.createDataFrame(openings, _OPENING).groupBy("k") if begin else None
    mode = _TIME_MODES.get(times, times)
    if api == "rows":
        return keys.transformWithState(RowLedger(times), _OUTPUT, "update", mode, start)
    return keys.transformWithStateInPandas(PandasLedger(times), _OUTPUT, "update", mode, start)


class _Ledger(StatefulProcessor):
    def __init__(self, times: str) -> None:
        self._times = times

    def init(self, handle: StatefulProcessorHandle) -> None:
        # What a batch has written has expired in the next one, whose time is later.
        to_live = 1 if self._times == TO_LIVE else None
        self._handle = handle
        self._total = handle.getValueState("total", "rows long, sum long", to_live)
        self._amounts = handle.getListState("amounts", "v long", to_live)
        self._signs = handle.getMapState("signs", "sign string", "v long, at long", to_live)

    def begin(self, opening: int, timers: TimerValues) -> None:
        self._total.update((1, opening))
        self._amounts.put([(opening,)])
        self._signs.updateValue(("opening",), (opening, 0))
        if self._times == EVENT_TIME:
            self._handle.registerTimer(timers.getCurrentWatermarkInMs() + 1)

    def book(self, bookings: Iterable[Booking], timers: TimerValues) -> tuple[Any, ...]:
        sorted_ones = sorted(bookings, key=str)
        rows, total = self._total.get() or (0, 0)
        amounts = [(amount,) for amount, _ in sorted_ones]
        self._total.update((rows + len(amounts), total + sum(amount for amount, _ in sorted_ones)))
        if rows % 3 == 2:
            self._amounts.put(amounts)
        elif rows % 3 == 1:
            self._amounts.appendList(amounts)
        else:
            self._amounts.appendValue(amounts[0])
        for amount, at in sorted_ones:
            sign = ("-" if amount < 0 else "+",)
            if amount % 7 == 3 and self._signs.containsKey(sign):
                self._signs.removeKey(sign)
            else:
                self._signs.updateValue(sign, (amount, at))
        self._await_end([at for _, at in sorted_ones if at is not None], timers)
        return self._told(closed=False)

    def close_key(self) -> tuple[Any, ...]:
        told = self._told(closed=True)
        self._total.clear()
        self._amounts.clear()
        self._signs.clear()
        return told

    def _await_end(self, times: list[int], timers: TimerValues) -> None:
        if self._times == EVENT_TIME:
            end = max([*times, timers.getCurrentWatermarkInMs()]) + _HALF_AN_HOUR_MS
        elif self._times == PROCESSING_TIME:
            end = timers.getCurrentProcessingTimeInMs() + 1
        else:
            return
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        self._handle.registerTimer(end)

    def _told(self, *, closed: bool) -> tuple[Any, ...]:
        rows, total = self._total.get() or (0, 0)
        amounts = [tuple(amount) for amount in self._amounts.get()]
        signs = sorted((tuple(sign), tuple(last)) for sign, last in self._signs.iterator())
        return rows, total, f"{amounts} {signs}", closed


class RowLedger(_Ledger):
    """Gets and gives rows."""

    def handleInputRows(
        self,
        key: Key,
        rows: Iterator[Row],
        timerValues: TimerValues,
    ) -> Iterator[Row]:
        bookings = [
            (row.v or 0, row.t and int(row.t.replace(tzinfo=timezone.utc).timestamp() * 1000))
            for row in rows
        ]
        yield _row(key, self.book(bookings, timerValues))

    def handleExpiredTimer(
        self,
        key: Key,
        timerValues: TimerValues,
        expiredTimerInfo: ExpiredTimerInfo,
    ) -> Iterator[Row]:
        yield _row(key, self.close_key())

    def handleInitialState(
        self,
        key: Key,
        initialState: Row,
        timerValues: TimerValues,
    ) -> None:
        self.begin(initialState.opening, timerValues)


class PandasLedger(_Ledger):
    """Gets and gives pandas frames."""

    def handleInputRows(
        self,
        key: Key,
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,
    ) -> Iterator[pd.DataFrame]:
        bookings = [
            (0 if pd.isna(v) else int(v), None if pd.isna(t) else int(t.timestamp() * 1000))
            for frame in rows
            for v, t in zip(frame["v"], frame["t"], strict=True)
        ]
        yield _frame(key, self.book(bookings, timerValues))

    def handleExpiredTimer(
        self,
        key: Key,
        timerValues: TimerValues,
        expiredTimerInfo: ExpiredTimerInfo,
    ) -> Iterator[pd.DataFrame]:
        yield _frame(key, self.close_key())

    def handleInitialState(
        self,
        key: Key,
        initialState: pd.DataFrame,
        timerValues: TimerValues,
    ) -> None:
        self.begin(int(initialState["opening"].iloc[0]), timerValues)


def _row(key: Key, told: tuple[Any, ...]) -> Row:
    return Row(**dict(zip(_NAMES, (key[0], *told), strict=True)))


def _frame(key: Key, told: tuple[Any, ...]) -> pd.DataFrame:
    # A null key comes as a NaN, of which alone there would be a column of floats.
    return pd.DataFrame([(key[0], *told)], columns=_NAMES, dtype=object)
