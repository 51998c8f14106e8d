"""State that a Python function keeps: `applyInPandasWithState`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql.streaming.state import GroupStateTimeout

from operators.inputs import Inputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.state import GroupState

_OUTPUT = "k string, rows long, sum long, timed_out boolean"
_STATE = "rows long, sum long"
_TIMEOUTS = {
    "no": GroupStateTimeout.NoTimeout,
    "event-time": GroupStateTimeout.EventTimeTimeout,
    "processing-time": GroupStateTimeout.ProcessingTimeTimeout,
}
_HALF_AN_HOUR_MS = 1_800_000


def tallied(inputs: Inputs, timeout: str, mode: str) -> DataFrame:
    """Count rows and sum `v` for each `k`, and begin anew when a key has timed out.

    Args:
        inputs: the sources.
        timeout: `no`; `event-time`: half an hour after the newest row of the key, or after the
            watermark if that is later; `processing-time`: in the first batch without rows of it.
        mode: the output mode of the query.
    """
    keys = inputs.timed().groupBy("k")
    return keys.applyInPandasWithState(_tally(timeout), _OUTPUT, _STATE, mode, _TIMEOUTS[timeout])


def _tally(timeout: str) -> Callable[..., Iterator[pd.DataFrame]]:
    def tally(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        rows, total = state.get if state.exists else (0, 0)
        newest = state.getCurrentWatermarkMs()
        for frame in frames:
            rows += len(frame)
            total += int(frame["v"].sum())
            if frame["t"].notna().any():
                newest = max(newest, int(frame["t"].max().timestamp() * 1000))
        timed_out = state.hasTimedOut
        if timed_out:
            state.remove()
        else:
            state.update((rows, total))
            if timeout == "event-time":
                state.setTimeoutTimestamp(newest + _HALF_AN_HOUR_MS)
            elif timeout == "processing-time":
                state.setTimeoutDuration(1)
        yield pd.DataFrame(
            {"k": [key[0]], "rows": [rows], "sum": [total], "timed_out": [timed_out]}
        )

    return tally
