"""What users looked at in a visit, with a state of the query's own: a list, and a timer.

It needs Spark 4.1 or newer, and what Spark needs for such queries: `pip install pandas pyarrow
protobuf`. Run it with `python examples/visits.py`, or with
`spark-submit --jars $(holdfast jar) examples/visits.py`. A folder may follow, which is made and
keeps data, checkpoint and result; without one a temporary folder is used.
"""

# The names of methods are Spark's.
# ruff: noqa: ARG002, N802, N803

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

import holdfast_spark as holdfast

QUIET_MS = 20 * 60_000
VIEWS = [
    ("ann", "home", "2030-01-01 10:00:00"),
    ("ben", "shop", "2030-01-01 10:05:00"),
    ("ann", "shop", "2030-01-01 10:15:00"),
    ("cyd", "home", "2030-01-01 12:00:00"),
]


class Visits(StatefulProcessor):
    """Keeps the pages of each user's visit, and tells them when nothing has come for a while."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state that each user has."""
        self._handle = handle
        self._pages = handle.getListState("pages", "page string")

    def handleInputRows(
        self, key: tuple[str], rows: Iterator[Row], timerValues: TimerValues
    ) -> Iterator[Row]:
        """Add the pages of a batch, and let the visit end a while after the last of them."""
        latest_ms = 0
        for row in rows:
            self._pages.appendValue((row.page,))
            latest_ms = max(latest_ms, int(row.time.timestamp() * 1000))
        for timer_ms in list(self._handle.listTimers()):
            latest_ms = max(latest_ms, timer_ms - QUIET_MS)
            self._handle.deleteTimer(timer_ms)
        self._handle.registerTimer(latest_ms + QUIET_MS)
        return iter(())

    def handleExpiredTimer(
        self, key: tuple[str], timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Row]:
        """Tell of a visit that is over, and forget it."""
        pages = [page for (page,) in self._pages.get()]
        self._pages.clear()
        yield Row(user=key[0], pages=pages)

    def close(self) -> None:
        """There is nothing to close."""


def main(folder: Path) -> None:
    """Print the visits that are over, and what the state has of the one that is not."""
    builder = SparkSession.builder.appName("visits")
    builder.config("spark.sql.shuffle.partitions", "2")
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()

    (folder / "views").mkdir(parents=True)
    lines = (json.dumps({"user": user, "page": page, "time": time}) for user, page, time in VIEWS)
    (folder / "views" / "1.json").write_text("\n".join(lines))
    schema = "user string, page string, time timestamp"
    views = spark.readStream.schema(schema).json(str(folder / "views"))
    visits = (
        views.withWatermark("time", "10 minutes")
        .groupBy("user")
        .transformWithState(Visits(), "user string, pages array<string>", "append", "eventTime")
    )
    query = (
        visits.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "visits"))
    )
    query.awaitTermination()

    for row in spark.read.parquet(str(folder / "visits")).orderBy("user").collect():
        print(f"{row['user']} looked at {', '.join(row['pages'])}")
    state = spark.read.format("statestore").option("stateVarName", "pages")
    for row in state.load(str(folder / "checkpoint")).collect():
        print(f"{row['key']['user']} is looking at {row['list_element']['page']}")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
