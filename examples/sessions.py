"""Sessions of users, each ended by twenty minutes of quiet, in a query that is stopped between.

Run it with `python examples/sessions.py`, or with
`spark-submit --jars $(holdfast jar) examples/sessions.py`. A folder may follow, which is made and
keeps data, checkpoint and result; without one a temporary folder is used.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import holdfast_spark as holdfast

BEFORE_THE_RESTART = [
    ("ann", "2030-01-01 10:00:00"),
    ("ben", "2030-01-01 10:05:00"),
    ("ann", "2030-01-01 10:15:00"),
]
AFTER_THE_RESTART = [
    ("ann", "2030-01-01 10:30:00"),
    ("ben", "2030-01-01 11:00:00"),
    ("cyd", "2030-01-01 13:00:00"),
]


def write_actions(file: Path, actions: list[tuple[str, str]]) -> None:
    """Write actions of users as a file of JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(json.dumps({"user": user, "time": time}) for user, time in actions))


def run(spark: SparkSession, folder: Path) -> None:
    """Start the query, let it read all that is there, and wait for its end."""
    actions = spark.readStream.schema("user string, time timestamp").json(str(folder / "actions"))
    sessions = (
        actions.withWatermark("time", "30 minutes")
        .groupBy(F.session_window("time", "20 minutes"), "user")
        .count()
        .select("user", "session_window.start", "session_window.end", "count")
    )
    query = (
        sessions.writeStream.outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "sessions"))
    )
    query.awaitTermination()


def main(folder: Path) -> None:
    """Find sessions, the first of which goes on after the query was started again."""
    builder = SparkSession.builder.appName("sessions")
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()

    write_actions(folder / "actions" / "1.json", BEFORE_THE_RESTART)
    run(spark, folder)
    write_actions(folder / "actions" / "2.json", AFTER_THE_RESTART)
    run(spark, folder)

    # The session of cyd may still get longer, and is in the state alone.
    for row in spark.read.parquet(str(folder / "sessions")).orderBy("start").collect():
        print(f"{row['user']} {row['start']} to {row['end']}: {row['count']}")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
