"""Bytes of a row as Spark lays it out in memory and in state files.

A row is an `UnsafeRow` (4.3; so are structs within rows):

    row    | one bit for each field, in words of 8 bytes | 8 bytes for each field | parts ...
    array  | count, 8 bytes | one bit for each element, in words | elements, in words | parts ...
    map    | bytes of the keys, 8 bytes | array of keys | array of values |

Whatever is longer than 8 bytes, or has no fixed length, is a part, in words of 8 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    AtomicType,
    DecimalType,
    MapType,
    SparkType,
    StructType,
)

# What a length is taken to be that nobody told.
_DEFAULT_BYTES = 16
_DEFAULT_ELEMENTS = 4

_WORD = 8
_LONG_DECIMAL_DIGITS = 18
_LONG_DECIMAL_BYTES = 16
_INTERVAL_BYTES = 16
# Bytes of an element in an array; of all other types 8.
_ELEMENT_BYTES = {
    "boolean": 1,
    "byte": 1,
    "short": 2,
    "integer": 4,
    "float": 4,
    "date": 4,
    "year-month interval": 4,
}
_OF_ANY_LENGTH = ("string", "binary", "variant")


class RowSizer:
    """Sizes of rows whose strings, arrays and so on have average lengths.

    Attributes:
        assumed: the length of fields that nobody told, such as `16 bytes`, by their path.
        unused: paths that lengths were told for, and that no schema so far has.
    """

    def __init__(self, lengths: Mapping[str, int]) -> None:
        self.assumed: dict[str, str] = {}
        self.unused = set(lengths)
        self._lengths = lengths

    def row(self, schema: StructType, path: str = "") -> int:
        """Return the bytes of a row without nulls.

        Args:
            schema: its schema.
            path: path of the struct, empty for a row.
        """
        parts = (
            self._part(field.type, f"{path}.{field.name}" if path else field.name)
            for field in schema.fields
        )
        fields = len(schema.fields)
        return _bits(fields) + _WORD * fields + sum(parts)

    def _part(self, kind: SparkType, path: str) -> int:
        """Return the bytes of a value beyond the word that it has in any case."""
        match kind:
            case DecimalType(precision, _):
                return _LONG_DECIMAL_BYTES if precision > _LONG_DECIMAL_DIGITS else 0
            case AtomicType("interval"):
                return _INTERVAL_BYTES
            case AtomicType(name):
                return _words(self._bytes(path)) if name in _OF_ANY_LENGTH else 0
            case StructType():
                return self.row(kind, path)
            case ArrayType(element):
                count = self._elements(path)
                return self._array(element, count, f"{path}.element")
            case MapType(key, value):
                count = self._elements(path)
                keys = self._array(key, count, f"{path}.key")
                return _WORD + keys + self._array(value, count, f"{path}.value")

    def _array(self, element: SparkType, count: int, path: str) -> int:
        size = _ELEMENT_BYTES.get(element.name, _WORD) if isinstance(element, AtomicType) else _WORD
        return _WORD + _bits(count) + _words(size * count) + count * self._part(element, path)

    def _bytes(self, path: str) -> int:
        return self._length(path, _DEFAULT_BYTES, "bytes")

    def _elements(self, path: str) -> int:
        return self._length(path, _DEFAULT_ELEMENTS, "elements")

    def _length(self, path: str, default: int, unit: str) -> int:
        self.unused.discard(path)
        if path not in self._lengths:
            self.assumed[path] = f"{default} {unit}"
        return self._lengths.get(path, default)


def _bits(count: int) -> int:
    return _WORD * ((count + 63) // 64)


def _words(size: int) -> int:
    return _WORD * ((size + _WORD - 1) // _WORD)
