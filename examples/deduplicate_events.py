"""Drop events that were sent twice, as long as the second comes within a quarter of an hour.

Run it with `python examples/deduplicate_events.py`, or with
`spark-submit --jars $(holdfast jar) examples/deduplicate_events.py`. A folder may follow, which is
made and keeps data, checkpoint and result; without one a temporary folder is used.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import holdfast_spark as holdfast
from holdfast_spark.metrics import progress_metrics

# Each list is a file, and a batch: the number of an event and its time.
BATCHES = [
    [(1, "2030-01-01 10:00:00"), (2, "2030-01-01 10:01:00"), (1, "2030-01-01 10:02:00")],
    [(2, "2030-01-01 10:09:00"), (3, "2030-01-01 10:10:00")],
    [(4, "2030-01-01 11:00:00")],
    [(4, "2030-01-01 11:02:00")],
    # The batch before has forgotten event 3, so that this one counts as another.
    [(3, "2030-01-01 11:05:00"), (4, "2030-01-01 11:06:00")],
]


def write_events(folder: Path) -> None:
    """Write the events as files of JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, events in enumerate(BATCHES):
        lines = [json.dumps({"event": event, "time": time}) for event, time in events]
        file = folder / f"{number}.json"
        file.write_text("\n".join(lines))
        os.utime(file, (number, number))  # Spark reads the oldest file first


def main(folder: Path) -> None:
    """Write each event once."""
    write_events(folder / "events")
    builder = SparkSession.builder.appName("deduplication")
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()

    events = (
        spark.readStream.schema("event long, time timestamp")
        .option("maxFilesPerTrigger", "1")
        .json(str(folder / "events"))
    )
    once = events.withWatermark("time", "15 minutes").dropDuplicatesWithinWatermark(["event"])
    query = (
        once.writeStream.outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "once"))
    )
    query.awaitTermination()

    for row in spark.read.parquet(str(folder / "once")).orderBy("time").collect():
        print(f"{row['time']} event {row['event']}")
    metrics = progress_metrics(query)
    assert metrics is not None
    print(f"{metrics.operators[0].num_rows_total} events in the state")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
