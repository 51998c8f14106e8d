"""Rows in Spark's `UnsafeRow` layout, decoded a column at a time.

    row     | null bits, 8 bytes for every 64 fields | 8 bytes a field | variable part |
    array   | int64 elements | null bits, as above | elements, 1 to 8 bytes each | variable part |
    map     | int64 bytes of the keys | array of keys | array of values |

Everything is little-endian. A field or element holds a number itself, or, for what has no fixed
length, `offset << 32 | bytes`, the offset counted from where its row or array begins
(`UnsafeRow`, `UnsafeArrayData`, `UnsafeMapData` and their writers in Spark 4.3).

No offset or length is believed: what points out of its row is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast_spark.checkpoint.errors import DamagedRowError, SchemaFrom
from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    AtomicType,
    DecimalType,
    MapType,
    SparkType,
    StructType,
)
from holdfast_spark.checkpoint.rows.arrow import (
    IN_PLACE,
    INTERVAL,
    list_offsets,
    text_array,
    unique_names,
    value_array,
)

Positions = npt.NDArray[np.int64]

_WORD = 8
_MAX_LONG_DIGITS = 18
_DECIMAL_BYTES = 16
_INTERVAL_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cells:
    """Fields or elements of one type, each in its row or array.

    Attributes:
        slots: where each lies.
        valid: whether it is not null.
        starts: where its row or array begins.
        lengths: bytes of its row or array.
    """

    slots: Positions
    valid: npt.NDArray[np.bool_]
    starts: Positions
    lengths: Positions

    def __len__(self) -> int:
        return len(self.slots)

    def only_valid(self) -> _Cells:
        """Return those that are not null."""
        kept = self.valid
        return _Cells(
            slots=self.slots[kept],
            valid=kept[kept],
            starts=self.starts[kept],
            lengths=self.lengths[kept],
        )


class RowDecoder:
    """Decodes rows that lie in one piece of memory; cheap to make, for one thread.

    Args:
        memory: the bytes.
        where: what errors call the rows, such as a file's name.
        schema_from: where their schemas are from, for errors.
    """

    def __init__(self, memory: bytes, *, where: str, schema_from: SchemaFrom = "file") -> None:
        self._memory = memory
        self._bytes = np.frombuffer(memory, np.uint8)
        self._where = where
        self._schema_from = schema_from

    def rows(self, schema: StructType, starts: Positions, lengths: Positions) -> pa.StructArray:
        """Decode rows.

        Args:
            schema: the type of the rows.
            starts: where each row begins in the memory.
            lengths: bytes of each row.

        Returns:
            A struct array with a field for each column. Of columns with the same name the second is
            called `name_2`, and so on. Types of Spark that Arrow lacks: a year-month interval is
            its months, a calendar interval a struct of months, days and microseconds, a variant a
            struct of its two binaries.

        Raises:
            DamagedRowError: a row does not fit the schema.
        """
        nulls = _null_bytes(len(schema.fields))
        self._require(lengths >= nulls + _WORD * len(schema.fields), "a row with all its fields")
        columns = []
        for ordinal, field in enumerate(schema.fields):
            null = self._bits(starts, ordinal)
            cells = _Cells(
                slots=starts + nulls + _WORD * ordinal, valid=~null, starts=starts, lengths=lengths
            )
            columns.append(self._decode(field.type, cells))
        names = unique_names([field.name for field in schema.fields])
        if not columns:
            return pa.array([{}] * len(starts), pa.struct([]))
        return pa.StructArray.from_arrays(columns, names=names)

    def _decode(self, kind: SparkType, cells: _Cells) -> pa.Array:
        if kind == AtomicType("void"):
            return pa.nulls(len(cells))
        if isinstance(kind, AtomicType) and kind.name in IN_PLACE:
            return self._in_place(kind.name, cells)
        if isinstance(kind, DecimalType) and kind.precision <= _MAX_LONG_DIGITS:
            return self._small_decimals(kind, cells)
        if cells.valid.all():
            return self._variable(kind, cells)
        places = np.cumsum(cells.valid) - 1
        decoded = self._variable(kind, cells.only_valid())
        return decoded.take(pa.array(places, mask=~cells.valid))

    def _in_place(self, name: str, cells: _Cells) -> pa.Array:
        dtype, arrow = IN_PLACE[name]
        values = self._read(dtype, cells.slots)
        data = np.packbits(values != 0, bitorder="little") if arrow == pa.bool_() else values
        return value_array(arrow, data, cells.valid)

    def _small_decimals(self, kind: DecimalType, cells: _Cells) -> pa.Array:
        values = self._longs(cells.slots)
        data = np.stack([values, values >> 63], axis=1)
        return value_array(pa.decimal128(kind.precision, kind.scale), data, cells.valid)

    def _variable(self, kind: SparkType, cells: _Cells) -> pa.Array:
        """Decode what has no fixed length; none of the cells is null."""
        words = self._longs(cells.slots)
        places, lengths = words >> 32, words & 0xFFFFFFFF
        inside = (places >= 0) & (places + lengths <= cells.lengths)
        self._require(inside, f"a {_name(kind)} inside its row")
        starts = cells.starts + places
        if isinstance(kind, StructType):
            decoded = self.rows(kind, starts, lengths)
        elif isinstance(kind, ArrayType):
            offsets, elements = self._elements(kind.element, starts, lengths)
            decoded = pa.ListArray.from_arrays(offsets, elements)
        elif isinstance(kind, MapType):
            decoded = self._maps(kind, starts, lengths)
        elif isinstance(kind, DecimalType):
            decoded = self._large_decimals(kind, starts, lengths)
        elif kind.name == "interval":
            decoded = self._intervals(starts, lengths)
        elif kind.name == "variant":
            decoded = self._variants(starts, lengths)
        else:
            decoded = self._binaries(kind, starts, lengths)
        return decoded

    def _binaries(self, kind: SparkType, starts: Positions, lengths: Positions) -> pa.Array:
        arrow = pa.string() if kind == AtomicType("string") else pa.binary()
        self._require_bounded(lengths)
        ends = np.cumsum(lengths)
        places = np.repeat(starts - (ends - lengths), lengths) + np.arange(_last(ends))
        array = pa.Array.from_buffers(
            arrow,
            len(starts),
            [None, pa.py_buffer(list_offsets(lengths)), pa.py_buffer(self._bytes[places])],
        )
        return text_array(array) if arrow == pa.string() else array

    def _elements(
        self, element: SparkType, starts: Positions, lengths: Positions
    ) -> tuple[pa.Array, pa.Array]:
        """Return the offsets of arrays and all their elements."""
        self._require(lengths >= _WORD, "an array with its number of elements")
        counts = self._longs(starts)
        # Compared first, a damaged count cannot make the sizes below overflow.
        self._require((counts >= 0) & (counts <= _WORD * lengths), "an array inside its row")
        width = _element_width(element)
        heads = _WORD + (counts + 63) // 64 * _WORD
        self._require(heads + counts * width <= lengths, "an array inside its row")
        self._require_bounded(counts * width)
        ends = np.cumsum(counts)
        index = np.arange(_last(ends)) - np.repeat(ends - counts, counts)
        bases = np.repeat(starts, counts)
        null = self._bits(bases + _WORD, index)
        cells = _Cells(
            slots=np.repeat(starts + heads, counts) + index * width,
            valid=~null,
            starts=bases,
            lengths=np.repeat(lengths, counts),
        )
        return pa.array(list_offsets(counts)), self._decode(element, cells)

    def _maps(self, kind: MapType, starts: Positions, lengths: Positions) -> pa.Array:
        self._require(lengths >= _WORD, "a map with the size of its keys")
        sizes = self._longs(starts)
        self._require((sizes >= 0) & (sizes <= lengths - _WORD), "the keys of a map inside it")
        offsets, keys = self._elements(kind.key, starts + _WORD, sizes)
        values_start, values_length = starts + _WORD + sizes, lengths - _WORD - sizes
        value_offsets, values = self._elements(kind.value, values_start, values_length)
        if not offsets.equals(value_offsets) or keys.null_count:
            raise self._damaged("a value for each key of a map", "another number of them")
        return pa.MapArray.from_arrays(offsets, keys, values)

    def _large_decimals(self, kind: DecimalType, starts: Positions, lengths: Positions) -> pa.Array:
        """Decode big-endian two's complements of 1 to 16 bytes."""
        self._require((lengths > 0) & (lengths <= _DECIMAL_BYTES), "a decimal of 1 to 16 bytes")
        negative = self._bytes[starts] >> 7
        digits = np.repeat((negative * 0xFF).astype(np.uint8)[:, None], _DECIMAL_BYTES, axis=1)
        for place in range(_DECIMAL_BYTES):
            there = place < lengths
            digits[there, place] = self._bytes[(starts + lengths - 1 - place)[there]]
        return value_array(pa.decimal128(kind.precision, kind.scale), digits, None)

    def _intervals(self, starts: Positions, lengths: Positions) -> pa.Array:
        self._require(lengths == _INTERVAL_BYTES, f"an interval of {_INTERVAL_BYTES} bytes")
        columns = [pa.array(self._read(dtype, starts + at)) for _, dtype, at in INTERVAL]
        return pa.StructArray.from_arrays(columns, names=[name for name, _, _ in INTERVAL])

    def _variants(self, starts: Positions, lengths: Positions) -> pa.Array:
        self._require(lengths >= 4, "a variant with the size of its value")  # noqa: PLR2004
        sizes = self._read("<i4", starts).astype(np.int64)
        self._require((sizes >= 0) & (sizes <= lengths - 4), "the value of a variant inside it")
        binary = AtomicType("binary")
        values = self._binaries(binary, starts + 4, sizes)
        metadata = self._binaries(binary, starts + 4 + sizes, lengths - 4 - sizes)
        return pa.StructArray.from_arrays([values, metadata], names=["value", "metadata"])

    def _longs(self, positions: Positions) -> Positions:
        return self._read("<i8", positions)

    def _read(self, dtype: str, positions: Positions) -> npt.NDArray[Any]:
        """Read a number at each position, aligned or not."""
        size = np.dtype(dtype).itemsize
        if not len(positions):
            return np.empty(0, dtype)
        overlapping = np.ndarray((len(self._memory) - size + 1,), dtype, self._memory, 0, (1,))
        values: npt.NDArray[Any] = overlapping[positions]
        return values

    def _bits(self, starts: Positions, index: Positions | int) -> npt.NDArray[np.bool_]:
        """Read the bit of that index in the null bits that begin at each start."""
        bits: npt.NDArray[np.bool_] = (self._bytes[starts + index // 8] >> (index % 8)) & 1 != 0
        return bits

    def _require(self, fits: npt.NDArray[np.bool_], expected: str) -> None:
        if not fits.all():
            raise self._damaged(expected, f"{np.count_nonzero(~fits)} of {len(fits)} that are not")

    def _require_bounded(self, lengths: Positions) -> None:
        """Refuse cells that together are longer than the memory that they lie in."""
        if lengths.sum() > len(self._memory):
            raise self._damaged("values that lie beside each other", "overlapping ones")

    def _damaged(self, expected: str, found: str) -> DamagedRowError:
        return DamagedRowError(
            where=self._where, expected=expected, found=found, schema_from=self._schema_from
        )


def _null_bytes(fields: int) -> int:
    return (fields + 63) // 64 * _WORD


def _element_width(kind: SparkType) -> int:
    """Return the bytes that an array has for an element."""
    if isinstance(kind, AtomicType) and kind.name in IN_PLACE:
        return np.dtype(IN_PLACE[kind.name][0]).itemsize
    return _WORD


def _last(ends: Positions) -> int:
    return int(ends[-1]) if len(ends) else 0


def _name(kind: SparkType) -> str:
    return kind.name if isinstance(kind, AtomicType) else type(kind).__name__[:-4].lower()
