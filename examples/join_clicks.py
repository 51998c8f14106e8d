"""Join two streams: which of the advertisements that were shown were clicked within five minutes.

Run it with `python examples/join_clicks.py`, or with
`spark-submit --jars $(holdfast jar) examples/join_clicks.py`. A folder may follow, which is made
and keeps data, checkpoint and result; without one a temporary folder is used.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast

# Each list is a file: the number of what was shown, or clicked, and the time.
SHOWN = [
    [(1, "2030-01-01 10:00:00"), (2, "2030-01-01 10:01:00"), (3, "2030-01-01 10:02:00")],
    [(4, "2030-01-01 10:30:00")],
    [(5, "2030-01-01 11:00:00")],
]
CLICKED = [
    [(2, "2030-01-01 10:03:00")],
    [(1, "2030-01-01 10:04:00"), (3, "2030-01-01 10:29:00")],
    [(4, "2030-01-01 10:31:00"), (5, "2030-01-01 11:01:00")],
]


def write(folder: Path, files: Iterable[list[tuple[int, str]]]) -> None:
    """Write one of the streams as files of JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(files):
        lines = [json.dumps({"ad": ad, "time": time}) for ad, time in rows]
        file = folder / f"{number}.json"
        file.write_text("\n".join(lines))
        os.utime(file, (number, number))  # Spark reads the oldest file first


def read(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    """Return one of the streams, with names of its own for its columns."""
    rows = (
        spark.readStream.schema("ad long, time timestamp")
        .option("maxFilesPerTrigger", "1")
        .json(str(folder))
    )
    named = rows.select(F.col("ad").alias(f"{kind}_ad"), F.col("time").alias(f"{kind}_time"))
    return named.withWatermark(f"{kind}_time", "10 minutes")


def main(folder: Path) -> None:
    """Write what was shown with the time of its click, if there was one."""
    write(folder / "shown", SHOWN)
    write(folder / "clicked", CLICKED)
    builder = SparkSession.builder.appName("join")
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()

    shown = read(spark, folder / "shown", "shown")
    clicked = read(spark, folder / "clicked", "clicked")
    # The times say how long a row can still meet one of the other side: then it leaves the state,
    # and what was shown without a click is written with none.
    joined = shown.join(
        clicked,
        F.expr(
            "shown_ad = clicked_ad AND clicked_time >= shown_time"
            " AND clicked_time <= shown_time + interval 5 minutes"
        ),
        "leftOuter",
    )
    query = (
        joined.writeStream.outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "joined"))
    )
    query.awaitTermination()

    for row in spark.read.parquet(str(folder / "joined")).orderBy("shown_ad").collect():
        print(f"{row['shown_ad']} shown {row['shown_time']} clicked {row['clicked_time']}")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
