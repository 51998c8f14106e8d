"""Puts the client into the sessions of this process."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from holdfast_spark._jars import installed_spark_version, spark_line
from holdfast_spark.transform._lines import LINES

_ROOM = "holdfast_spark.transform"
_UTIL = "pyspark.sql.streaming.stateful_processor_util"

# The class of Spark while ours is in its place.
_replaced: list[type] = []


def install() -> bool:
    """Let `transformWithState` of this process take the client to its workers.

    A second call changes nothing. Where pyspark is of a line that the client was not held against,
    or lacks what its own client needs, nothing changes at all.

    Returns:
        Whether it is there.
    """
    if spark_line(installed_spark_version()) not in LINES:
        return False
    from pyspark import cloudpickle

    try:
        util: Any = importlib.import_module(_UTIL)
        processor = importlib.import_module(f"{_ROOM}._processor")
    except ImportError:  # of pandas or pyarrow: Spark says so when a query needs them
        return False
    cloudpickle.register_pickle_by_value(sys.modules[_ROOM])  # type: ignore[no-untyped-call]
    if util.TransformWithStateInPandasUdfUtils is not processor.PipelinedTransform:
        _replaced.append(util.TransformWithStateInPandasUdfUtils)
        util.TransformWithStateInPandasUdfUtils = processor.PipelinedTransform
    return True


def remove() -> None:
    """Let `transformWithState` of this process have Spark's client again, if it has not."""
    if _replaced:
        util: Any = importlib.import_module(_UTIL)
        util.TransformWithStateInPandasUdfUtils = _replaced.pop()
