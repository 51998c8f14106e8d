"""The queries of `cases`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from operators.inputs import Inputs
from operators.tally import tallied

__all__ = ["tallied"]


def _totals() -> tuple[Column, ...]:
    return (
        F.count("*").alias("rows"),
        F.sum("v").alias("sum"),
        F.avg("v").alias("mean"),
        F.min("t").alias("first"),
        F.max("v").alias("most"),
    )


def by_key(inputs: Inputs) -> DataFrame:
    return inputs.plain().groupBy("k").agg(*_totals(), F.approx_count_distinct("t").alias("times"))


def lists(inputs: Inputs) -> DataFrame:
    return inputs.plain().groupBy("k").agg(F.collect_list("v").alias("all"))


def tumbling(inputs: Inputs) -> DataFrame:
    return inputs.timed().groupBy(F.window("t", "20 minutes"), "k").agg(*_totals())


def sliding(inputs: Inputs) -> DataFrame:
    return inputs.timed().groupBy(F.window("t", "30 minutes", "10 minutes")).agg(*_totals())


def distinct(inputs: Inputs) -> DataFrame:
    return inputs.plain().dropDuplicates(["k", "v"])


def distinct_timed(inputs: Inputs) -> DataFrame:
    return inputs.timed().dropDuplicates(["k", "t"])


def distinct_for_a_while(inputs: Inputs) -> DataFrame:
    return inputs.timed().dropDuplicatesWithinWatermark(["k"])


def limited(inputs: Inputs) -> DataFrame:
    """The limit is reached in the fourth batch."""
    return inputs.plain().limit(200)


def sessions(inputs: Inputs) -> DataFrame:
    return inputs.timed().groupBy(F.session_window("t", "3 minutes"), "k").agg(*_totals())


def sessions_of_row_gap(inputs: Inputs) -> DataFrame:
    gap = F.when(F.col("v") > 0, "2 minutes").otherwise("7 minutes")
    return inputs.timed().groupBy(F.session_window("t", gap), "k").agg(F.count("*").alias("rows"))


def joined(inputs: Inputs, kind: str) -> DataFrame:
    left, right = inputs.timed("left").alias("l"), inputs.timed("right", "10 minutes").alias("r")
    near = F.expr(
        "l.k = r.k and l.v <> r.v"
        " and l.t between r.t - interval 4 minutes and r.t + interval 2 minutes"
    )
    return left.join(right, near, kind)


def joined_unbounded(inputs: Inputs) -> DataFrame:
    left, right = inputs.plain("left").alias("l"), inputs.plain("right").alias("r")
    return left.join(right, F.expr("l.k = r.k and l.v = r.v"))


def windows_of_distinct(inputs: Inputs) -> DataFrame:
    rows = inputs.timed().dropDuplicates(["k", "t"])
    return rows.groupBy(F.window("t", "20 minutes"), "k").agg(*_totals())


def windows_of_windows(inputs: Inputs) -> DataFrame:
    small = inputs.timed().groupBy(F.window("t", "5 minutes"), "k").agg(F.count("*").alias("rows"))
    hour = small.groupBy(F.window(F.window_time("window"), "1 hour"), "k")
    return hour.agg(F.max("rows").alias("most"), F.sum("rows").alias("rows"))


def windows_of_join(inputs: Inputs) -> DataFrame:
    pairs = joined(inputs, "left_outer").select("l.k", "l.t", F.col("r.v").alias("v"))
    hours = pairs.groupBy(F.window("t", "1 hour"), "k")
    return hours.agg(F.count("*").alias("rows"), F.sum("v").alias("sum"))


def join_of_windows(inputs: Inputs) -> DataFrame:
    def windows(source: str) -> DataFrame:
        window = F.window("t", "20 minutes")
        return inputs.timed(source).groupBy(window, "k").agg(F.sum("v").alias(source))

    return windows("left").join(windows("right"), ["window", "k"], "full_outer")
