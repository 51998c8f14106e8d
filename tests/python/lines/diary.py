"""A processor of a query's own state, on the Spark lines that have `transformWithStateInPandas`."""

# Names and arguments of methods are Spark's.
# ruff: noqa: N802, N803, ARG002

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

_HALF_AN_HOUR_MS = 1_800_000


class Diary(StatefulProcessor):
    """Keeps state of every kind: a total, the newest rows, the rows by remainder, and a timer."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._total = handle.getValueState("total", "rows long, name string")
        self._newest = handle.getListState("newest", "id long")
        self._last = handle.getMapState("last", "rest long", "id long")

    def handleInputRows(
        self, key: tuple[Any, ...], rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        frame = pd.concat(rows).sort_values("id")
        ids = [int(each) for each in frame["id"]]
        total = len(ids) + (self._total.get() or (0,))[0]
        self._total.update((total, f"the state of {key[0]}"))
        if total % 3:
            self._newest.appendList([(each,) for each in ids])
        else:
            self._newest.put([(each,) for each in ids])
        for each in ids:
            self._last.updateValue((each % 5,), (each,))
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        newest = int(frame["t"].max().timestamp() * 1000)
        # Half of the keys are over before they come again.
        self._handle.registerTimer(newest + (1 + total % 2 * 9) * _HALF_AN_HOUR_MS)
        yield self._told(key, over=False)

    def handleExpiredTimer(
        self, key: tuple[Any, ...], timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        yield self._told(key, over=True)
        self._total.clear()
        self._newest.clear()
        self._last.clear()

    def close(self) -> None:
        pass

    def _told(self, key: tuple[Any, ...], *, over: bool) -> pd.DataFrame:
        newest = [each for (each,) in self._newest.get()]
        last = sorted((rest, each) for (rest,), (each,) in self._last.iterator())
        told = f"{self._total.get()} {newest} {last}"
        return pd.DataFrame({"k": [key[0]], "told": [told], "over": [over]})
