"""The schema of rows that have none, as far as their bytes tell.

A row begins with null bits and a word for each field; what has no fixed length follows, and the
field says where and how long it is (`rows.unsafe_row`). So the number of fields is the one with
which what follows is covered by what the fields point to. Numbers of any kind, times and dates are
shown as long; text as string, where it is UTF-8, or binary, which structs and arrays are, too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY, ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import AtomicType, StructField, StructType
from holdfast_spark.checkpoint.rows.records import Records

_WORD = 8
# What a decimal of many digits has reserved, however long it is.
_DECIMAL_BYTES = 16
_ENOUGH_ROWS = 1000
_LONG, _STRING, _BINARY = (AtomicType(name) for name in ("long", "string", "binary"))


def guess_schema(pieces: Iterable[Records]) -> ColumnFamily | None:
    """Return a schema that the rows can be read by, with the fields `field0`, `field1` and so on.

    Returns:
        The schema with the fewest fields that all rows fit; None where there is none.
    """
    keys: list[bytes] = []
    values: list[bytes] = []
    for records in pieces:
        rows = records.where(records.value_lengths >= 0)
        keys += rows.key_bytes()[: _ENOUGH_ROWS - len(keys)]
        values += rows.value_bytes()[: _ENOUGH_ROWS - len(values)]
    key, value = _guess(keys), _guess(values)
    if key is None or value is None:
        return None
    return ColumnFamily(name=DEFAULT_COLUMN_FAMILY, key=key, value=value)


def _guess(rows: Sequence[bytes]) -> StructType | None:
    shortest = min((len(row) for row in rows), default=0)
    count = 0
    while (_null_words(count) + count) * _WORD <= shortest:
        found = [_fields(row, count) for row in rows]
        if all(fields is not None for fields in found):
            return StructType(tuple(_field(place, rows, found) for place in range(count)))
        count += 1
    return None


def _null_words(count: int) -> int:
    return (count + 63) // 64


def _fields(row: bytes, count: int) -> list[tuple[int, int] | None] | None:
    """Return where the fields point to; None where that is not all that follows, once."""
    start = _null_words(count) * _WORD
    bits = int.from_bytes(row[:start], "little")
    if bits >> count:
        return None
    words = struct.unpack_from(f"<{count}Q", row, start)
    ends = {start + count * _WORD}
    parts: list[tuple[int, int] | None] = []
    for place, word in enumerate(words):
        offset, size = word >> 32, word & 0xFFFFFFFF
        points = not bits >> place & 1 and offset in ends and offset + size <= len(row)
        if points and offset < len(row):
            parts.append((offset, size))
            ends = {offset + -(-size // _WORD) * _WORD}
            if size <= _DECIMAL_BYTES:
                ends.add(offset + _DECIMAL_BYTES)
        else:
            parts.append(None)
    return parts if len(row) in ends else None


def _field(
    place: int, rows: Sequence[bytes], found: Sequence[list[tuple[int, int] | None] | None]
) -> StructField:
    """Return a field: without a fixed length where one of the rows has something behind it."""
    parts = [
        row[part[0] : part[0] + part[1]]
        for row, fields in zip(rows, found, strict=True)
        if fields and (part := fields[place])
    ]
    kind = _LONG
    if parts:
        kind = _STRING if all(map(_is_text, parts)) else _BINARY
    return StructField(f"field{place}", kind)


def _is_text(content: bytes) -> bool:
    try:
        return content.decode().isprintable()
    except UnicodeDecodeError:
        return False
