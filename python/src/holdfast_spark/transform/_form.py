"""How rows of a schema go to the server in bulk and come from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructType,
    UserDefinedType,
    VariantType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorApiClient

Sent = tuple[Any, ...] | bytes
_SCALARS = frozenset({int, float, str, bool, bytes, type(None)})
# Of these two are equal only if they are the same, as `True` and `1` or `0.0` and `-0.0` are not.
_DISTINCT = frozenset({int, str, bytes, type(None)})
# What comes back as it was sent, and how large it may be.
_SAME: dict[type[DataType], type] = {
    BooleanType: bool,
    DoubleType: float,
    StringType: str,
    LongType: int,
    IntegerType: int,
}
_BITS: dict[type[DataType], int] = {LongType: 64, IntegerType: 32}
_OF_PARTS = (ArrayType, MapType, StructType, UserDefinedType, VariantType)


class RowForm:
    """Turns rows into what is sent, and what comes into rows.

    Most rows are tuples of plain values, which are sent as they are, many at a time. All others are
    pickled at once, as Spark's client does it: what a user changes later is not sent then.

    Args:
        client: Spark's client.
        schema: of the rows.
        distinct: whether different rows must not be equal as they are sent.
    """

    def __init__(
        self, client: StatefulProcessorApiClient, schema: StructType, *, distinct: bool = False
    ) -> None:
        self._client = client
        self._plain = _DISTINCT if distinct else _SCALARS
        self._schema = schema
        self._converted = schema.needConversion() and any(
            field.dataType.needConversion() for field in schema.fields
        )
        self.lasting = not any(isinstance(field.dataType, _OF_PARTS) for field in schema.fields)
        """Whether nobody can change a row that has come."""
        types = [type(field.dataType) for field in schema.fields]
        self._same = tuple([_SAME.get(kind) for kind in types])
        self._most = [(at, 1 << _BITS[kind] - 1) for at, kind in enumerate(types) if kind in _BITS]

    def sent(self, row: tuple[Any, ...]) -> Sent:
        """Return a row as it is sent."""
        if type(row) is tuple and not self._converted and self._plain.issuperset(map(type, row)):
            return row
        return self._client._serialize_to_bytes(self._schema, row)

    def comes_back(self, row: tuple[Any, ...]) -> bool:
        """Tell whether what would come for a row that was sent is that row."""
        return (
            type(row) is tuple
            and tuple(map(type, row)) == self._same
            and all(-most <= row[at] < most for at, most in self._most)
        )

    def values(self, come: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the values of a row that has come."""
        return tuple(self._schema.fromInternal(come)) if self._converted else come

    def all_values(self, come: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return the values of rows that have come."""
        return [self.values(row) for row in come] if self._converted else list(come)

    def row(self, come: tuple[Any, ...]) -> Any:
        """Return a row that has come, as Spark makes it."""
        return self._schema.fromInternal(come)
