"""The rows of a state, as Spark's `statestore` source reads them, for `expected.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    StructField,
    StructType,
    YearMonthIntervalType,
)

_STRUCTS = ("key", "value")


def read_state(spark: SparkSession, checkpoint: Path) -> list[Any]:
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
    return read_store(spark, checkpoint, {"batchId": str(batch), "operatorId": "0", **more})


def read_store(
    spark: SparkSession, checkpoint: Path, options: dict[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the options and the rows that the source reads with them, as text in order."""
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
