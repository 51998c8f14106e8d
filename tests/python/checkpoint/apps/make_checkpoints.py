"""Runs small streaming queries and keeps their checkpoints.

    make_checkpoints.py FOLDER [QUERY ...]
    make_checkpoints.py --read FOLDER

Makes `FOLDER/<query>/checkpoint` for each query that this Spark can run, all of them when none is
named, and writes what Spark's `statestore` source reads from it to `FOLDER/<query>/expected.json`:
a list of [source options, rows], a row being the JSON text of [partition_id, values of the key,
values of the value]. Structs and maps are objects, binaries hexadecimal, and what JSON lacks is as
Python's `str` has it. What pyspark cannot collect is turned into numbers by Spark: year-month
intervals into months, calendar intervals into months, days and microseconds.

Spark 3.5 has no `statestore` source. `--read` writes `expected.json` for checkpoints that another
Spark has made. What RocksDB holds, below `FOLDER/rocksdb`, is not read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    StructField,
    StructType,
    YearMonthIntervalType,
)

SPARK = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
# Spark 4.1 moved it.
FILE_MANAGER = (
    f"org.apache.spark.sql.execution.streaming.{'checkpointing.' if SPARK >= (4, 1) else ''}"
    "FileSystemBasedCheckpointFileManager"
)
HOLDFAST = "io.holdfast.HoldfastStateStoreProvider"
STATE_STORE = "spark.sql.streaming.stateStore"
_STRUCTS = ("key", "value")
ROWS = 40
FILES = 4

TYPED_COLUMNS = """
    id,
    cast(id % 11 as int) as k,
    if(id % 7 = 3, null, id % 2 = 0) as bool,
    cast(id - 20 as byte) as i8,
    cast(id * 300 - 6000 as short) as i16,
    if(id % 5 = 0, null, cast(id * 70000 - 1000000 as int)) as i32,
    id * 5000000000 - 7 as i64,
    cast(id as float) / 3 as f32,
    if(id % 6 = 1, double('NaN'), id / 7D) as f64,
    cast(id * 1.25 - 20 as decimal(10, 2)) as dec_small,
    if(id % 4 = 1, null,
       cast(id - 20 as decimal(38, 10)) * cast(12345678901234567 as decimal(20, 0))) as dec_large,
    if(id % 9 = 2, null, repeat(concat('é', id), cast(id % 5 as int))) as str,
    unhex(hex(id * 1000003)) as bin,
    date_add(date'1969-12-20', cast(id as int)) as day,
    timestamp_micros(id * 1234567890123 - 9876543210) as ts,
    cast(timestamp_micros(id * 7654321012345) as timestamp_ntz) as ts_ntz,
    make_dt_interval(0, cast(id as int), 1, id - 20.5) as dt,
    make_ym_interval(cast(id - 20 as int), 3) as ym,
    if(id % 8 = 5, null, named_struct(
        'a', if(id % 3 = 0, null, id), 'b', cast(id as string),
        'c', named_struct('d', array(id, null, id + 1)))) as st,
    if(id % 10 = 4, null, sequence(0, cast(id % 4 as int))) as ints,
    array(cast(id as string), null, '') as strs,
    array(id % 2 = 0, null, true) as bools,
    array(cast(id as decimal(30, 3)), null) as decs,
    array(array(cast(id as short)), array(), null) as nested,
    map(cast(id as string), id / 2D, 'x', null) as mp,
    map(id, array(named_struct('x', cast(id as int)))) as mp2,
    cast(null as int) as nothing
"""


# What parquet does not keep, and the first Spark that has it in state.
COMPUTED_COLUMNS = {
    "ci": ((4, 0), "make_interval(1, cast(id as int), 0, cast(id % 3 as int), 5, 6, 7.25 - id)"),
    "variant": ((4, 0), "parse_json(concat('{\"id\": ', id, '}'))"),
    "clock": ((4, 2), "make_time(cast(id % 24 as int), 7, id / 8)"),
}

# Further units of intervals, collations, nulls of what has no fixed length, and deeper nesting. A
# calendar interval that is null is missing: Spark's own check of rows refuses it when it loads one.
MORE_COLUMNS = {
    "folded": ((4, 0), "concat('Key ', id) collate UTF8_LCASE"),
    "french": ((4, 0), "if(id % 3 = 0, null, concat('é', id) collate FR_CI)"),
    "days": ((3, 5), "cast(make_dt_interval(cast(id as int)) as interval day)"),
    "seconds": ((3, 5), "cast(dt as interval second)"),
    "years": ((3, 5), "if(id % 4 = 0, null, cast(ym as interval year))"),
    "no_dec": ((3, 5), "if(id % 2 = 0, null, dec_large)"),
    "no_bin": ((3, 5), "if(id % 3 = 0, null, bin)"),
    "no_ts": ((3, 5), "if(id % 3 = 1, null, ts)"),
    "no_ntz": ((3, 5), "if(id % 3 = 2, null, ts_ntz)"),
    "no_dt": ((3, 5), "if(id % 3 = 0, null, dt)"),
    "no_variant": ((4, 0), "if(id % 2 = 1, null, parse_json(concat('[', id, ', null]')))"),
    "no_map": ((3, 5), "if(id % 4 = 2, null, mp)"),
    "dts": ((3, 5), "array(dt, null, dt)"),
    "yms": ((3, 5), "array(null, ym)"),
    "cis": ((3, 5), "array(make_interval(0, cast(id as int)), null)"),
    "bins": ((3, 5), "array(bin, null, unhex(''))"),
    "tss": ((3, 5), "array(ts, null)"),
    "small_decs": ((3, 5), "array(dec_small, null)"),
    "dates": ((3, 5), "array(day, null)"),
    "floats": ((3, 5), "array(f32, null, float('-Infinity'))"),
    "structs": ((3, 5), "array(named_struct('a', dec_large, 'b', ts_ntz, 'c', strs), null)"),
    "by_day": ((3, 5), "map(day, named_struct('d', dec_small, 'e', bin, 'f', map(id, mp)))"),
    "by_amount": ((3, 5), "map(cast(id as decimal(30, 4)), array(array(mp2), null))"),
    "wide": (
        (3, 5),
        "named_struct("
        + ", ".join(f"'c{i}', if(id % {i + 2} = 1, null, id + {i})" for i in range(70))
        + ")",
    ),
}


def _known(columns: dict[str, tuple[tuple[int, int], str]]) -> dict[str, Column]:
    return {name: F.expr(sql) for name, (since, sql) in columns.items() if since <= SPARK}


def typed(spark: SparkSession, source: Path) -> DataFrame:
    """Every type that state can hold, nullable ones also null: in values, in arrays, in maps."""
    _write(spark, TYPED_COLUMNS, source)
    stream = _stream(spark, source).withColumns(_known(COMPUTED_COLUMNS))
    firsts = [F.first(name).alias(f"first_{name}") for name in stream.columns if name != "k"]
    return stream.groupBy("k").agg(*firsts, F.count("*").alias("n"))


def more_types(spark: SparkSession, source: Path) -> DataFrame:
    """What `typed` leaves out."""
    _write(spark, TYPED_COLUMNS, source)
    columns = _known(MORE_COLUMNS)
    stream = _stream(spark, source).withColumns(columns)
    return stream.groupBy("k").agg(*(F.first(name).alias(f"first_{name}") for name in columns))


def typed_keys(spark: SparkSession, source: Path) -> DataFrame:
    """The types that a key can have."""
    _write(spark, TYPED_COLUMNS, source)
    return _stream(spark, source).drop("mp", "mp2", "k").dropDuplicates()


def windows(spark: SparkSession, source: Path) -> DataFrame:
    """A windowed aggregation: a struct as key, rows of fixed width, removals by the watermark."""
    _events(spark, source)
    stream = _stream(spark, source).withWatermark("ts", "2 minutes")
    return stream.groupBy(F.window("ts", "1 minute"), "k").agg(F.sum("id"), F.avg("id"))


def distinct(spark: SparkSession, source: Path) -> DataFrame:
    """Keys that compress well."""
    _write(spark, "concat(repeat('key ', cast(id % 9 as int)), id) as k", source)
    return _stream(spark, source).dropDuplicates()


def join(spark: SparkSession, source: Path) -> DataFrame:
    """A join of two streams: four stores in each partition."""
    _events(spark, source)
    left = _stream(spark, source).withWatermark("ts", "1 hour")
    right = left.select(F.col("k").alias("k2"), F.col("ts").alias("ts2"), F.col("id").alias("id2"))
    right = right.where("id2 % 2 = 0")
    near = F.expr("k = k2 and ts2 between ts - interval 1 minute and ts + interval 1 minute")
    return left.join(right, near, "left_outer")


def sums(spark: SparkSession, source: Path) -> DataFrame:
    """An aggregation of few keys, each of which changes in every batch."""
    _events(spark, source)
    return _stream(spark, source).groupBy("k").agg(F.sum("id"), F.max("ts"))


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

    _events(spark, source)
    keyed = _stream(spark, source).groupBy("k")
    return keyed.transformWithState(Totals(), "k string, n long", "Update", "None")


@dataclass(frozen=True)
class Query:
    """A query, what it runs with and the first Spark that can.

    Settings are named without `spark.sql.streaming.stateStore.`. With `repeated` the last batch is
    run twice, as after a driver that was killed before it could commit it. What it `needs` besides
    pyspark is a module.
    """

    stream: Callable[[SparkSession, Path], DataFrame]
    mode: str = "append"
    settings: dict[str, str] = field(default_factory=dict)
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


def main(folder: Path, *names: str) -> None:
    spark = _session()
    made = [name for name in names or QUERIES if QUERIES[name].is_possible]
    for name in made:
        query = QUERIES[name]
        for setting, value in query.settings.items():
            spark.conf.set(f"{STATE_STORE}.{setting}", value)
        checkpoint = folder / name / "checkpoint"
        stream = query.stream(spark, folder / name / "source")
        _run(stream, query.mode, checkpoint)
        if query.repeated:
            newest = max(checkpoint.glob("commits/[0-9]*"), key=lambda file: int(file.name))
            newest.unlink()
            newest.with_name(f".{newest.name}.crc").unlink()
            _run(stream, query.mode, checkpoint)
        if SPARK >= (4, 0) and query.is_readable:
            _write_expected(spark, folder / name)
        for setting in query.settings:
            spark.conf.unset(f"{STATE_STORE}.{setting}")
    spark.stop()
    print(json.dumps(made))


def read(folder: Path) -> None:
    """Write what this Spark reads from checkpoints that are there."""
    spark = _session()
    made = sorted(path.parent for path in folder.glob("*/checkpoint"))
    for place in made:
        _write_expected(spark, place)
    spark.stop()
    print(json.dumps([place.name for place in made]))


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.timeType.enabled", "true")
        .config("spark.sql.streaming.checkpointFileManagerClass", FILE_MANAGER)
        .config(f"{STATE_STORE}.maintenanceInterval", "100ms")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    if SPARK >= WITH_IDS_SINCE:
        from holdfast import configure

        provider = f"{STATE_STORE}.providerClass"
        default = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
        configure(builder).config(provider, default)
    return builder.getOrCreate()


def _run(stream: DataFrame, mode: str, checkpoint: Path) -> None:
    writer = stream.writeStream.outputMode(mode).option("checkpointLocation", str(checkpoint))
    writer.format("noop").trigger(availableNow=True).start().awaitTermination()


def _write_expected(spark: SparkSession, place: Path) -> None:
    expected = json.dumps(_read_state(spark, place / "checkpoint"), indent=1)
    (place / "expected.json").write_text(expected)


def _events(spark: SparkSession, source: Path) -> None:
    _write(spark, "id, cast(id % 5 as string) as k, timestamp_seconds(id * 30) as ts", source)


def _write(spark: SparkSession, columns: str, source: Path) -> None:
    rows = spark.range(0, ROWS, 1, FILES)
    select = f"select {columns} from {{rows}}"  # noqa: S608 - the columns stand in this file
    spark.sql(select, rows=rows).write.parquet(str(source))


def _stream(spark: SparkSession, source: Path) -> DataFrame:
    schema = spark.read.parquet(str(source)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))


def _read_state(spark: SparkSession, checkpoint: Path) -> list[Any]:
    entries = []
    batches = sorted(int(p.name) for p in (checkpoint / "commits").iterdir() if p.name.isdecimal())
    folders = (path for path in (checkpoint / "state/0/0").iterdir() if path.is_dir())
    # Spark 3.5 wrote no metadata that would tell the stores.
    stores = sorted(path.name for path in folders if path.name != "_metadata") or ["default"]
    for batch in batches[-2:]:
        for store in stores:
            entries.append(_read_store(spark, checkpoint, batch, {"storeName": store}))
        if len(stores) > 1:
            for side in ("left", "right"):
                entries.append(_read_store(spark, checkpoint, batch, {"joinSide": side}))
    return entries


def _read_store(
    spark: SparkSession, checkpoint: Path, batch: int, more: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    options = {"batchId": str(batch), "operatorId": "0", **more}
    rows = spark.read.format("statestore").options(**options).load(str(checkpoint))
    rows = rows.select("partition_id", *(_collectable(rows, name).alias(name) for name in _STRUCTS))
    return options, sorted(
        _text([row.partition_id, *(list(row[name].asDict(True).values()) for name in _STRUCTS)])
        for row in rows.collect()
    )


def _text(row: list[Any]) -> str:
    return json.dumps(_with_text_as_names(row), default=_plain, sort_keys=True)


def _with_text_as_names(value: Any) -> Any:  # noqa: ANN401 - whatever a row holds
    if isinstance(value, dict):
        return {str(name): _with_text_as_names(part) for name, part in value.items()}
    return [_with_text_as_names(part) for part in value] if isinstance(value, list) else value


def _plain(value: Any) -> object:  # noqa: ANN401 - whatever a row holds
    if type(value).__name__ == "VariantVal":  # pyspark has it since 4.0
        return {"value": value.value.hex(), "metadata": value.metadata.hex()}
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)


def _collectable(rows: DataFrame, name: str) -> Column:
    """The struct with fields named for their place: the names of an aggregation repeat."""
    struct = rows.schema[name].dataType
    assert isinstance(struct, StructType)
    places = StructType([StructField(f"c{i}", field.dataType) for i, field in enumerate(struct)])
    placed = F.col(name).cast(places)
    columns = [
        _as_numbers(placed[field.name], field.dataType).alias(field.name) for field in places
    ]
    return F.struct(*columns)


def _as_numbers(column: Column, kind: DataType) -> Column:
    if isinstance(kind, ArrayType):
        return F.transform(column, lambda element: _as_numbers(element, kind.elementType))
    if isinstance(kind, YearMonthIntervalType):
        return column.cast("interval month").cast("int")
    if kind.typeName() == "interval":
        return F.when(
            column.isNotNull(),
            F.struct(
                (F.extract(F.lit("YEAR"), column) * 12 + F.extract(F.lit("MONTH"), column))
                .cast("int")
                .alias("months"),
                F.extract(F.lit("DAY"), column).cast("int").alias("days"),
                (
                    F.extract(F.lit("HOUR"), column) * 3_600_000_000
                    + F.extract(F.lit("MINUTE"), column) * 60_000_000
                    + F.extract(F.lit("SECOND"), column) * 1_000_000
                )
                .cast("long")
                .alias("microseconds"),
            ),
        )
    return column


if __name__ == "__main__":
    if sys.argv[1] == "--read":
        read(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])
