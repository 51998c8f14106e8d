"""Shows what a user sees of state that cannot be loaded; prints as JSON its first line.

    fail_to_load.py FOLDER

FOLDER takes input and checkpoint. A query makes state, its delta file is cut off, and a new run of
the query fails.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.functions import count
from pyspark.sql.streaming.query import StreamingQuery

import holdfast_spark as holdfast


def run(spark: SparkSession, folder: Path) -> StreamingQuery:
    query = (
        spark.readStream.text(str(folder / "words"))
        .groupBy("value")
        .agg(count("*"))
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .format("noop")
        .start()
    )
    query.awaitTermination()
    return query


def main(folder: Path) -> None:
    words = folder / "words"
    words.mkdir(parents=True)
    (words / "1.txt").write_text("to\nbe\nor\nnot\n")
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
    )
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()
    run(spark, folder)
    assert spark._jvm is not None
    spark._jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
    delta = folder / "checkpoint" / "state" / "0" / "0" / "1.delta"
    delta.write_bytes(delta.read_bytes()[:-40])
    delta.with_name(".1.delta.crc").unlink()
    (words / "2.txt").write_text("to\n")
    try:
        run(spark, folder)
    except StreamingQueryException as e:
        first = str(e).splitlines()[0]
    spark.stop()
    print(json.dumps({"first": first}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
