"""How rows of a schema go to the server in bulk and come from there."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    UserDefinedType,
    VariantType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorApiClient

Sent = tuple[Any, ...] | bytes
_NONE = type(None)
_SCALARS = frozenset({int, float, str, bool, bytes, _NONE})
# What comes back as it was sent, and how large it may be.
_SAME: dict[type[DataType], type] = {
    BooleanType: bool,
    DoubleType: float,
    StringType: str,
    LongType: int,
    IntegerType: int,
}
# Of these the server has another value for each that is sent. It has one for the decimals 1.0 and
# 1.00, and for 1 and "1" as a string.
_TOLD_APART: dict[type[DataType], type] = {
    **_SAME,
    BinaryType: bytes,
    ByteType: int,
    DateType: datetime.date,
    ShortType: int,
    TimestampNTZType: datetime.datetime,
    TimestampType: datetime.datetime,
}
_BITS: dict[type[DataType], int] = {LongType: 64, IntegerType: 32, ShortType: 16, ByteType: 8}
# Of these a value may be of any size.
_LARGE = (StringType, BinaryType)
_SIZED = frozenset({str, bytes})
OF_PARTS = (ArrayType, MapType, StructType, UserDefinedType, VariantType)


class RowForm:
    """Turns rows into what is sent, and what comes into rows.

    Most rows are tuples of plain values, which are sent as they are, many at a time. All others are
    pickled at once, as Spark's client does it: what a user changes later is not sent then.

    Args:
        client: Spark's client.
        schema: of the rows.
    """

    def __init__(self, client: StatefulProcessorApiClient, schema: StructType) -> None:
        self._client = client
        self._schema = schema
        self._converted = schema.needConversion() and any(
            field.dataType.needConversion() for field in schema.fields
        )
        self.lasting = not any(isinstance(field.dataType, OF_PARTS) for field in schema.fields)
        """Whether nobody can change a row that has come."""
        types = [type(field.dataType) for field in schema.fields]
        self._same = tuple([_SAME.get(kind) for kind in types])
        self._told_apart = tuple([_TOLD_APART.get(kind) for kind in types])
        self._floats = [at for at, kind in enumerate(types) if kind is DoubleType]
        self._large = any(issubclass(kind, _LARGE) for kind in types)
        self._most = [(at, 1 << _BITS[kind] - 1) for at, kind in enumerate(types) if kind in _BITS]

    def sent(self, row: tuple[Any, ...]) -> Sent:
        """Return a row as it is sent."""
        if type(row) is tuple and not self._converted and _SCALARS.issuperset(map(type, row)):
            return row
        return self._client._serialize_to_bytes(self._schema, row)

    def size(self, sent: Sent) -> int:
        """Return about how many bytes of a row there are beyond what every row has."""
        if isinstance(sent, bytes):
            return len(sent)
        return sum([len(value) for value in sent if type(value) in _SIZED]) if self._large else 0

    def comes_back(self, row: tuple[Any, ...]) -> bool:
        """Tell whether what would come for a row that was sent is that row."""
        return (
            type(row) is tuple
            and tuple(map(type, row)) == self._same
            and all(-most <= row[at] < most for at, most in self._most)
        )

    def told_apart(self, row: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Return a row as it is sent, None if to the server it may be one with a row unlike it.

        Such are rows with values that the server makes fit, as a number for a string. So are those
        with NaN, which differ here, and with zeros that have a sign, which do not.
        """
        if type(row) is not tuple:
            return None
        types = tuple(map(type, row))
        if types != self._told_apart:
            if len(types) != len(self._told_apart):
                return None
            pairs = zip(types, self._told_apart, strict=True)
            if not all(found is _NONE or found is wanted for found, wanted in pairs):
                return None
        if not all(row[at] is None or -most <= row[at] < most for at, most in self._most):
            return None
        if any(not row[at] or row[at] != row[at] for at in self._floats if row[at] is not None):
            return None
        return self._schema.toInternal(row) if self._converted else row

    def values(self, come: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of a row that has come."""
        return tuple(self._schema.fromInternal(come)) if self._converted else come

    def all_values(self, come: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return the values of rows that have come."""
        return [self.values(row) for row in come] if self._converted else list(come)

    def row(self, come: tuple[Any, ...]) -> Any:
        """Return a row that has come, as Spark makes it."""
        return self._schema.fromInternal(come)
