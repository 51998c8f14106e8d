"""A stateful query on two executor processes, with its checkpoint in a store of objects.

    count_on_objects.py SETTINGS

SETTINGS is JSON: `input`, `output` and `jars` are folders, `endpoint` and `checkpoint` URLs, and
`conf` is Spark's. It reads all input, a file a batch, and writes what each batch changes to a file
of its number; a second time, if Spark runs the batch again.
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
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.cores.max", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        .config("spark.jars", ",".join(str(jar) for jar in Path(SETTINGS["jars"]).glob("*.jar")))
    )
    for name, value in SETTINGS["conf"].items():
        builder = builder.config(name, value)
    s3a = {
        "endpoint": SETTINGS["endpoint"],
        "endpoint.region": "us-east-1",
        "access.key": "any",
        "secret.key": "any",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        # What the client does not try again reaches Spark and the store.
        "attempts.maximum": "2",
        "retry.limit": "2",
        "retry.interval": "50ms",
        "retry.throttle.limit": "2",
        "retry.throttle.interval": "50ms",
    }
    for name, value in s3a.items():
        builder = builder.config(f"spark.hadoop.fs.s3a.{name}", value)
    return holdfast.configure(builder).getOrCreate()


def keep(batch: DataFrame, batch_id: int) -> None:
    rows = [[row["second"], row["word"], row["count"]] for row in batch.collect()]
    file = Path(SETTINGS["output"]) / f"{batch_id}.json"
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
    # What the executors still do is done by nobody, as when a cluster goes.
    sys.stdout.flush()
    os._exit(0)


main()
