"""Rows in and out of handlers of `transformWithState`."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BinaryType, StringType
from pyspark.sql.types import Row as SparkRow

from holdfast_spark.transform._form import OF_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql.types import StructType

    from holdfast_spark.transform._groups import Group, Row


class RowForm:
    """Gives handlers rows.

    Args:
        key_offsets: which columns are the grouping key.
    """

    def __init__(self, key_offsets: Sequence[int]) -> None:
        self._key_offsets = key_offsets
        self._rows: list[Row] = []

    def take(self, batch: pa.RecordBatch) -> tuple[Sequence[Row], Sequence[Row]]:
        """Make a batch the current one; return its rows and their keys."""
        columns = [column.to_pylist() for column in batch.columns]
        kind = SparkRow(*batch.schema.names)
        self._rows = [kind(*values) for values in zip(*columns, strict=True)]
        keys = list(zip(*[columns[offset] for offset in self._key_offsets], strict=True))
        return self._rows, keys

    def give(self, start: int, end: int) -> Iterator[Any]:
        """Return rows of the current batch."""
        return iter(self._rows[start:end])

    def join(self, group: Group, more: Iterator[Sequence[Row]]) -> Iterator[Any]:
        """Return the rows of a group and what there is more of its key."""
        return itertools.chain(group.given, itertools.chain.from_iterable(more))


class RowOutput:
    """Makes batches of the rows that handlers return, as they are when they are returned.

    Args:
        return_type: their schema.
        most_rows: of a batch.
        most_bytes: of what is of any length in a batch, but for a larger row.
    """

    def __init__(self, return_type: StructType, most_rows: int, most_bytes: int) -> None:
        # As Spark's worker has it: of UTC, whatever the session's time zone.
        fields = to_arrow_type(return_type, timezone="UTC", prefers_large_types=False)
        self._schema = pa.schema(list(fields))
        self._most_rows = most_rows
        self._most_bytes = most_bytes
        types = {field.name: field.dataType for field in return_type.fields}
        # Whose values a handler may change afterwards, and those that are of any length.
        self._changing = [
            name for name, kind in types.items() if isinstance(kind, (*OF_PARTS, BinaryType))
        ]
        self._long = [
            name
            for name, kind in types.items()
            if isinstance(kind, StringType) or name in self._changing
        ]
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, results: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        """Take what a handler returned; yield the batches that are full."""
        for row in results:
            values = row.asDict(True)
            for name in self._changing:
                if name in values:
                    values[name] = copy.deepcopy(values[name])
            self._rows.append(values)
            self._bytes += sum(_bytes_of(values.get(name)) for name in self._long)
            if len(self._rows) >= self._most_rows or self._bytes >= self._most_bytes:
                yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield a batch of what is left, if anything is."""
        if self._rows:
            batch = pa.RecordBatch.from_pylist(self._rows, schema=self._schema)
            self._rows, self._bytes = [], 0
            yield wrapped(batch)


def _bytes_of(value: Any) -> int:
    """Return about how many bytes a value takes."""
    if isinstance(value, (str, bytes, bytearray)):
        return len(value)
    if isinstance(value, dict):
        return sum(_bytes_of(key) + _bytes_of(of_key) for key, of_key in value.items())
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes_of, value))
    return int(getattr(value, "nbytes", 8))


def wrapped(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch as Spark reads it: as one column of structs."""
    fields = pa.struct(list(batch.schema))
    return pa.RecordBatch.from_arrays(
        [pa.StructArray.from_arrays(batch.columns, fields=list(fields))], ["_0"]
    )
