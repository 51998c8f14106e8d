"""Arrow arrays for the values of Spark's types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    DecimalType,
    MapType,
    SparkType,
    StructType,
)

# What is stored in place: its numpy type and the Arrow type that it has in memory too.
IN_PLACE: dict[str, tuple[str, pa.DataType]] = {
    "boolean": ("u1", pa.bool_()),
    "byte": ("i1", pa.int8()),
    "short": ("<i2", pa.int16()),
    "integer": ("<i4", pa.int32()),
    "long": ("<i8", pa.int64()),
    "float": ("<f4", pa.float32()),
    "double": ("<f8", pa.float64()),
    "date": ("<i4", pa.date32()),
    "timestamp": ("<i8", pa.timestamp("us", tz="UTC")),
    "timestamp_ntz": ("<i8", pa.timestamp("us")),
    "time": ("<i8", pa.time64("ns")),
    "day-time interval": ("<i8", pa.duration("us")),
    "year-month interval": ("<i4", pa.int32()),
}

# The parts of a calendar interval: name, numpy type and place.
INTERVAL = (("months", "<i4", 0), ("days", "<i4", 4), ("microseconds", "<i8", 8))

_ATOMIC: dict[str, pa.DataType] = {
    **{name: arrow for name, (_, arrow) in IN_PLACE.items()},
    "void": pa.null(),
    "string": pa.string(),
    "binary": pa.binary(),
    "interval": pa.struct([(name, pa.from_numpy_dtype(dtype)) for name, dtype, _ in INTERVAL]),
    "variant": pa.struct([("value", pa.binary()), ("metadata", pa.binary())]),
}


def arrow_type(kind: SparkType) -> pa.DataType:
    """Return the Arrow type that values of a Spark type are given.

    What Arrow lacks: a year-month interval is its months, a calendar interval a struct of months,
    days and microseconds, a variant a struct of its two binaries.
    """
    if isinstance(kind, DecimalType):
        arrow = pa.decimal128(kind.precision, kind.scale)
    elif isinstance(kind, ArrayType):
        arrow = pa.list_(arrow_type(kind.element))
    elif isinstance(kind, MapType):
        arrow = pa.map_(arrow_type(kind.key), arrow_type(kind.value))
    elif isinstance(kind, StructType):
        names = unique_names([field.name for field in kind.fields])
        types = [arrow_type(field.type) for field in kind.fields]
        arrow = pa.struct(list(zip(names, types, strict=True)))
    else:
        arrow = _ATOMIC[kind.name]
    return arrow


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names with `_2` and so on behind those that were there before."""
    unique: dict[str, None] = {}
    for name in names:
        candidate, times = name, 1
        while candidate in unique:
            times += 1
            candidate = f"{name}_{times}"
        unique[candidate] = None
    return list(unique)


def value_array(
    arrow: pa.DataType,
    data: npt.NDArray[Any],
    valid: npt.NDArray[np.bool_] | None,
) -> pa.Array:
    """Make an array of values that lie in memory as Arrow has them."""
    bitmap = None
    if valid is not None and not valid.all():
        bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
    count = len(data) if valid is None else len(valid)
    return pa.Array.from_buffers(arrow, count, [bitmap, pa.py_buffer(np.ascontiguousarray(data))])


def text_array(array: pa.Array) -> pa.Array:
    """Return the strings, with U+FFFD for what is not UTF-8: Spark's strings may be any bytes."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.cast(pa.binary()).to_pylist()
        return pa.array([value.decode("utf-8", errors="replace") for value in raw], pa.string())
    return array


def list_offsets(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return where each of some lists begins, and behind them where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
