"""A query that goes from real-time mode to micro-batches and back; prints as JSON what came of it.

    real_time.py FOLDER

FOLDER takes the output and the checkpoint.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import count

import holdfast_spark as holdfast
from holdfast_spark.metrics import progress_metrics

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
WORDS = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]
REAL_TIME = {"realTime": "1 second"}
MICRO_BATCHES = {"processingTime": "0 seconds"}


class Words:
    """Words that are streamed from the memory of the driver, as Spark's own tests do it."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        sources = jvm.org.apache.spark.sql.execution.streaming.sources
        strings = jvm.org.apache.spark.sql.Encoders.STRING()
        self._stream = sources.LowLatencyMemoryStream.singlePartition(spark._jsparkSession, strings)
        self.rows = DataFrame(self._stream.toDF(), spark)

    def add(self, words: list[str]) -> None:
        listed = self._jvm.java.util.ArrayList()
        for word in words:
            listed.add(word)
        self._stream.addData(
            self._jvm.scala.jdk.javaapi.CollectionConverters.asScala(listed).toSeq()
        )


def main(folder: Path) -> None:
    builder = (
        SparkSession.builder.master("local[6]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.realTimeMode.minBatchDuration", "1000")
    )
    spark = holdfast.configure(builder, local_checkpoints=True, real_time_mode=True).getOrCreate()
    written = folder / "written"
    written.mkdir(parents=True)

    def write(row: Row) -> None:
        with (written / row["value"]).open("a") as file:
            file.write(f"{row['times']}\n")

    words = Words(spark)
    on_holdfast = []
    for trigger in (REAL_TIME, MICRO_BATCHES, REAL_TIME):
        words.add(WORDS)
        query = (
            words.rows.groupBy("value")
            .agg(count("*").alias("times"))
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(**trigger)
            .foreach(write)
            .start()
        )
        # In real-time mode the end of a batch may be told of that began before the words came.
        while sum(progress["numInputRows"] for progress in query.recentProgress) < len(WORDS):
            query.processAllAvailable()
        query.stop()
        progress = progress_metrics(query)
        assert progress is not None
        on_holdfast.append(progress.operators[0].is_holdfast)
    answer = {
        "written": {
            file.name: [int(line) for line in file.read_text().split()]
            for file in written.iterdir()
        },
        "on_holdfast": on_holdfast,
        "provider": spark._jsparkSession.conf().getAll().contains(PROVIDER),
    }
    spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
