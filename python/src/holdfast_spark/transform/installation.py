"""Puts the client into the sessions of this process."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from holdfast_spark._jars import installed_spark_version, spark_line
from holdfast_spark.transform._lines import LINES

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

_ROOM = "holdfast_spark.transform"
_UTIL = "pyspark.sql.streaming.stateful_processor_util"

# The class of Spark while ours is in its place.
_replaced: list[type] = []


def install() -> bool:
    """Let `transformWithState` of this process take the client to its workers.

    A second call changes nothing, and where pyspark is of a line that the client was not held
    against, neither does the first.

    Returns:
        Whether it is there.
    """
    if spark_line(installed_spark_version()) not in LINES:
        return False
    util: Any = importlib.import_module(_UTIL)
    if util.TransformWithStateInPandasUdfUtils is not with_client:
        _replaced.append(util.TransformWithStateInPandasUdfUtils)
        util.TransformWithStateInPandasUdfUtils = with_client
    return True


def with_client(stateful_processor: StatefulProcessor, time_mode: str) -> Any:
    """Return what Spark sends to its workers for a query, with the client.

    It takes the place of Spark's class of that purpose, and imports what a session without such
    queries does not need. Where pyspark lacks what the client needs, it is Spark's.
    """
    from pyspark import cloudpickle

    try:
        processor = importlib.import_module(f"{_ROOM}._processor")
    except ImportError:  # of pandas or pyarrow: Spark says so when the query needs them
        return _replaced[-1](stateful_processor, time_mode)
    cloudpickle.register_pickle_by_value(sys.modules[_ROOM])  # type: ignore[no-untyped-call]
    return processor.PipelinedTransform(stateful_processor, time_mode)


def remove() -> None:
    """Let `transformWithState` of this process have Spark's client again, if it has not."""
    if _replaced:
        util: Any = importlib.import_module(_UTIL)
        util.TransformWithStateInPandasUdfUtils = _replaced.pop()
