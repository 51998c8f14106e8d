"""What the queries of `make_checkpoints.py` read: columns of every type, and events."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from checkpoint.apps.spark_classes import SPARK

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


def known(columns: dict[str, tuple[tuple[int, int], str]]) -> dict[str, Column]:
    return {name: F.expr(sql) for name, (since, sql) in columns.items() if since <= SPARK}


def write_events(spark: SparkSession, source: Path) -> None:
    write_rows(spark, "id, cast(id % 5 as string) as k, timestamp_seconds(id * 30) as ts", source)


def write_rows(spark: SparkSession, columns: str, source: Path) -> None:
    rows = spark.range(0, ROWS, 1, FILES)
    select = f"select {columns} from {{rows}}"  # noqa: S608 - the columns stand in this file
    spark.sql(select, rows=rows).write.parquet(str(source))


def streamed(spark: SparkSession, source: Path) -> DataFrame:
    schema = spark.read.parquet(str(source)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))
