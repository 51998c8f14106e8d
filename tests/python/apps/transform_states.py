"""Queries of `transformWithState` from Python with Spark's state client or with Holdfast's.

    transform_states.py spark|holdfast|record [--rocksdb]

Prints as JSON what each of them returned, or how it failed, with that client; `record` keeps what
they do with Spark's, for the tests to compare with, and is for TZ=UTC. With --rocksdb the state is
kept by Spark's provider, and no jar of Holdfast is needed.
"""

from __future__ import annotations

import datetime
import decimal
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from recordings import record, recording

import holdfast_spark as holdfast
from holdfast_spark.transform import installation

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
HOLDFAST, RECORD = "holdfast", "record"
RECORDING = "transform_states"
EVENT, PROCESSING = "EventTime", "ProcessingTime"
KEYS, SOME = 40, 16
RICH = (
    "d date, t timestamp, x decimal(10, 2), b binary, a array<int>, m map<string, double>, "
    "s struct<p: int, q: string>, f float, y tinyint, o boolean, n timestamp_ntz"
)
OUT = "id long, seen string"


class All(StatefulProcessor):
    """Uses every kind of state and timers, and says what it saw.

    Args:
        time_mode: of the query; with processing time there is state with a time to live.
    """

    def __init__(self, time_mode: str) -> None:
        self.lives = time_mode == PROCESSING

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.value = handle.getValueState("value", "n long, s string")
        self.list = handle.getListState("list", "n long")
        self.map = handle.getMapState("map", "k string", "n double")
        self.rich = handle.getValueState("rich", RICH)
        self.days = handle.getListState("days", "d date, s struct<p: int>")
        self.flags = handle.getMapState("flags", "o boolean, f float", "a array<string>")
        if self.lives:
            self.lasting = handle.getValueState("lasting", "n long", ttlDurationMs=3_600_000)
            self.brief = handle.getListState("brief", "n long", ttlDurationMs=1)

    def use(self, key: int, numbers: list[int]) -> str:
        old = self.value.get() if self.value.exists() else None
        self.value.update(((old[0] if old else 0) + sum(numbers), f"s{key}"))
        seen: list[Any] = [old, self.value.get(), sorted(self.list.get())]
        for number in numbers:
            kind = f"k{number % 3}"
            counted = self.map.getValue((kind,)) if self.map.containsKey((kind,)) else None
            self.map.updateValue((kind,), ((counted[0] if counted else 0.0) + 0.5,))
            self.list.appendValue((number,))
        if len(seen[2]) > 3:
            self.list.put([(1,), (2,)])
        if key % 5 == 0:
            self.map.removeKey(("k1",))
        if key % 7 == 0:
            self.value.clear()
            self.list.clear()
        seen += [self.value.exists(), sorted(self.list.get())]
        if self.lives:  # what lives for a moment lasts as long as its batch
            seen += [self.lasting.get(), list(self.brief.get()), self.brief.exists()]
            self.lasting.update((sum(numbers),))
            self.brief.appendValue((key,))
            seen += [self.lasting.get(), list(self.brief.get()), self.brief.exists()]
        seen += [sorted(self.map.iterator()), sorted(self.map.keys()), *self.of_all_types(key)]
        return str(seen)

    def of_all_types(self, key: int) -> Iterator[Any]:
        yield self.rich.get()
        day = datetime.date(2024, 1, 1 + key % 28)
        at = datetime.datetime(2024, 1, 2, 3, 4, 5, key)
        if key % 4 == 0:
            self.rich.update((None,) * 11)
        else:
            parts = ([key, None], {"k": 0.5}, (key, "q"))
            plain = (0.1, key % 100, key % 2 == 0, at)
            self.rich.update((day, at, decimal.Decimal("1.25"), b"b", *parts, *plain))
        yield self.rich.get()
        yield list(self.days.get())
        self.days.appendValue((day, (key,)))
        yield list(self.days.get())
        yield self.flags.getValue((True, 0.5)), self.flags.containsKey((False, 0.5))
        self.flags.updateValue((True, 0.5), ([str(key)],))
        yield list(self.flags.iterator())

    def timer(self, times: Any) -> None:
        if self.lives:  # one that is due in this batch
            self.handle.registerTimer(times.getCurrentProcessingTimeInMs() - 1)
        elif not list(self.handle.listTimers()):
            self.handle.registerTimer(times.getCurrentWatermarkInMs() + 1500)

    def fired(self, key: int, info: Any) -> str:
        seen = [self.value.get(), len(list(self.map.values()))]
        if not self.lives:
            seen += [info.getExpiryTimeInMs()]
        elif key % 2:
            return str(seen)
        self.map.clear()
        return str(seen)


class InRows(All):
    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        yield Row(id=key[0], seen=self.use(key[0], [row.value for row in rows]))
        self.timer(times)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:
        yield Row(id=key[0], seen=self.fired(key[0], expiredTimerInfo))


class InFrames(All):
    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        numbers = [int(number) for frame in rows for number in frame["value"]]
        yield pd.DataFrame({"id": [key[0]], "seen": [self.use(key[0], numbers)]})
        self.timer(times)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:
        yield pd.DataFrame({"id": [key[0]], "seen": [self.fired(key[0], expiredTimerInfo)]})


class Counted(StatefulProcessor):
    """Counts the rows of each key, beside text of some length."""

    def __init__(self, length: int = 1) -> None:
        self._text = "x" * length

    def init(self, handle: Any) -> None:
        self.value = handle.getValueState("value", "n long, text string")

    def count(self, key: Any, more: int) -> str:
        old = self.value.get()
        now = (old[0] if old else 0) + more
        self.value.update((now, self._text))
        return f"{key[0]} {now} {len(old[1]) if old else 0}"

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        yield Row(id=0, seen=self.count(key, len(list(rows))))


class CountedInFrames(Counted):
    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Any]:
        seen = self.count(key, sum(map(len, rows)))
        yield pd.DataFrame({"id": [0], "seen": [seen]})


class Alike(StatefulProcessor):
    """Uses keys of maps that are the same to Spark or to Python, but not to both."""

    def init(self, handle: Any) -> None:
        self.maps: list[tuple[Any, list[Any]]] = [
            (handle.getMapState("texts", "k string", "n long"), [("1",), (1,), ("True",), (True,)]),
            (
                handle.getMapState("wholes", "k int", "n long"),
                [(1,), (1 + 2**32,), (None,), (2.0,)],
            ),
            (handle.getMapState("reals", "k double", "n long"), [(0.0,), (-0.0,), (NO,), (-NO,)]),
            (
                handle.getMapState("decimals", "k decimal(9, 2)", "n long"),
                [(decimal.Decimal("1.0"),), (decimal.Decimal("1.00"),)],
            ),
            (
                handle.getMapState("days", "d date, a string, b string", "n long"),
                [(DAY, "text", "text"), (DAY, "text", "".join(["te", "xt"]))],
            ),
        ]

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        for state, keys in self.maps if key[0] < SOME else ():
            seen: list[Any] = []
            for at, user_key in enumerate(keys):
                old = state.getValue(user_key)
                state.updateValue(user_key, (old[0] + 1 if old else at * 100,))
                seen += [old, [(state.getValue(each), state.containsKey(each)) for each in keys]]
            if key[0] % 3 == 0:
                state.removeKey(keys[1])
                seen += [(state.getValue(each), state.containsKey(each)) for each in keys]
            yield Row(id=key[0], seen=str(seen))


class Wrong(StatefulProcessor):
    """Does one thing that is wrong."""

    def __init__(self, what: str) -> None:
        self._what = what

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.value = handle.getValueState("value", "n long")

    def handleInputRows(self, key: Any, rows: Iterator[Any], times: Any) -> Iterator[Row]:
        does: dict[str, Any] = {
            "two values for one": lambda: self.value.update((1, 2)),
            "a timer without times": lambda: self.handle.registerTimer(1),
            "a timer for half a millisecond": lambda: self.handle.registerTimer(1.5),
            "an error of its own": lambda: 1 // 0,
        }
        does[self._what]()
        yield Row(id=key[0], seen="went on")


# In Python no NaN is another one, and where pandas has a null it makes one of all whole numbers.
NAN = "if(value % 4 < 3, double('NaN'), double(value % 8))"
NULL = "if(value % 4 < 3, null, value % 8)"
NO, DAY = float("nan"), datetime.date(2024, 1, 1)
WRONG = (
    "two values for one",
    "a timer without times",
    "a timer for half a millisecond",
    "an error of its own",
)


def run(
    spark: SparkSession,
    processor: StatefulProcessor,
    time_mode: str,
    batches: int,
    key: str = f"value % {KEYS}",
) -> Any:
    """Return the rows of each batch, or how the query failed."""
    while True:
        answer = run_once(spark, processor, time_mode, batches, key)
        # Spark gives a worker that it starts for a query ten seconds, whatever else the machine
        # does: that says nothing of the client.
        if "connect back" not in str(answer):
            return answer


def run_once(
    spark: SparkSession, processor: StatefulProcessor, time_mode: str, batches: int, key: str
) -> Any:
    source = spark.readStream.format("rate-micro-batch").options(
        rowsPerBatch=100, numPartitions=2, advanceMillisPerBatch=1000
    )
    made = source.load().withWatermark("timestamp", "0 seconds")
    groups = made.selectExpr(f"{key} as id", "value", "timestamp").groupBy("id")
    in_frames = isinstance(processor, InFrames | CountedInFrames)
    transform = groups.transformWithStateInPandas if in_frames else groups.transformWithState
    returned: dict[int, list[Any]] = {}

    def keep(batch: DataFrame, number: int) -> None:
        returned[number] = sorted([row.id, row.seen] for row in batch.collect())

    output = transform(processor, OUT, "Update", time_mode)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        writer = output.writeStream.outputMode("update").foreachBatch(keep)
        query = writer.option("checkpointLocation", folder).start()
        while query.isActive and len(returned) < batches:
            query.exception() or spark._jvm.java.lang.Thread.sleep(20)  # type: ignore[union-attr]
        failure = query.exception()
        query.stop()
    if failure is None:
        return [returned[number] for number in range(batches)]
    raised = re.findall(r"\w+(?:Error|Exception): .*", str(failure))
    return {"failed": raised[-1] if raised else str(failure)}


def main(what: str, *options: str) -> None:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
    )
    if "--rocksdb" in options:
        builder.config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    else:
        holdfast.configure(builder, local_checkpoints=True)
    spark = builder.getOrCreate()
    installation.remove()
    if what == HOLDFAST and not installation.install():
        sys.exit("the client is not for this Spark")
    answer = {
        "rows": run(spark, InRows(EVENT), EVENT, 4),
        "frames": run(spark, InFrames(PROCESSING), PROCESSING, 3),
        "nan": run(spark, Counted(), "None", 2, NAN),
        "null in frames": run(spark, CountedInFrames(), "None", 2, NULL),
        "alike": run(spark, Alike(), "None", 2),
        "large": run(spark, Counted(500_000), "None", 2),
        **{error: run(spark, Wrong(error), "None", 1) for error in WRONG},
    }
    spark.stop()
    if what == RECORD:
        record(recording(RECORDING), {name: json.dumps(value) for name, value in answer.items()})
    else:
        print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
