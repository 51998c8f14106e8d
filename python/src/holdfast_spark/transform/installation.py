"""Puts the client into the sessions of this process."""

from __future__ import annotations

import importlib
import sys

from holdfast_spark._jars import installed_spark_version, spark_line
from holdfast_spark.transform._lines import LINES

_ROOM = "holdfast_spark.transform"


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
        from pyspark.sql.streaming import stateful_processor_util as util

        processor = importlib.import_module(f"{_ROOM}._processor")
    except ImportError:  # of pandas or pyarrow: Spark says so when a query needs them
        return False
    cloudpickle.register_pickle_by_value(sys.modules[_ROOM])
    util.TransformWithStateInPandasUdfUtils = processor.PipelinedTransform
    return True
