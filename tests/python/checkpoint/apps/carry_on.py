"""Runs stateful queries a step further, or switches their providers in between.

    carry_on.py FOLDER run STEP
    carry_on.py FOLDER switch TO

`run` takes the STEP-th part of the events through every operator below, once with each provider,
from the checkpoint `FOLDER/<operator>-<provider>/checkpoint`, and writes the rows that come out to
`FOLDER/<operator>-<provider>/out/<batch>.json`. The provider is that of the checkpoint once there
is one. `switch` migrates the queries that began with RocksDB to the provider TO, those that began
with another one to RocksDB, all in one session. Prints as JSON the providers of the checkpoints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import holdfast
from holdfast.checkpoint import Checkpoint
from holdfast.checkpoint.migration import migrate
from holdfast.checkpoint.providers import PROVIDERS

FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
BATCHES = 2
ROWS = 12


def aggregation(events: DataFrame) -> DataFrame:
    """Counts and sums by a key of two columns."""
    return events.groupBy("k", F.col("id") % 2).agg(F.count("*").alias("n"), F.sum("id"))


def deduplication(events: DataFrame) -> DataFrame:
    """The first event of each key."""
    return events.dropDuplicates(["k"])


def session(events: DataFrame) -> DataFrame:
    """Sessions by key, whose state is scanned by a prefix of its key."""
    late = events.withWatermark("ts", "3 minutes")
    return late.groupBy(F.session_window("ts", "2 minutes"), "k").agg(F.count("*").alias("n"))


def join(events: DataFrame) -> DataFrame:
    """A join with itself, in four stores a partition."""
    left = events.withWatermark("ts", "5 minutes")
    right = left.selectExpr("k as k2", "ts as ts2", "id as id2").where("id2 % 2 = 0")
    near = F.expr("k = k2 and ts2 between ts and ts + interval 4 minutes")
    return left.join(right, near, "left_outer")


OPERATORS: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "aggregation": (aggregation, "update"),
    "deduplication": (deduplication, "append"),
    "session": (session, "append"),
    "join": (join, "append"),
}


def main(folder: Path, task: str, argument: str) -> None:
    spark = _session(folder)
    if task == "run":
        _write_events(spark, folder / "events", int(argument))
        for operator in OPERATORS:
            for provider in PROVIDERS:
                _run(spark, folder, operator, provider)
    else:
        for operator in OPERATORS:
            for provider in ("rocksdb", "holdfast"):
                path = folder / f"{operator}-{provider}" / "checkpoint"
                to = argument if provider == "rocksdb" else "rocksdb"
                done = migrate(Checkpoint.open(str(path)), to, apply=True)
                assert done.applied, path
                assert done.converted_stores, path
    checkpoints = sorted(folder.glob("*/checkpoint"))
    spark.stop()
    print(
        json.dumps(
            {
                path.parent.name: Checkpoint.open(str(path)).settings.provider_class
                for path in checkpoints
            }
        )
    )


def _session(folder: Path) -> SparkSession:
    builder = (
        SparkSession.Builder()
        .master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.checkpointFileManagerClass", FILE_MANAGER)
        .config("spark.sql.streaming.stateStore.rowChecksum.enabled", "true")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    return holdfast.configure(builder).getOrCreate()


def _write_events(spark: SparkSession, events: Path, step: int) -> None:
    first = step * BATCHES * ROWS
    rows = spark.range(first, first + BATCHES * ROWS, 1, BATCHES)
    columns = ("id", "cast(id * id % 7 as string) as k", "timestamp_seconds(id * 40) as ts")
    rows.selectExpr(*columns).write.mode("append").parquet(str(events))


def _run(spark: SparkSession, folder: Path, operator: str, provider: str) -> None:
    query, mode = OPERATORS[operator]
    place = folder / f"{operator}-{provider}"
    out = place / "out"
    out.mkdir(parents=True, exist_ok=True)

    def keep(rows: DataFrame, batch: int) -> None:
        lines = sorted(json.dumps(row.asDict(True), default=str) for row in rows.collect())
        (out / f"{batch}.json").write_text("\n".join(lines))

    spark.conf.set(PROVIDER, PROVIDERS[provider])
    events = str(folder / "events")
    stream = spark.readStream.schema(spark.read.parquet(events).schema)
    writer = query(stream.option("maxFilesPerTrigger", 1).parquet(events)).writeStream
    writer = writer.outputMode(mode).option("checkpointLocation", str(place / "checkpoint"))
    writer.foreachBatch(keep).trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
