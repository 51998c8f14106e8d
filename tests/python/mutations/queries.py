"""Queries with every kind of state, whose output after a restart tells all of it.

The last two input files bring every earlier row once more and then a row of each key far in the
future: what is counted, known, open or waiting for a partner comes out.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from holdfast_spark import _jars

BATCHES = 7
_KEYS = ("ada", "bob", "", "céline", "dmitri " * 5, "eve")
_SCHEMA = "k string, t timestamp, v long"
_START = datetime(2024, 1, 1)
_STATE_STORE = "spark.sql.streaming.stateStore"
_SPARK = "org.apache.spark.sql.execution.streaming"


@dataclass(frozen=True)
class Query:
    """A query and the settings it is run with.

    Attributes:
        stream: makes it from a session and the folder of its input.
        mode: its output mode.
        settings: settings of its session.
        begins_on: settings of RocksDB, for what Spark begins on that provider alone: its first
            batches run so, and then its checkpoint is converted.
        has_checksums: whether the files keep the checksums that Hadoop writes beside local ones;
            on other file systems there are none.
        is_crashed: whether it ends in a batch that is planned and not committed.
        makes_numbers: whether its source makes numbers as it runs, instead of reading the files.
        since: the Spark line that is the first to run it.
    """

    stream: Callable[[SparkSession, Path], DataFrame]
    mode: str
    settings: dict[str, str] = field(default_factory=dict)
    begins_on: dict[str, str] = field(default_factory=dict)
    has_checksums: bool = False
    is_crashed: bool = False
    makes_numbers: bool = False
    since: str = "3.5"

    def session(self, spark: SparkSession) -> SparkSession:
        """Return a session with its settings."""
        return _session(spark, self.settings)

    def first_session(self, spark: SparkSession) -> SparkSession:
        """Return a session with the settings that it begins on."""
        return _session(spark, self.begins_on)


def _session(spark: SparkSession, settings: dict[str, str]) -> SparkSession:
    session = spark.newSession()
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def write_input(folder: Path, number: int) -> None:
    """Write the files of this number for both sources, the same at every call."""
    for seed, source in enumerate(("left", "right")):
        if number < BATCHES:
            rows = _rows(number, seed)
        elif number == BATCHES:
            rows = [row for earlier in range(BATCHES) for row in _rows(earlier, seed)]
        else:
            rows = [_row(key, _START + timedelta(days=40), 1) for key in _KEYS]
        path = folder / source / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{row}\n" for row in rows))
        os.utime(path, (number, number))  # Spark reads the oldest file first


def _rows(number: int, seed: int) -> list[str]:
    rng = random.Random(10 * number + seed)
    times = [_START + timedelta(hours=number, seconds=rng.randrange(3600)) for _ in range(20)]
    return [_row(rng.choice(_KEYS), time, rng.randrange(4)) for time in times]


def _row(key: str, time: datetime, value: int) -> str:
    return json.dumps({"k": key, "t": time.isoformat(sep=" "), "v": value})


def _read(spark: SparkSession, folder: Path, source: str = "left") -> DataFrame:
    reader = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.json(str(folder / source))


def _counts(spark: SparkSession, folder: Path) -> DataFrame:
    return _read(spark, folder).groupBy("k", "v").agg(F.count("*").alias("n"), F.max("t"))


def _distinct(spark: SparkSession, folder: Path) -> DataFrame:
    return _read(spark, folder).dropDuplicates(["k", "t", "v"])


def _sessions(spark: SparkSession, folder: Path) -> DataFrame:
    rows = _read(spark, folder).withWatermark("t", "2 hours")
    return rows.groupBy(F.session_window("t", "20 minutes"), "k").agg(F.count("*"), F.sum("v"))


def _join(spark: SparkSession, folder: Path) -> DataFrame:
    left, right = (
        _read(spark, folder, source).withWatermark("t", "2 hours").alias(source)
        for source in ("left", "right")
    )
    near = (
        "left.k = right.k and left.v = right.v "
        "and left.t between right.t - interval 8 minutes and right.t"
    )
    return left.join(right, F.expr(near), "left_outer")


def _groups(spark: SparkSession, folder: Path) -> DataFrame:
    return (
        _read(spark, folder)
        .groupBy("k")
        .applyInPandasWithState(
            _tally,
            "k string, n long, s long",
            "n long, s long",
            "update",
            GroupStateTimeout.NoTimeout,
        )
    )


def _tally(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    rows, total = state.get if state.exists else (0, 0)
    for frame in frames:
        rows += len(frame)
        total += int(frame["v"].sum())
    state.update((rows, total))
    yield pd.DataFrame({"k": [key[0]], "n": [rows], "s": [total]})


def _diary(spark: SparkSession, folder: Path) -> DataFrame:
    from mutations.diary import Diary  # of a class that older Sparks have not

    rows = _read(spark, folder).withWatermark("t", "2 hours")
    return rows.groupBy("k").transformWithStateInPandas(
        Diary(), "k string, told string", "update", "EventTime"
    )


def _limit(spark: SparkSession, folder: Path) -> DataFrame:
    return _read(spark, folder).limit(150)


def _batches_of_numbers(spark: SparkSession, _: Path) -> DataFrame:
    reader = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 9)
    return _by_remainder(reader.option("startTimestamp", 1_000).load())


def _numbers(spark: SparkSession, _: Path) -> DataFrame:
    return _by_remainder(spark.readStream.format("rate").option("rowsPerSecond", 40).load())


def _by_remainder(rows: DataFrame) -> DataFrame:
    return rows.groupBy(F.expr("value % 3 as k")).agg(F.count("*").alias("n"), F.max("value"))


_HDFS = {f"{_STATE_STORE}.providerClass": f"{_SPARK}.state.HDFSBackedStateStoreProvider"}
_HOLDFAST = {f"{_STATE_STORE}.providerClass": "io.holdfast.HoldfastStateStoreProvider"}
_IDS = {**_HOLDFAST, f"{_STATE_STORE}.checkpointFormatVersion": "2"}
_CHECKED = {f"{_STATE_STORE}.rowChecksum.enabled": "true"}
_ROCKSDB = {f"{_STATE_STORE}.providerClass": f"{_SPARK}.state.RocksDBStateStoreProvider"}
_JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
_FORMAT_4 = {"spark.sql.streaming.join.stateFormatV4.enabled": "true"}  # which 4.2 asks for
_ZSTD = {f"{_STATE_STORE}.compression.codec": "zstd"}

_ALL = {
    "counts_with_crc": Query(_counts, "update", _HDFS, has_checksums=True),
    "distinct_with_crc": Query(_distinct, "append", _HDFS, has_checksums=True, is_crashed=True),
    "groups_with_crc": Query(_groups, "update", _IDS, has_checksums=True, since="4.0"),
    "counts": Query(_counts, "update", _HDFS),
    "distinct": Query(_distinct, "append", {**_HDFS, **_CHECKED}),
    "sessions": Query(_sessions, "append", {**_HDFS, **_ZSTD}),
    # Spark 3.5 refuses the schema of its own rows when this one goes on.
    "join": Query(_join, "append", _HDFS, is_crashed=True, since="4.0"),
    "groups": Query(_groups, "update", _HDFS),
    "limit": Query(_limit, "append", _HOLDFAST),
    "counts_of_holdfast": Query(_counts, "update", _HOLDFAST),
    "counts_with_ids": Query(_counts, "update", _IDS, since="4.0"),
    "join_with_ids": Query(_join, "append", _IDS, since="4.0"),
    "join_3": Query(
        *(_join, "append", _HOLDFAST),
        begins_on={**_ROCKSDB, _JOIN_FORMAT: "3"},
        is_crashed=True,
        since="4.2",
    ),
    "join_4": Query(
        *(_join, "append", {**_HOLDFAST, **_FORMAT_4}),
        begins_on={**_ROCKSDB, **_FORMAT_4, _JOIN_FORMAT: "4"},
        has_checksums=True,
        since="4.2",
    ),
    "sessions_with_ids": Query(_sessions, "append", _IDS, is_crashed=True, since="4.0"),
    "diary": Query(_diary, "update", _HOLDFAST, since="4.0"),
    "diary_with_crc": Query(
        _diary, "update", _HOLDFAST, has_checksums=True, is_crashed=True, since="4.0"
    ),
    "diary_with_ids": Query(_diary, "update", {**_IDS, **_CHECKED}, since="4.2"),
    "batches_of_numbers": Query(_batches_of_numbers, "update", _HDFS, makes_numbers=True),
    "numbers": Query(_numbers, "update", _HOLDFAST, makes_numbers=True),
}
_LINE = _jars.installed_spark_line()
QUERIES = {name: query for name, query in _ALL.items() if not _jars.is_before(_LINE, query.since)}
"""Those that the Spark in use has, by name."""
