"""Runs queries whose state is in column families a step further.

    family_queries.py FOLDER STEP QUERY[,QUERY...] PLACE=PROVIDER ...

Takes the STEP-th part of the events through every query, once for each place, from the checkpoint
`FOLDER/<query>-<place>`. The provider is that of the checkpoint once there is one. Prints as JSON,
by query and place, the rows that came out, batch by batch, and what the state was before and is
afterwards, as Spark's `statestore` source reads it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import holdfast_spark as holdfast
from holdfast_spark.checkpoint.files.providers import PROVIDERS

STORES = "spark.sql.streaming.stateStore"
BATCHES = 2
ROWS = 40
HOUR_MS = 3_600_000


Events = Callable[[], DataFrame]


class Kept(StatefulProcessor):
    """Keeps a value, a list and a map of each key, and tells them when a timer fires."""

    def __init__(self, ttl_ms: int | None = None, columns: str = "n long") -> None:
        self.ttl_ms = ttl_ms
        self.columns = columns

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.total = handle.getValueState("total", self.columns, self.ttl_ms)
        self.seen = handle.getListState("seen", "n long, s string", self.ttl_ms)
        self.parts = handle.getMapState("parts", "p string", "n long", self.ttl_ms)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:
        ids = sorted(row.id for row in rows)
        known = self.total.get()[0] if self.total.exists() else 0
        more = (None,) * self.columns.count(",")
        self.total.update((known + len(ids), *more))
        for number in ids:  # newest last, which is no order of their bytes
            self.seen.appendValue((number * 7919 % 101, f"s{number}" * (number % 9)))
            self.parts.updateValue((f"p{number % 3}",), (number,))
        if key[0] % 4 == 0:
            self.parts.removeKey(("p1",))
        if self.ttl_ms is None:
            # Those of the last batch are still to come when all input is read.
            self.handle.registerTimer(timerValues.getCurrentWatermarkInMs() + 250_000)
        yield Row(k=key[0], told=self.told())

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        fired = expiredTimerInfo.getExpiryTimeInMs()
        yield Row(k=key[0], told=f"{fired}: {self.told()}")
        if key[0] % 3 == 0:
            self.seen.clear()

    def told(self) -> str:
        return str([self.total.get(), list(self.seen.get()), sorted(self.parts.iterator())])


def timed(events: Events, step: int) -> DataFrame:  # noqa: ARG001
    """State variables of every kind, and timers by event time."""
    late = events().withWatermark("ts", "1 minute")
    return late.groupBy("k").transformWithState(Kept(), OUT, "Append", "EventTime")


def lasting(events: Events, step: int) -> DataFrame:  # noqa: ARG001
    """The same with a time to live."""
    grouped = events().groupBy("k")
    return grouped.transformWithState(Kept(HOUR_MS), OUT, "Update", "ProcessingTime")


def evolving(events: Events, step: int) -> DataFrame:
    """A value that gets a column at the second step, which Avro allows."""
    columns = "n long, more string" if step else "n long"
    late = events().withWatermark("ts", "1 minute")
    kept = Kept(columns=columns)
    return late.groupBy("k").transformWithState(kept, OUT, "Append", "EventTime")


def joined(events: Events, step: int) -> DataFrame:  # noqa: ARG001
    """A join of events with each other."""
    left, right = (events().withWatermark("ts", "5 minutes") for _ in range(2))
    right = right.selectExpr("k as k2", "ts as ts2", "id as id2").where("id2 % 2 = 0")
    near = F.expr("k = k2 and ts2 between ts and ts + interval 4 minutes")
    return left.join(right, near, "left_outer")


OUT = "k long, told string"
VARIABLES = [{"stateVarName": name} for name in ("total", "seen", "parts")]
JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"


@dataclass(frozen=True)
class Query:
    """A query, what it runs with, and how its state is read."""

    rows: Callable[[Events, int], DataFrame]
    mode: str
    settings: dict[str, str] = field(default_factory=dict)
    state: list[dict[str, str]] = field(default_factory=list)


CHECKED = {f"{STORES}.rowChecksum.enabled": "true"}
CHANGELOGS = {f"{STORES}.rocksdb.changelogCheckpointing.enabled": "true"}
WITH_IDS = {**CHANGELOGS, f"{STORES}.checkpointFormatVersion": "2"}
AVRO = {f"{STORES}.encodingFormat": "avro"}
# With timers or times to live by the clock there is always another batch without data.
TO_AN_END = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}
TIMERS = [*VARIABLES, {"readRegisteredTimers": "true"}]
SIDES = [{"joinSide": "left"}, {"joinSide": "right"}]
TIMES = [{"storeName": f"{side}-keyWithTsToValues"} for side in ("left", "right")]
FORMAT_4 = {JOIN_FORMAT: "4", "spark.sql.streaming.join.stateFormatV4.enabled": "true"}
QUERIES = {
    "timed": Query(timed, "append", CHECKED, TIMERS),
    "lasting": Query(lasting, "update", {**CHANGELOGS, **TO_AN_END}, VARIABLES),
    "with_ids": Query(timed, "append", WITH_IDS, TIMERS),
    "avro": Query(timed, "append", AVRO, TIMERS),
    "evolving": Query(evolving, "append", {**AVRO, **CHANGELOGS}, TIMERS),
    "join_3": Query(joined, "append", {JOIN_FORMAT: "3"}, SIDES),
    "join_4": Query(joined, "append", FORMAT_4, TIMES),
}


def main(folder: Path, step: int, names: str, *places: str) -> None:
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    spark = holdfast.configure(builder, local_checkpoints=True).getOrCreate()
    # The coordinator starts with them, which stores need that are read before a query runs.
    spark.streams  # noqa: B018
    _write_events(spark, folder / "events", step)
    found: dict[str, Any] = {}
    for name in names.split(","):
        for place in places:
            at, _, provider = place.partition("=")
            settings = {f"{STORES}.providerClass": PROVIDERS[provider], **QUERIES[name].settings}
            if step and at != "stays":  # a query that was switched has format 1
                settings.pop(f"{STORES}.checkpointFormatVersion", None)
            for key, value in settings.items():
                spark.conf.set(key, value)
            path = folder / f"{name}-{at}"
            found.setdefault(name, {})[at] = {
                "before": _state(spark, path, QUERIES[name]) if step else None,
                "output": _run(spark, folder / "events", QUERIES[name], path, step),
                "state": _state(spark, path, QUERIES[name]),
            }
            for key in settings:
                spark.conf.unset(key)
    spark.stop()
    print(json.dumps(found))


def _write_events(spark: SparkSession, events: Path, step: int) -> None:
    for batch in range(BATCHES * step, BATCHES * (step + 1)):
        rows = spark.range(ROWS * batch, ROWS * (batch + 1), 1, 1)
        numbers = ("id", "id * id % 7 as k", "timestamp_seconds(id * 4) as ts")
        rows.selectExpr(*numbers).write.mode("append").parquet(str(events))


def _run(
    spark: SparkSession, events: Path, query: Query, checkpoint: Path, step: int
) -> dict[int, list[str]]:
    output: dict[int, list[str]] = {}

    def keep(rows: DataFrame, batch: int) -> None:
        output[batch] = sorted(str(row) for row in rows.collect())

    stream = spark.readStream.schema("id long, k long, ts timestamp")
    stream = stream.option("maxFilesPerTrigger", 1)
    rows = query.rows(lambda: stream.parquet(str(events)), step)
    writer = rows.writeStream.outputMode(query.mode).foreachBatch(keep)
    writer = writer.option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
    return output


def _state(spark: SparkSession, checkpoint: Path, query: Query) -> list[list[str]]:
    found = []
    for options in query.state:
        rows = spark.read.format("statestore").options(**options).load(str(checkpoint))
        found.append(sorted(str(row) for row in rows.collect()))
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
