"""Counts words in a streaming query; prints as JSON the counts and the metrics of its state.

    PYTHONPATH=tests/python count_on.py FOLDER [--configure]

Takes what is new in `FOLDER/words` and goes on from `FOLDER/checkpoint`, with a session made by
`holdfast.configure` or with Spark's own defaults.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count

import holdfast_spark as holdfast
from checkpoint.apps.spark_classes import FILE_MANAGER
from holdfast_spark.metrics import progress_metrics


def main(folder: Path, *options: str) -> None:
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.checkpointFileManagerClass", FILE_MANAGER)
    )
    if "--configure" in options:
        holdfast.configure(builder)
    spark = builder.getOrCreate()
    counted: dict[str, int] = {}

    def keep(batch: DataFrame, _: int) -> None:
        counted.update({row["value"]: row["times"] for row in batch.collect()})

    query = (
        spark.readStream.text(str(folder / "words"))
        .groupBy("value")
        .agg(count("*").alias("times"))
        .writeStream.outputMode("complete")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(keep)
        .start()
    )
    query.awaitTermination()
    progress = progress_metrics(query)
    assert progress is not None
    live_bytes = progress.operators[0].holdfast_live_bytes
    spark.stop()
    print(json.dumps({"counted": counted, "holdfastLiveBytes": live_bytes}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
