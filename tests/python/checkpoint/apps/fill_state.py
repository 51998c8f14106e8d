"""Fills the state of streaming queries; prints as JSON the heap bytes that it takes.

    fill_state.py FOLDER PROVIDER

PROVIDER is `holdfast` or `hdfs`. For each query the answer has the used heap after full collections
with the state loaded, less that after it was unloaded. The collector is the serial one, after which
nothing but live objects is counted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import holdfast

FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
STREAMING = "spark.sql.streaming"
ROWS = 600_000
PARTITIONS = 2
# Enough for overwritten rows to reach their steady share of the memory.
UPDATES = 12


def counts(source: DataFrame) -> DataFrame:
    """A row of longs for each key, overwritten over and over."""
    return source.groupBy("id").agg(F.sum("amount"), F.count("*"))


def names(source: DataFrame) -> DataFrame:
    """A text for each key, never overwritten."""
    return source.select("name").dropDuplicates()


def counted_batches(spark: SparkSession) -> Iterator[DataFrame]:
    """All rows, then a tenth of them again and again."""
    rows = spark.range(ROWS).withColumn("amount", F.col("id") % 7)
    yield rows
    for batch in range(UPDATES):
        yield rows.where(F.pmod(F.xxhash64("id", F.lit(batch)), F.lit(10)) == 0)


def named_batches(spark: SparkSession) -> Iterator[DataFrame]:
    """All rows in four batches."""
    rows = spark.range(ROWS).withColumn("name", F.format_string("user-%015d", "id"))
    for batch in range(4):
        yield rows.where(F.col("id") % 4 == batch)


Query = Callable[[DataFrame], DataFrame]
Batches = Callable[[SparkSession], Iterator[DataFrame]]
# Query, its input and the number of versions in memory.
QUERIES: dict[str, tuple[Query, Batches, int]] = {
    "counts": (counts, counted_batches, 2),
    "names": (names, named_batches, 1),
}


def main(folder: Path, provider: str) -> None:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config(f"{STREAMING}.checkpointFileManagerClass", FILE_MANAGER)
        # Maintenance would unload the state of a query that has stopped.
        .config(f"{STREAMING}.stateStore.maintenanceInterval", "1h")
    )
    if provider == "holdfast":
        holdfast.configure(builder)
    spark = builder.getOrCreate()
    heap = {name: heap_bytes(spark, folder / name, *query) for name, query in QUERIES.items()}
    spark.stop()
    print(json.dumps({"rows": ROWS, "partitions": PARTITIONS, "heap": heap}))


def heap_bytes(
    spark: SparkSession, folder: Path, query: Query, batches: Batches, versions: int
) -> int:
    """Run a query and return what its state takes."""
    spark.conf.set(f"{STREAMING}.maxBatchesToRetainInMemory", versions)
    source = folder / "source"
    running = None
    for rows in batches(spark):
        rows.coalesce(1).write.mode("append").parquet(str(source))
        running = running or _start(query(_stream(spark, rows, source)), folder)
        running.processAllAvailable()
    assert running
    _check_rows(running)
    # A query looks for input all the time, which leaves garbage. Its state stays where it is.
    running.stop()
    loaded = used_bytes(spark)
    jvm: Any = spark._jvm
    states = jvm.org.apache.spark.sql.execution.streaming.state
    getattr(getattr(states, "StateStore$"), "MODULE$").stop()
    return loaded - used_bytes(spark)


def _stream(spark: SparkSession, like: DataFrame, source: Path) -> DataFrame:
    return spark.readStream.schema(like.schema).parquet(str(source))


def _start(result: DataFrame, folder: Path) -> StreamingQuery:
    writer = result.writeStream.format("noop").outputMode("update")
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start()


def _check_rows(running: StreamingQuery) -> None:
    found = [operator["numRowsTotal"] for operator in running.recentProgress[-1]["stateOperators"]]
    assert found == [ROWS], found


def used_bytes(spark: SparkSession) -> int:
    """Used heap after collections: the least of some readings, as garbage only adds to them."""
    jvm: Any = spark._jvm
    bean = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    readings = []
    for _ in range(5):
        jvm.java.lang.System.gc()
        readings.append(int(bean.getHeapMemoryUsage().getUsed()))
    return min(readings)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
