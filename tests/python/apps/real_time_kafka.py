"""A query in real-time mode that counts what comes from Kafka, until a file says that it is enough.

    real_time_kafka.py FOLDER BROKERS TOPIC NUMBERS JARS

FOLDER takes the checkpoint and, below `written`, how often each number below NUMBERS has come, a
line each time; the file is `enough` there. Prints as JSON whether the state is in Holdfast.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import count

import holdfast_spark as holdfast
from holdfast_spark.metrics import progress_metrics

REAL_TIME = {"realTime": "2 seconds"}


def main(folder: Path, brokers: str, topic: str, numbers: int, jars: str) -> None:
    builder = (
        SparkSession.builder.master("local[6]")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.realTimeMode.minBatchDuration", "1000")
    )
    spark = holdfast.configure(builder, local_checkpoints=True, real_time_mode=True).getOrCreate()
    written = folder / "written"
    written.mkdir(parents=True, exist_ok=True)

    def write(row: Row) -> None:
        with (written / str(row["number"])).open("a") as file:
            file.write(f"{row['times']}\n")

    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    query = (
        source.option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("kafka.isolation.level", "read_committed")
        .load()
        .selectExpr(f"cast(cast(value as string) as long) % {numbers} as number")
        .groupBy("number")
        .agg(count("*").alias("times"))
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(**REAL_TIME)
        .foreach(write)
        .start()
    )
    while not (folder / "enough").exists():
        if failure := query.exception():
            raise failure
        time.sleep(0.02)
    # What was written is of a batch that ends later.
    query.processAllAvailable()
    query.stop()
    progress = progress_metrics(query)
    assert progress is not None
    spark.stop()
    print(json.dumps({"on_holdfast": progress.operators[0].is_holdfast}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
