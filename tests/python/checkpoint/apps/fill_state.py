"""Fills the state of streaming queries; prints as JSON what it takes of the heap.

    PYTHONPATH=tests/python fill_state.py FOLDER PROVIDER [QUERY ...]

PROVIDER is `holdfast` or `hdfs`; all queries run when none is named. For each the answer has the
rows of its state and the used heap after full collections with the state loaded, less that after it
was unloaded. The collector is the serial one, which leaves nothing but live objects, and here none
that is but softly reachable.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import holdfast_spark as holdfast
from checkpoint.apps.spark_classes import FILE_MANAGER

STREAMING = "spark.sql.streaming"
KEYS = 150_000
PARTITIONS = 2
# Collections that have to find less garbage than this before the heap counts as clean.
COLLECTIONS, NOISE_BYTES = 8, 1 << 16
# Enough for overwritten rows to reach their steady share of the memory.
UPDATES = 12
# Batches that rows stay for in `expiring`, whose watermark is two hours late; each is an hour.
LIFE = 5

Stream = Callable[[], DataFrame]


def counts(stream: Stream) -> DataFrame:
    """A row of longs for each key, overwritten over and over."""
    return stream().groupBy("id").agg(F.sum("amount"), F.count("*"))


def names(stream: Stream) -> DataFrame:
    """A text for each key, never overwritten."""
    return stream().select(F.format_string("user-%015d", "id").alias("name")).dropDuplicates()


def sessions(stream: Stream) -> DataFrame:
    """A session for each key that goes on and on."""
    rows = stream().withWatermark("at", "1 day")
    return rows.groupBy(F.session_window("at", "1 day"), "id").agg(F.sum("amount"), F.count("*"))


def joined(stream: Stream) -> DataFrame:
    """A join that forgets nothing: four stores."""
    right = stream().select(F.col("id").alias("other"), F.col("amount").alias("more"))
    return stream().select("id", "amount").join(right, F.expr("id = other and amount < more"))


def expiring(stream: Stream) -> DataFrame:
    """As many rows come as go in each batch."""
    return stream().withWatermark("at", "2 hours").dropDuplicatesWithinWatermark(["id"])


def all_and_tenths(rows: DataFrame, updates: int = UPDATES) -> Iterator[DataFrame]:
    """All keys, then a tenth of them again and again."""
    yield rows.withColumn("at", _at(0))
    for batch in range(updates):
        tenth = F.pmod(F.xxhash64("id", F.lit(batch)), F.lit(10)) == 0
        yield rows.where(tenth).withColumn("at", _at(batch + 1))


def quarters(rows: DataFrame) -> Iterator[DataFrame]:
    """All keys in four batches."""
    for batch in range(4):
        yield rows.where(F.col("id") % 4 == batch).withColumn("at", _at(0))


def hours(rows: DataFrame) -> Iterator[DataFrame]:
    """New keys in every batch, each an hour later."""
    for batch in range(3 * LIFE):
        fresh = F.col("id") + batch * KEYS
        yield rows.where(f"id % {LIFE} = 0").withColumn("id", fresh).withColumn("at", _at(batch))


def _at(hour: int) -> Any:  # noqa: ANN401 - a column
    return F.expr(f"timestamp'2024-01-01 00:00:00' + interval {hour} hours")


@dataclass(frozen=True)
class Query:
    """A query, its input and the number of versions in memory."""

    result: Callable[[Stream], DataFrame]
    batches: Callable[[DataFrame], Iterator[DataFrame]]
    mode: str = "append"
    versions: int = 2


QUERIES = {
    "counts": Query(counts, all_and_tenths, mode="update"),
    "names": Query(names, quarters, versions=1),
    "sessions": Query(sessions, all_and_tenths),
    "joined": Query(joined, all_and_tenths),
    "expiring": Query(expiring, hours),
}


def main(folder: Path, provider: str, *names: str) -> None:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:SoftRefLRUPolicyMSPerMB=0")
        .config("spark.ui.enabled", "false")
        # What is kept for the UI all the same comes and goes while the heap is measured.
        .config("spark.ui.retainedJobs", "1")
        .config("spark.ui.retainedStages", "1")
        .config("spark.ui.retainedTasks", "1")
        .config("spark.sql.ui.retainedExecutions", "1")
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config(f"{STREAMING}.checkpointFileManagerClass", FILE_MANAGER)
        # Maintenance would unload the state of a query that has stopped.
        .config(f"{STREAMING}.stateStore.maintenanceInterval", "1h")
        # So that each batch puts and removes rows.
        .config(f"{STREAMING}.noDataMicroBatches.enabled", "false")
    )
    if provider == "holdfast":
        holdfast.configure(builder)
    spark = builder.getOrCreate()
    # What the first query of a session loads besides its state, and lets go of, is left out.
    measure(spark, folder / "first", QUERIES["counts"], keys=100)
    chosen = names or tuple(QUERIES)
    found = {name: measure(spark, folder / name, QUERIES[name]) for name in chosen}
    spark.stop()
    print(json.dumps(found))


def measure(spark: SparkSession, folder: Path, query: Query, *, keys: int = KEYS) -> dict[str, int]:
    """Run a query and return what its state has and takes."""
    spark.conf.set(f"{STREAMING}.maxBatchesToRetainInMemory", query.versions)
    source = folder / "source"
    running = None
    for rows in query.batches(spark.range(keys).withColumn("amount", F.col("id") % 7)):
        rows.coalesce(1).write.mode("append").parquet(str(source))
        running = running or _start(spark, query, rows, folder)
        running.processAllAvailable()
    assert running
    (operator,) = running.recentProgress[-1]["stateOperators"]
    # A query looks for input all the time, which leaves garbage. Its state stays where it is.
    running.stop()
    loaded = used_bytes(spark)
    jvm: Any = spark._jvm
    states = jvm.org.apache.spark.sql.execution.streaming.state
    getattr(getattr(states, "StateStore$"), "MODULE$").stop()
    return {"rows": operator["numRowsTotal"], "heap": loaded - used_bytes(spark)}


def _start(spark: SparkSession, query: Query, like: DataFrame, folder: Path) -> StreamingQuery:
    def stream() -> DataFrame:
        return spark.readStream.schema(like.schema).parquet(str(folder / "source"))

    writer = query.result(stream).writeStream.format("noop").outputMode(query.mode)
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start()


def used_bytes(spark: SparkSession) -> int:
    """Used heap after collections, once these find no more garbage.

    Spark lets go of blocks of finished queries in the background, when a collection has told it to.
    """
    jvm: Any = spark._jvm
    bean = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    least, without_gain = sys.maxsize, 0
    while without_gain < COLLECTIONS:
        jvm.java.lang.System.gc()
        used = int(bean.getHeapMemoryUsage().getUsed())
        without_gain = without_gain + 1 if used > least - NOISE_BYTES else 0
        least = min(least, used)
    return least


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
