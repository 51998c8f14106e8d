"""The queries of `make_checkpoints.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from checkpoint.apps.golden_sources import (
    COMPUTED_COLUMNS,
    FILES,
    MORE_COLUMNS,
    ROWS,
    TYPED_COLUMNS,
    known,
    streamed,
    write_events,
    write_rows,
)
from checkpoint.apps.spark_classes import SPARK

HOLDFAST = "io.holdfast.HoldfastStateStoreProvider"


def typed(spark: SparkSession, source: Path) -> DataFrame:
    """Every type that state can hold, nullable ones also null: in values, in arrays, in maps."""
    write_rows(spark, TYPED_COLUMNS, source)
    stream = streamed(spark, source).withColumns(known(COMPUTED_COLUMNS))
    firsts = [F.first(name).alias(f"first_{name}") for name in stream.columns if name != "k"]
    return stream.groupBy("k").agg(*firsts, F.count("*").alias("n"))


def more_types(spark: SparkSession, source: Path) -> DataFrame:
    """What `typed` leaves out."""
    write_rows(spark, TYPED_COLUMNS, source)
    columns = known(MORE_COLUMNS)
    stream = streamed(spark, source).withColumns(columns)
    return stream.groupBy("k").agg(*(F.first(name).alias(f"first_{name}") for name in columns))


def typed_keys(spark: SparkSession, source: Path) -> DataFrame:
    """The types that a key can have."""
    write_rows(spark, TYPED_COLUMNS, source)
    return streamed(spark, source).drop("mp", "mp2", "k").dropDuplicates()


def windows(spark: SparkSession, source: Path) -> DataFrame:
    """A windowed aggregation: a struct as key, rows of fixed width, removals by the watermark."""
    write_events(spark, source)
    stream = streamed(spark, source).withWatermark("ts", "2 minutes")
    return stream.groupBy(F.window("ts", "1 minute"), "k").agg(F.sum("id"), F.avg("id"))


def distinct(spark: SparkSession, source: Path) -> DataFrame:
    """Keys that compress well."""
    write_rows(spark, "concat(repeat('key ', cast(id % 9 as int)), id) as k", source)
    return streamed(spark, source).dropDuplicates()


def join(spark: SparkSession, source: Path) -> DataFrame:
    """A join of two streams: four stores in each partition."""
    write_events(spark, source)
    left = streamed(spark, source).withWatermark("ts", "1 hour")
    right = left.select(F.col("k").alias("k2"), F.col("ts").alias("ts2"), F.col("id").alias("id2"))
    right = right.where("id2 % 2 = 0")
    near = F.expr("k = k2 and ts2 between ts - interval 1 minute and ts + interval 1 minute")
    return left.join(right, near, "left_outer")


def sums(spark: SparkSession, source: Path) -> DataFrame:
    """An aggregation of few keys, each of which changes in every batch."""
    write_events(spark, source)
    return streamed(spark, source).groupBy("k").agg(F.sum("id"), F.max("ts"))


def sessions(spark: SparkSession, source: Path) -> DataFrame:
    """Sessions: a store that is scanned by the first columns of its keys."""
    write_events(spark, source)
    rows = streamed(spark, source).withWatermark("ts", "2 minutes")
    return rows.groupBy(F.session_window("ts", "100 seconds"), "k").agg(F.sum("id"), F.count("*"))


def chars(spark: SparkSession, source: Path) -> DataFrame:
    """Columns that a table has as char and varchar, in keys and in values."""
    spark.sql("drop table if exists chars")
    columns = "id int, c char(5), v varchar(9), st struct<x: char(2), y: varchar(4)>"
    spark.sql(f"create table chars ({columns}) using parquet location '{source.absolute()}'")
    for part in range(FILES):
        rows = spark.range(part * ROWS // FILES, (part + 1) * ROWS // FILES, 1, 1)
        spark.sql(
            "insert into chars select id, cast(id % 4 as string), "
            "if(id % 5 = 1, null, concat('é', id)), "
            "named_struct('x', 'q', 'y', cast(id % 2 as string)) from {rows}",
            rows=rows,
        )
    table = spark.readStream.option("maxFilesPerTrigger", 1).table("chars")
    # Spark 4.3 cannot read its own state of two columns of one name and char of other lengths.
    aggregates = F.first("v"), F.max("c"), F.min("st")
    return table.groupBy("c", "st", F.expr("id % 3")).agg(*aggregates)


def within_watermark(spark: SparkSession, source: Path) -> DataFrame:
    """Keys that are forgotten after a while."""
    write_events(spark, source)
    rows = streamed(spark, source).withWatermark("ts", "2 minutes")
    return rows.dropDuplicatesWithinWatermark(["k"])


def limit(spark: SparkSession, source: Path) -> DataFrame:
    """A limit: one row in one partition."""
    write_events(spark, source)
    return streamed(spark, source).limit(ROWS // 2)


def groups(spark: SparkSession, source: Path) -> DataFrame:
    """A state of a function's own, with a timeout."""
    import pandas as pd
    from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

    def total(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        rows = sum(len(frame) for frame in frames) + (state.get[0] if state.exists else 0)
        state.update((rows, f"key {key[0]}"))
        state.setTimeoutTimestamp(3_600_000_000)
        yield pd.DataFrame({"k": [key[0]], "n": [rows]})

    write_events(spark, source)
    rows = streamed(spark, source).withWatermark("ts", "1 minute")
    timeout = GroupStateTimeout.EventTimeTimeout
    return rows.groupBy("k").applyInPandasWithState(
        total, "k string, n long", "n long, name string", "update", timeout
    )


def transformed(spark: SparkSession, source: Path) -> DataFrame:
    """State variables of every kind: column families."""
    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Totals(StatefulProcessor):
        def init(self, handle: Any) -> None:  # noqa: ANN401 - pyspark has no type for it here
            self.total = handle.getValueState("total", "n long, late timestamp")
            self.seen = handle.getListState("seen", "id long")
            self.parts = handle.getMapState("parts", "part int", "ids array<long>")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: ANN401, ARG002, N802, N803
            ids = [row.id for row in rows]
            known = self.total.get()[0] if self.total.exists() else 0
            self.total.update((known + len(ids), None))
            self.seen.put([(one,) for one in ids])
            self.parts.updateValue((ids[0] % 3,), (ids,))
            yield Row(k=key[0], n=known + len(ids))

        def close(self) -> None:
            pass

    write_events(spark, source)
    keyed = streamed(spark, source).groupBy("k")
    return keyed.transformWithState(Totals(), "k string, n long", "Update", "None")


@dataclass(frozen=True)
class Query:
    """A query, what it runs with and the first Spark that can.

    Settings are named without `spark.sql.streaming.stateStore.`, those of the session in full. With
    `repeated` the last batch is run twice, as after a driver that was killed before it could commit
    it. What it `needs` besides pyspark is a module.
    """

    stream: Callable[[SparkSession, Path], DataFrame]
    mode: str = "append"
    settings: dict[str, str] = field(default_factory=dict)
    session: dict[str, str] = field(default_factory=dict)
    since: tuple[int, int] = (3, 5)
    repeated: bool = False
    needs: str = ""

    @property
    def is_possible(self) -> bool:
        """Whether this environment can run it."""
        try:
            return self.since <= SPARK and (not self.needs or find_spec(self.needs) is not None)
        except ModuleNotFoundError:  # the package that it is in
            return False

    @property
    def is_readable(self) -> bool:
        """Whether the rows can be read without RocksDB."""
        return self.settings.get("providerClass") != IN_ROCKSDB["providerClass"]


CHECKED = {"rowChecksum.enabled": "true"}
WITH_IDS = {"checkpointFormatVersion": "2", "providerClass": HOLDFAST}
WITH_IDS_SINCE = (4, 2)
IN_ROCKSDB = {
    "providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "rocksdb.changelogCheckpointing.enabled": "true",
}

QUERIES = {
    "typed": Query(typed, "update", CHECKED),
    "typed_keys": Query(typed_keys),
    "more_types": Query(more_types, "update"),
    "windows": Query(windows, settings={"minDeltasForSnapshot": "2"}),
    "join": Query(join),
    "sessions": Query(sessions),
    "within_watermark": Query(within_watermark),
    "limit": Query(limit),
    "groups": Query(groups, "update", needs="pandas"),
    "chars": Query(chars, "update"),
    "chars_kept": Query(
        chars, "update", session={"spark.sql.preserveCharVarcharTypeInfo": "true"}, since=(4, 1)
    ),
    "ids": Query(
        sums,
        "update",
        {**WITH_IDS, "minDeltasForSnapshot": "2"},
        since=WITH_IDS_SINCE,
        repeated=True,
    ),
    "ids_join": Query(join, settings={**WITH_IDS, **CHECKED}, since=WITH_IDS_SINCE, repeated=True),
    "rocksdb/sums": Query(sums, "update", IN_ROCKSDB),
    "rocksdb/column_families": Query(
        transformed, "update", IN_ROCKSDB, since=(4, 2), needs="google.protobuf"
    ),
    **{
        codec: Query(distinct, settings={"compression.codec": codec})
        for codec in ("zstd", "snappy", "lzf")
    },
    **{
        f"{codec}_checked": Query(
            distinct, settings={"compression.codec": codec, **CHECKED}, since=(4, 1)
        )
        for codec in ("zstd", "snappy", "lzf")
    },
}
