"""Rows as JSON, a column at a time."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# What cannot stand in a JSON string as it is.
_SPECIAL = r'["\\\x00-\x1f]'

# The date in front of a time.
_DATE = r"^(-?\d+-\d+-\d+) "

_dumps = partial(json.dumps, ensure_ascii=False)


def json_lines(rows: pa.RecordBatch) -> str:
    """Return rows as one JSON object a line, the columns its fields; `json_text` tells how."""
    if not len(rows):
        return ""
    lines = _joined(json_text(pa.StructArray.from_arrays(rows.columns, rows.schema.names)), "\n")
    return bytes(lines.buffers()[2]).decode()


def json_rows(rows: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Yield rows as what `json_text` makes of them, parsed."""
    for line in json_lines(rows).split("\n")[:-1]:
        yield json.loads(line)


def json_text(array: pa.Array) -> pa.StringArray:
    """Return each value of an array as JSON.

    Decimals are text, so that no digit is lost, binaries Base64, dates and times ISO 8601, day-time
    intervals their microseconds, maps objects with text as keys, and NaN and infinity the text that
    Spark has for them.
    """
    kind = array.type
    if pa.types.is_null(kind):
        text = array.cast(pa.string())
    elif pa.types.is_struct(kind):
        text = _struct(array)
    elif pa.types.is_map(kind):
        pairs = _joined(_as_name(json_text(array.keys)), ": ", json_text(array.items))
        text = _joined("{", _in_lists(array, pairs), "}")
    elif pa.types.is_list(kind):
        text = _joined("[", _in_lists(array, json_text(array.values)), "]")
    else:
        text = _atom(array)
    return pc.fill_null(pc.if_else(array.is_null(), None, text), "null")


def _struct(array: pa.StructArray) -> pa.StringArray:
    pieces: list[pa.StringArray | str] = []
    for index, field in enumerate(array.type):
        lead = "{" if index == 0 else ", "
        pieces += [f"{lead}{_dumps(field.name)}: ", json_text(array.field(index))]
    if not pieces:
        return pa.repeat(pa.scalar("{}"), len(array))
    return _joined(*pieces, "}")


def _atom(array: pa.Array) -> pa.StringArray:
    kind = array.type
    if pa.types.is_floating(kind):
        text = _floats(array)
    elif pa.types.is_duration(kind):
        text = array.cast(pa.int64()).cast(pa.string())
    elif pa.types.is_string(kind):
        text = _strings(array)
    elif pa.types.is_binary(kind):
        encoded = [None if v is None else base64.b64encode(v).decode() for v in array.to_pylist()]
        text = _joined('"', pa.array(encoded, pa.string()), '"')
    elif pa.types.is_timestamp(kind):
        iso = pc.replace_substring_regex(array.cast(pa.string()), _DATE, r"\1T")
        text = _joined('"', iso, '"')
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        text = array.cast(pa.string())
    else:  # decimals, dates and times of day
        text = _joined('"', array.cast(pa.string()), '"')
    return text


def _floats(array: pa.Array) -> pa.StringArray:
    text = array.cast(pa.string())
    if pc.all(pc.is_finite(array)).as_py() is not False:
        return text
    infinite = pc.if_else(pc.greater(array, 0), '"Infinity"', '"-Infinity"')
    other = pc.if_else(pc.is_nan(array), '"NaN"', infinite)
    return pc.if_else(pc.is_finite(array), text, other)


def _strings(array: pa.StringArray) -> pa.StringArray:
    if pc.any(pc.match_substring_regex(array, _SPECIAL)).as_py():
        return pa.array([None if v is None else _dumps(v) for v in array.to_pylist()], pa.string())
    return _joined('"', array, '"')


def _as_name(text: pa.StringArray) -> pa.StringArray:
    """Return the JSON of keys as names of fields, which have to be strings."""
    if pc.all(pc.starts_with(text, '"')).as_py():
        return text
    names = [name if name.startswith('"') else _dumps(name) for name in text.to_pylist()]
    return pa.array(names, pa.string())


def _in_lists(array: pa.ListArray | pa.MapArray, texts: pa.StringArray) -> pa.StringArray:
    """Return the texts of all elements as they are spread over lists, separated by commas."""
    lists = pa.ListArray.from_arrays(array.offsets, texts)
    return pc.binary_join(lists, ", ")


def _joined(*pieces: pa.StringArray | str) -> pa.StringArray:
    """Join columns and constants; null where one of them is."""
    return pc.binary_join_element_wise(*pieces, "")
