"""The queries of `cases`, the same on every line.

Their source counts: what it gives depends on its offset alone, so a checkpoint has all that it
takes to go on, on any machine and in any folder. Each start of a query takes one batch of rows, an
hour of event time, and with a watermark another batch without rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState

_ROWS = 24
_HOUR_MS = 3_600_000
_HALF_AN_HOUR_MS = _HOUR_MS // 2


def _counted(spark: SparkSession) -> DataFrame:
    """Rows of a number, two keys and a time; they are as many in each batch."""
    options = {
        "rowsPerBatch": _ROWS,
        "numPartitions": 1,
        "startTimestamp": 0,
        "advanceMillisPerBatch": _HOUR_MS,
    }
    source = spark.readStream.format("rate-micro-batch").options(**options).load()
    return source.selectExpr(
        "value as id",
        "if(value % 11 = 4, null, concat('key ', value * value % 7)) as k",
        "value * 7 % 50 as n",
        "timestamp + make_interval(0, 0, 0, 0, 0, 0, value % 24 * 130) as t",
    )


def _timed(spark: SparkSession) -> DataFrame:
    return _counted(spark).withWatermark("t", "30 minutes")


def aggregation(spark: SparkSession) -> DataFrame:
    totals = F.count("*").alias("rows"), F.sum("id").alias("sum"), F.max("t").alias("newest")
    return _counted(spark).groupBy("k", F.expr("id % 2 as odd")).agg(*totals)


def objects(spark: SparkSession) -> DataFrame:
    """An aggregation whose state is lists."""
    return _counted(spark).groupBy("k").agg(F.collect_list("id").alias("all"))


def windows(spark: SparkSession) -> DataFrame:
    return _timed(spark).groupBy(F.window("t", "20 minutes"), "k").agg(F.count("*"), F.avg("id"))


def deduplication(spark: SparkSession) -> DataFrame:
    return _counted(spark).dropDuplicates(["n"])


def deduplication_by_time(spark: SparkSession) -> DataFrame:
    """Keys that go when their time has come."""
    times = _counted(spark).withColumn("t", F.expr("date_trunc('HOUR', t)"))
    return times.withWatermark("t", "30 minutes").dropDuplicates(["k", "t"])


def deduplication_within_watermark(spark: SparkSession) -> DataFrame:
    return _timed(spark).withColumn("m", F.expr("id % 30")).dropDuplicatesWithinWatermark(["m"])


def sessions(spark: SparkSession) -> DataFrame:
    return _timed(spark).groupBy(F.session_window("t", "9 minutes"), "k").agg(F.count("*"))


def join(spark: SparkSession) -> DataFrame:
    """Pairs within a range of time: four stores in each partition, and rows without a pair."""
    left, right = _timed(spark).alias("l"), _timed(spark).where("id % 3 <> 1").alias("r")
    near = "l.k = r.k and l.id <> r.id and r.t between l.t and l.t + interval 10 minutes"
    return left.join(right, F.expr(near), "left_outer")


def join_of_windows(spark: SparkSession) -> DataFrame:
    """Several operators in one query: two aggregations and a join by key."""
    window = F.window("t", "20 minutes")
    left, right = (
        _timed(spark).where(f"id % 3 <> {rest}").groupBy(window, "k").agg(F.sum("id").alias(name))
        for rest, name in ((1, "some"), (2, "others"))
    )
    return left.join(right, ["window", "k"], "full_outer")


def limit(spark: SparkSession) -> DataFrame:
    return _counted(spark).limit(5 * _ROWS // 2)


def groups(spark: SparkSession) -> DataFrame:
    """A state of a Python function's own, with a timeout."""
    keys = _timed(spark).groupBy("k")
    state = "rows long, name string"
    output = "k string, rows long, over boolean"
    return keys.applyInPandasWithState(_tally, output, state, "update", "EventTimeTimeout")


def diary(spark: SparkSession) -> DataFrame:
    """State of every kind that a processor keeps, and timers."""
    from mutations.diary import Diary  # of a class that older Sparks have not

    rows = _timed(spark).where("k is not null").selectExpr("k", "n as v", "t")
    return rows.groupBy("k").transformWithStateInPandas(
        Diary(), "k string, told string", "update", "eventTime"
    )


def _tally(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    rows = state.get[0] if state.exists else 0
    newest = state.getCurrentWatermarkMs()
    for frame in frames:
        rows += len(frame)
        newest = max(newest, int(frame["t"].max().timestamp() * 1000))
    over = state.hasTimedOut
    if over:
        state.remove()
    else:
        state.update((rows, f"the state of {key[0]}"))
        # Half of the keys are over before they come again.
        state.setTimeoutTimestamp(newest + (1 + rows % 2 * 9) * _HALF_AN_HOUR_MS)
    yield pd.DataFrame({"k": [key[0]], "rows": [rows], "over": [over]})
