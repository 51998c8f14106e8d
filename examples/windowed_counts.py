"""Count clicks for each page and hour, from files that keep coming, with a watermark.

Run it with `python examples/windowed_counts.py`, or with
`spark-submit --jars $(holdfast jar) examples/windowed_counts.py`. A folder may follow, which is
made and keeps data, checkpoint and result; without one a temporary folder is used.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast

# Each list is a file, and a batch. The last one only moves the watermark past the hours before.
BATCHES = [
    [("home", "2030-01-01 10:05:00"), ("home", "2030-01-01 10:20:00")],
    [("shop", "2030-01-01 10:50:00"), ("home", "2030-01-01 11:01:00")],
    [("home", "2030-01-01 10:55:00"), ("shop", "2030-01-01 11:30:00")],
    [("home", "2030-01-01 13:00:00")],
]


def write_clicks(folder: Path) -> None:
    """Write the clicks as files of JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, clicks in enumerate(BATCHES):
        lines = [json.dumps({"page": page, "time": time}) for page, time in clicks]
        file = folder / f"{number}.json"
        file.write_text("\n".join(lines))
        os.utime(file, (number, number))  # Spark reads the oldest file first


def main(folder: Path) -> None:
    """Count what is there and stop; started again, the query would go on with new files."""
    write_clicks(folder / "clicks")
    builder = SparkSession.builder.appName("windowed counts")
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()

    clicks = (
        spark.readStream.schema("page string, time timestamp")
        .option("maxFilesPerTrigger", "1")
        .json(str(folder / "clicks"))
    )
    counts = (
        clicks.withWatermark("time", "10 minutes")
        .groupBy(F.window("time", "1 hour"), "page")
        .count()
        .select("window.start", "page", "count")
    )
    # In append mode a window is written once, when the watermark has passed its end, and then
    # leaves the state.
    query = (
        counts.writeStream.outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "counts"))
    )
    query.awaitTermination()

    for row in spark.read.parquet(str(folder / "counts")).orderBy("start", "page").collect():
        print(f"{row['start']} {row['page']} {row['count']}")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
