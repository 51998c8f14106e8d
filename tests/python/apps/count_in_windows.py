"""A stateful query whose checkpoint is anywhere, on executor processes or in one process.

    count_in_windows.py SETTINGS

SETTINGS is JSON: `input` and `output` are folders, `checkpoint` a URL, `jars` a list of files,
`master` and `conf` are Spark's. It reads all input, a file a batch, and writes what each batch
changes to a file of its number; a second time, if Spark runs the batch again. With `states`, a
folder, it then reads the state after each of the newest batches, `read` of them, and writes it to a
file there.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast
from objectstores.windows import DELAY_SECONDS, WINDOW_SECONDS

SETTINGS = json.loads(sys.argv[1])


def start_spark() -> SparkSession:
    builder = (
        SparkSession.builder.master(SETTINGS["master"])
        .config("spark.cores.max", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        .config("spark.jars", ",".join(SETTINGS["jars"]))
    )
    holdfast.configure(builder)
    # After that, for it sets the provider, and some queries are to have another one.
    for name, value in SETTINGS["conf"].items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def keep(rows_of_batch: DataFrame, batch_id: int, folder: str = SETTINGS["output"]) -> None:
    rows = [[row["second"], row["word"], row["count"]] for row in rows_of_batch.collect()]
    file = Path(folder) / f"{batch_id}.json"
    half = file.with_suffix(".half")
    half.write_text(json.dumps(sorted(rows)))
    half.replace(file)


def main() -> None:
    spark = start_spark()
    row = F.split("value", ",")
    time = F.timestamp_seconds(row[0].cast("long"))
    counts = (
        spark.readStream.option("maxFilesPerTrigger", 1)
        .text(SETTINGS["input"])
        .select(time.alias("time"), row[1].alias("word"))
        .withWatermark("time", f"{DELAY_SECONDS} seconds")
        .groupBy(F.window("time", f"{WINDOW_SECONDS} seconds"), "word")
        .count()
    )
    query = (
        counts.select(F.unix_timestamp("window.start").alias("second"), "word", "count")
        .writeStream.outputMode("update")
        .option("checkpointLocation", SETTINGS["checkpoint"])
        .trigger(availableNow=True)
        .foreachBatch(keep)
        .start()
    )
    query.awaitTermination()
    batches = len(list(Path(SETTINGS["output"]).glob("*.json")))
    for batch_id in range(batches)[-SETTINGS["read"] :] if "read" in SETTINGS else ():
        state = spark.read.format("statestore").option("batchId", batch_id)
        rows = state.load(SETTINGS["checkpoint"]).select(
            F.unix_timestamp("key.window.start").alias("second"), "key.word", "value.count"
        )
        keep(rows, batch_id, SETTINGS["states"])
    # What the executors still do is done by nobody, as when a cluster goes.
    sys.stdout.flush()
    os._exit(0)


main()
