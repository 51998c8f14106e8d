"""Runs stateful queries a step further.

    carry_on.py FOLDER STEP

Takes the STEP-th part of the events through every operator below, once with each provider, from the
checkpoint `FOLDER/<operator>-<provider>/checkpoint`, and writes the rows that come out to
`FOLDER/<operator>-<provider>/out/<batch>.json`. The provider is that of the checkpoint once there
is one. Prints as JSON the providers of the checkpoints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.providers import PROVIDERS

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
BATCHES = 2
ROWS = 12


def aggregation(events: DataFrame) -> DataFrame:
    """Counts and sums by a key of two columns."""
    return events.groupBy("k", F.col("id") % 2).agg(F.count("*"), F.sum("id"))


def deduplication(events: DataFrame) -> DataFrame:
    """The first event of each number; those of the last batch are all known."""
    return events.dropDuplicates(["n"])


def session(events: DataFrame) -> DataFrame:
    """Sessions by key, whose state is scanned by a prefix of its key."""
    late = events.withWatermark("ts", "3 minutes")
    return late.groupBy(F.session_window("ts", "2 minutes"), "k").agg(F.count("*").alias("times"))


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


def main(folder: Path, step: int) -> None:
    spark = _session(folder)
    _write_events(spark, folder / "events", step)
    places = [(operator, provider) for operator in OPERATORS for provider in PROVIDERS]
    for operator, provider in places:
        _run(spark, folder, operator, provider)
    spark.stop()
    checkpoints = [folder / f"{operator}-{provider}/checkpoint" for operator, provider in places]
    bound = {path: Checkpoint.open(str(path)).settings.provider_class for path in checkpoints}
    print(json.dumps({path.parent.name: provider for path, provider in bound.items()}))


def _session(folder: Path) -> SparkSession:
    builder = (
        SparkSession.Builder()
        .master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.rowChecksum.enabled", "true")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    return holdfast.configure(builder, local_checkpoints=True).getOrCreate()


def _write_events(spark: SparkSession, events: Path, step: int) -> None:
    first = step * BATCHES * ROWS
    rows = spark.range(first, first + BATCHES * ROWS, 1, BATCHES)
    numbers = ("id", "cast(id * id % 7 as string) as k", "id * 7 % 36 as n")
    rows.selectExpr(*numbers, "timestamp_seconds(id * 40) as ts").write.mode("append").parquet(
        str(events)
    )


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
    main(Path(sys.argv[1]), int(sys.argv[2]))
