"""The query that `expected` tells the results of, in Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from soak.events import (
    DELAY_SECONDS,
    GENERATION_SECONDS,
    LEAST_ROWS,
    SPREAD_SECONDS,
    START_SECONDS,
    WINDOW_SECONDS,
    Events,
)
from soak.sources import Stream


def streamed(spark: SparkSession, stream: Stream, events: Events) -> DataFrame:
    """Return the query on a stream."""
    reader = spark.readStream.format(stream["format"]).options(**stream["options"])
    if stream["schema"]:
        reader = reader.schema(stream["schema"])
    return counted(reader.load().selectExpr(f"{stream['value']} as value"), events)


def batched(spark: SparkSession, numbers: str, events: Events) -> DataFrame:
    """Return the same computation, in one go, of the numbers in a file, one in each line."""
    return counted(spark.read.schema("value long").csv(numbers), events)


def counted(numbers: DataFrame, events: Events) -> DataFrame:
    """Return the counts of the events that numbered rows bring."""
    rows = events.rows
    place = numbers.selectExpr(f"value div {rows} as generation", f"value % {rows} as row")
    present = place.where(f"row < {_size('generation', events)}")
    again = f"row % 5 = 4 and generation > 0 and row - 4 < {_size('generation - 1', events)}"
    came = present.selectExpr(
        f"if({again}, generation - 1, generation) as generation",
        f"case when {again} then row - 4 when row % 5 = 3 then row - 1 else row end as row",
    )
    second = f"{START_SECONDS} + {GENERATION_SECONDS} * generation + row % {SPREAD_SECONDS}"
    timed = came.selectExpr(
        *("generation", "row", f"timestamp_seconds({second}) as time"),
        f"row % ({_size('generation', events)} div 2 + 1) as word",
        "3 * row + generation as amount",
    )
    once = timed.withWatermark("time", f"{DELAY_SECONDS} seconds").dropDuplicates(
        ["generation", "row", "time"]
    )
    counts = once.groupBy(F.window("time", f"{WINDOW_SECONDS} seconds"), "word").agg(
        F.count("*").alias("times"), F.sum("amount").alias("total")
    )
    second_of_window = F.unix_timestamp("window.start").alias("second")
    return counts.select(second_of_window, "word", "times", "total")


def _size(generation: str, events: Events) -> str:
    """The number of rows of a generation, as SQL."""
    phase = f"(({generation}) % {events.cycle})"
    climbed = f"least({phase}, {events.cycle} - {phase})"
    steps = 1 + events.cycle // 2
    return f"greatest({LEAST_ROWS}, ({events.rows} * (1 + {climbed})) div {steps})"
