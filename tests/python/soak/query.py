"""The query that `events` tells the results of, in Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from soak.events import (
    BATCH_SECONDS,
    DELAY_SECONDS,
    LEAST_ROWS,
    SPREAD_SECONDS,
    START_SECONDS,
    WINDOW_SECONDS,
    Events,
)


def streamed(spark: SparkSession, events: Events) -> DataFrame:
    """Return the query on a stream in which each batch has the next rows."""
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", events.rows)
    return counted(numbers.option("numPartitions", 2).load(), events)


def batched(spark: SparkSession, events: Events, batches: int) -> DataFrame:
    """Return the same computation, in one go, of the rows of that many batches."""
    return counted(spark.range(batches * events.rows).withColumnRenamed("id", "value"), events)


def counted(numbers: DataFrame, events: Events) -> DataFrame:
    """Return the counts of the events that numbered rows bring."""
    place = numbers.selectExpr(f"value div {events.rows} as batch", f"value % {events.rows} as row")
    rows = place.where(f"row < {_size('batch', events)}")
    again = f"row % 5 = 4 and batch > 0 and row - 4 < {_size('batch - 1', events)}"
    came = rows.selectExpr(
        f"if({again}, batch - 1, batch) as batch",
        f"case when {again} then row - 4 when row % 5 = 3 then row - 1 else row end as row",
    )
    second = f"{START_SECONDS} + {BATCH_SECONDS} * batch + row % {SPREAD_SECONDS}"
    timed = came.selectExpr(
        *("batch", "row", f"timestamp_seconds({second}) as time"),
        f"row % ({_size('batch', events)} div 2 + 1) as word",
        "3 * row + batch as amount",
    )
    once = timed.withWatermark("time", f"{DELAY_SECONDS} seconds").dropDuplicates(
        ["batch", "row", "time"]
    )
    counts = once.groupBy(F.window("time", f"{WINDOW_SECONDS} seconds"), "word").agg(
        F.count("*").alias("times"), F.sum("amount").alias("total")
    )
    second_of_window = F.unix_timestamp("window.start").alias("second")
    return counts.select(second_of_window, "word", "times", "total")


def _size(batch: str, events: Events) -> str:
    """The number of rows of a batch, as SQL."""
    phase = f"(({batch}) % {events.cycle})"
    climbed = f"least({phase}, {events.cycle} - {phase})"
    steps = 1 + events.cycle // 2
    return f"greatest({LEAST_ROWS}, ({events.rows} * (1 + {climbed})) div {steps})"
