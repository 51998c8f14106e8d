"""Runs small streaming queries with Spark's default provider and keeps their checkpoints.

    make_checkpoints.py FOLDER [QUERY ...]

Makes `FOLDER/<query>/checkpoint` for each query, all of them when none is named, and writes what
Spark's `statestore` source reads from it to `FOLDER/<query>/expected.json`: a list of
[source options, rows], a row being the JSON text of [partition_id, values of the key, values of the
value]. Structs and maps are objects, binaries hexadecimal, and what JSON lacks is as Python's `str`
has it. What pyspark cannot collect is turned into numbers by Spark: year-month intervals into
months, calendar intervals into months, days and microseconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    StructField,
    StructType,
    VariantVal,
    YearMonthIntervalType,
)

FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
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


# What parquet does not keep.
COMPUTED_COLUMNS = {
    "ci": "make_interval(1, cast(id as int), 0, cast(id % 3 as int), 5, 6, 7.25 - id)",
    "variant": "parse_json(concat('{\"id\": ', id, '}'))",
    "clock": "make_time(cast(id % 24 as int), 7, id / 8)",
}


def typed(spark: SparkSession, source: Path) -> DataFrame:
    """Every type that state can hold, nullable ones also null: in values, in arrays, in maps."""
    _write(spark, TYPED_COLUMNS, source)
    stream = _stream(spark, source).withColumns(
        {name: F.expr(sql) for name, sql in COMPUTED_COLUMNS.items()}
    )
    firsts = [F.first(name).alias(f"first_{name}") for name in stream.columns if name != "k"]
    return stream.groupBy("k").agg(*firsts, F.count("*").alias("n"))


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


Query = Callable[[SparkSession, Path], DataFrame]

# Query, output mode and settings below spark.sql.streaming.stateStore.
QUERIES: dict[str, tuple[Query, str, dict[str, str]]] = {
    "typed": (typed, "update", {"rowChecksum.enabled": "true"}),
    "typed_keys": (typed_keys, "append", {}),
    "windows": (windows, "append", {"minDeltasForSnapshot": "2"}),
    "join": (join, "append", {}),
    "zstd": (distinct, "append", {"compression.codec": "zstd"}),
    "snappy": (distinct, "append", {"compression.codec": "snappy"}),
    "lzf": (distinct, "append", {"compression.codec": "lzf"}),
}


def main(folder: Path, *names: str) -> None:
    spark = (
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
        .getOrCreate()
    )
    for name in names or QUERIES:
        query, mode, settings = QUERIES[name]
        for setting, value in settings.items():
            spark.conf.set(f"{STATE_STORE}.{setting}", value)
        checkpoint = folder / name / "checkpoint"
        _run(query(spark, folder / name / "source"), mode, checkpoint)
        expected = json.dumps(_read_state(spark, checkpoint), indent=1)
        (folder / name / "expected.json").write_text(expected)
        for setting in settings:
            spark.conf.unset(f"{STATE_STORE}.{setting}")
    spark.stop()
    print(json.dumps(list(names or QUERIES)))


def _run(stream: DataFrame, mode: str, checkpoint: Path) -> None:
    writer = stream.writeStream.outputMode(mode).option("checkpointLocation", str(checkpoint))
    writer.format("noop").trigger(availableNow=True).start().awaitTermination()


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
    stores = spark.read.format("state-metadata").load(str(checkpoint)).collect()
    for batch in batches[-2:]:
        for store in stores:
            named = {"storeName": store.stateStoreName}
            entries.append(_read_store(spark, checkpoint, batch, store.operatorId, named))
        if len(stores) > 1:
            for side in ("left", "right"):
                entries.append(_read_store(spark, checkpoint, batch, 0, {"joinSide": side}))
    return entries


def _read_store(
    spark: SparkSession, checkpoint: Path, batch: int, operator: int, more: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    options = {"batchId": str(batch), "operatorId": str(operator), **more}
    rows = spark.read.format("statestore").options(**options).load(str(checkpoint))
    rows = rows.select("partition_id", *(_collectable(rows, name).alias(name) for name in _STRUCTS))
    return options, sorted(
        _text([row.partition_id, *(list(row[name].asDict(True).values()) for name in _STRUCTS)])
        for row in rows.collect()
    )


def _text(row: list[Any]) -> str:
    return json.dumps(row, default=_plain, sort_keys=True)


def _plain(value: object) -> object:
    if isinstance(value, VariantVal):
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
    main(Path(sys.argv[1]), *sys.argv[2:])
