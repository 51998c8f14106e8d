"""State variables of every kind, of which each row tells all."""

# Names and arguments of methods are Spark's.
# ruff: noqa: N802, N803, ARG002

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        StatefulProcessorHandle,
        TimerValues,
    )

_THREE_HOURS_MS = 3 * 3_600_000

_Key = tuple[str, ...]


class Diary(StatefulProcessor):
    """Keeps a value, a list, a map and timers of each key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._total = handle.getValueState("total", "n long, s long")
        self._values = handle.getListState("values", "v long")
        self._seen = handle.getMapState("seen", "v long", "n long")

    def handleInputRows(
        self, key: _Key, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        count, total = self._total.get() or (0, 0)
        latest = 0
        for frame in rows:
            for value, time in zip(frame["v"].tolist(), frame["t"], strict=True):
                count, total = count + 1, total + value
                latest = max(latest, int(time.timestamp() * 1000))
                self._seen.updateValue((value,), (self._times_seen(value) + 1,))
                self._values.appendValue((value,))
        self._total.update((count, total))
        self._handle.registerTimer(latest + _THREE_HOURS_MS)
        yield self._told(key)

    def handleExpiredTimer(
        self, key: _Key, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        yield self._told(key, f"expired {expiredTimerInfo.getExpiryTimeInMs()}, ")
        self._seen.clear()

    def close(self) -> None:
        """Keep nothing open."""

    def _times_seen(self, value: int) -> int:
        known = self._seen.getValue((value,)) if self._seen.containsKey((value,)) else None
        return known[0] if known else 0

    def _told(self, key: _Key, expired: str = "") -> pd.DataFrame:
        values = sorted(value for (value,) in self._values.get())
        seen = sorted((value, count) for (value,), (count,) in self._seen.iterator())
        timers = sorted(self._handle.listTimers())
        told = f"{expired}{self._total.get()}, {values}, {seen}, {timers}"
        return pd.DataFrame({"k": [key[0]], "told": [told]})
