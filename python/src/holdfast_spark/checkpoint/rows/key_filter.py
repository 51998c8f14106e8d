"""Rows chosen by the fields of their keys."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from holdfast_spark.checkpoint.errors import CheckpointError


class KeyFilterError(CheckpointError):
    """A filter does not fit the keys."""


def matching(rows: pa.RecordBatch, filters: Sequence[str]) -> pa.RecordBatch:
    """Return the rows whose keys have the values asked for.

    Args:
        rows: rows with a column `key`.
        filters: `FIELD=VALUE` each, a field of a struct in the key being `struct.field`; `null` is
            for no value. Dates and times are ISO 8601, in UTC where Spark has an instant.

    Raises:
        KeyFilterError: a filter has no `=`, the key no such field, or the field another type.
    """
    for text in filters:
        name, equals, value = text.partition("=")
        if not equals:
            shown = text or "''"
            raise KeyFilterError(f"A filter is FIELD=VALUE, and {shown} has no =.")
        rows = rows.filter(_mask(_field(rows["key"], name), name, value))
    return rows


def _field(key: pa.StructArray, name: str) -> pa.Array:
    """Return a field of the key; a dot goes into a struct unless it is part of a name."""
    names = [field.name for field in key.type]
    if name in names:
        return key.field(name)
    outer, dot, inner = name.partition(".")
    if dot and outer in names and pa.types.is_struct(key.type.field(outer).type):
        return _field(key.field(outer), inner)
    raise KeyFilterError(f"The key has no field {name}: it has {', '.join(names) or 'none'}.")


def _mask(field: pa.Array, name: str, value: str) -> pa.Array:
    if value == "null":
        return field.is_null()
    try:
        # A time zone that is not told is UTC.
        if pa.types.is_timestamp(field.type):
            wanted = pc.cast(pa.scalar(value.removesuffix("Z")), pa.timestamp("us"))
            field = field.cast(pa.timestamp("us"))
        elif pa.types.is_binary(field.type):
            wanted = pa.scalar(value.encode(errors="surrogateescape"))
        else:
            wanted = pc.cast(pa.scalar(value), field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeEncodeError) as e:
        raise KeyFilterError(_unfit(field.type, name, value)) from e
    if pa.types.is_floating(field.type) and math.isnan(wanted.as_py()):
        return pc.fill_null(pc.is_nan(field), False)  # which equals nothing
    return pc.fill_null(pc.equal(field, wanted), False)


def _unfit(kind: pa.DataType, name: str, value: str) -> str:
    if pa.types.is_struct(kind):
        inner = ", ".join(f"{name}.{field.name}" for field in kind)
        return f"The field {name} of the key is a struct: name one of its fields, {inner}."
    if pa.types.is_nested(kind):
        return f"The field {name} of the key is a list or a map, which has no single value."
    if pa.types.is_timestamp(kind):
        return (
            f"The field {name} of the key is a time, and {value} is none: write it in UTC, like "
            "2026-01-01T00:00:00."
        )
    return f"The field {name} of the key is of type {kind}, and {value} is no such value."
