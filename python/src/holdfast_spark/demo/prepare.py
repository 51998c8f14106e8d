"""A user's own files made ready: chosen columns with known types, in order of time.

The files are written anew as Parquet, in as many files as there shall be micro-batches, whatever
files the user has. In order of time no row is later than the watermark, so the stream drops none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types

from holdfast_spark._text import counted
from holdfast_spark.demo.errors import DemoError, DemoUsageError, first_sentence
from holdfast_spark.demo.flights import set_reading_order
from holdfast_spark.demo.own_files import OwnFiles
from holdfast_spark.demo.plan import ColumnsQuery, Layout, Plan, Value, ValueKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a column is wanted for, and the types that do."""

    name: str
    types: tuple[type[types.DataType], ...]


TIME = Purpose(
    "a time (timestamp, date or text)",
    (types.StringType, types.DateType, types.TimestampType, types.TimestampNTZType),
)
KEY = Purpose(
    "a key (text, number, boolean, date or timestamp)",
    (
        types.StringType,
        types.NumericType,
        types.BooleanType,
        types.DateType,
        types.TimestampType,
    ),
)


def prepare(spark: SparkSession, own: OwnFiles, layout: Layout, *, files: int) -> Plan:
    """Write the input of the stream and say what it is.

    Raises:
        DemoUsageError: a column or an interval is not there or does not fit.
        DemoError: a file cannot be read.
    """
    check_intervals(spark, own)
    try:
        raw = read_own_files(spark, own)
        events, values = choose_columns(raw, own)
        counts = events.agg(F.count(F.lit(1)), F.count("time")).first()
        rows, timed = (0, 0) if counts is None else (counts[0], counts[1])
        if not timed:
            raise DemoUsageError(
                f"of {counted(rows, 'row')} in {own.folder}, none has a time in column "
                f"{own.time!r}: expected timestamps, dates or text such as 2013-01-01T10:00:00Z"
            )
        write_in_order(events.where(F.col("time").isNotNull()), layout.input, files)
    except (PySparkException, Py4JJavaError) as error:
        raise DemoError(
            f"the files in {own.folder} cannot be read as {own.format}: {first_sentence(error)}"
        ) from error
    return Plan(
        source=own.folder,
        format="parquet",
        schema=", ".join(f"{f.name} {f.dataType.simpleString()}" for f in events.schema),
        files=set_order_of_parts(layout.input),
        rows=timed,
        events=None,
        summary=counted(rows, "row")
        + (f", {rows - timed:,} without a time" if rows > timed else ""),
        brief=own.brief,
        query=ColumnsQuery(
            time=own.time, keys=own.keys, values=values, window=own.window, watermark=own.watermark
        ),
    )


def read_own_files(spark: SparkSession, own: OwnFiles) -> DataFrame:
    """Return the files with the types that Spark finds in them; a malformed row is an error."""
    reader = spark.read.format(own.format).option("recursiveFileLookup", own.nested)
    if own.format != "parquet":
        reader = reader.options(header=True, inferSchema=True, mode="FAILFAST")
    return reader.load(f"file://{own.folder}")


def choose_columns(raw: DataFrame, own: OwnFiles) -> tuple[DataFrame, tuple[Value, ...]]:
    """Return time, keys and every other numeric column, under the names the query knows them by."""
    find_column(raw, own, own.time, TIME)
    # `Column.try_cast` is there from Spark 4.0 on.
    columns = [F.expr(f"try_cast({path_of(raw, own.time)} AS timestamp)").alias("time")]
    for number, name in enumerate(own.keys):
        key = find_column(raw, own, name, KEY)
        columns.append(normal(raw, key).alias(f"key{number}"))
    values = tuple(
        Value(name=field.name, kind=kind)
        for field in raw.schema
        if field.name not in (own.time, *own.keys) and (kind := kind_of(field.dataType))
    )
    for number, value in enumerate(values):
        columns.append(normal(raw, F.col(quoted(value.name))).alias(f"value{number}"))
    return raw.select(*columns), values


def find_column(raw: DataFrame, own: OwnFiles, name: str, purpose: Purpose) -> Column:
    """Return the column called `name`, or the field of a struct when the name has dots."""
    column = F.col(path_of(raw, name))
    try:
        found = type_of(raw, column)
    except PySparkException as error:
        raise DemoUsageError(
            f"there is no column {name!r} in the files in {own.folder}: "
            f"their columns are {', '.join(raw.columns)}"
        ) from error
    if not isinstance(found, purpose.types):
        raise DemoUsageError(
            f"column {name!r} of the files in {own.folder} cannot be {purpose.name}: "
            f"its type is {found.simpleString()}"
        )
    return column


def path_of(raw: DataFrame, name: str) -> str:
    """Return the column called `name`, or the field of a struct, as Spark SQL names it."""
    if name in raw.columns:
        return quoted(name)
    return name if "`" in name else ".".join(map(quoted, name.split(".")))


def normal(raw: DataFrame, column: Column) -> Column:
    """Return the column with one form of each number.

    A state store tells keys apart by their bytes, batch aggregation by their value: they would
    disagree about 0.0 and -0.0, or about NaNs that differ in their bits.
    """
    if kind_of(type_of(raw, column)) != "floating":
        return column
    return F.nanvl(column.cast("double"), F.lit(float("nan"))) + F.lit(0.0)


def kind_of(data_type: types.DataType) -> ValueKind | None:
    """Return what kind of number a type holds; None when it holds none."""
    if isinstance(data_type, types.IntegralType):
        return "integer"
    if isinstance(data_type, types.DecimalType):
        return "decimal"
    return "floating" if isinstance(data_type, types.FractionalType) else None


def type_of(raw: DataFrame, column: Column) -> types.DataType:
    """Return the type of a column; raises Spark's `AnalysisException` when there is none such."""
    return raw.select(column).schema[0].dataType


def quoted(name: str) -> str:
    """Return a column's name as Spark SQL takes it literally, dots and all."""
    return "`" + name.replace("`", "``") + "`"


def write_in_order(events: DataFrame, folder: Path, files: int) -> None:
    """Write `events` as at most `files` Parquet files, each later in time than the one before."""
    ordered = events.repartitionByRange(files, "time").sortWithinPartitions(*events.columns)
    ordered.write.parquet(f"file://{folder}")


def set_order_of_parts(folder: Path) -> int:
    """Give the files of `write_in_order` their reading order; returns how many there are."""
    parts = sorted(folder.glob("part-*.parquet"))
    for number, part in enumerate(parts):
        set_reading_order(part, number)
    return len(parts)


def check_intervals(spark: SparkSession, own: OwnFiles) -> None:
    """Let Spark try the user's intervals.

    Raises:
        DemoUsageError: one is no interval, or not one that a stream can use.
    """
    times = spark.range(1).select(F.current_timestamp().alias("time"))
    try:
        times.groupBy(F.window("time", own.window)).count()
    except PySparkException as error:
        raise DemoUsageError(
            f"--window {own.window!r} is no window of time such as '1 hour': "
            f"{first_sentence(error)}"
        ) from error
    try:
        times.withWatermark("time", own.watermark)
    except PySparkException as error:
        raise DemoUsageError(
            f"--watermark {own.watermark!r} is no delay such as '1 day': {first_sentence(error)}"
        ) from error
