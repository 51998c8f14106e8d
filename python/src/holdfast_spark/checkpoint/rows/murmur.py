"""Spark's hash of rows, the one that its shuffles place rows by, many rows at a time.

It is `Murmur3Hash` with the seed 42 (`HashExpression` and `Murmur3_x86_32` of Spark 4.3), in which
the hash of a column is the seed of the next one, and of an element that of the next:

    null, void                                          leaves the seed as it is
    boolean, byte, short, int, date, year-month         an int of 32 bits
    long, timestamps, time, day-time, small decimals    a long, its lower half first
    float, double                                       their bits, -0.0 as 0 and any NaN as the
                                                        one that Java calls NaN
    string, binary                                      their bytes
    decimals of more than 18 digits                     the shortest big-endian two's complement
    struct, array                                       one field or element after the other

Bytes are taken as little-endian ints, each of the last one to three for itself, as a signed int.
Not hashed here are maps and variants, which Spark does not hash either; calendar intervals, whose
days count since Spark 4.3 only; and strings of a collation that compares other bytes as equal,
which Spark does not take as keys of state (`StateSchemaCompatibilityChecker`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    AtomicType,
    DecimalType,
    MapType,
    SparkType,
    StructField,
    StructType,
)

Hashes: TypeAlias = npt.NDArray[np.uint32]
Positions: TypeAlias = npt.NDArray[np.int64]

SEED = 42

_MAX_LONG_DIGITS = 18
_DECIMAL_BYTES = 16
_INT_BYTES, _LONG_BYTES = 4, 8
# As many pieces as numpy takes longer for, an int of each at a time, than Python for one by one.
_FEW = 16

_INTS = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "date": pa.int32(),
    "year-month interval": pa.int32(),
}
_LONGS = ("long", "timestamp", "timestamp_ntz", "time", "day-time interval")
_FLOATS = {"float": ("<f4", "<u4", 0x7FC00000), "double": ("<f8", "<u8", 0x7FF8000000000000)}


def hash_rows(rows: pa.StructArray, schema: StructType) -> npt.NDArray[np.int32]:
    """Return the hash of each row, as Spark's function `hash` of its columns.

    Args:
        rows: the rows as `RowDecoder` decodes them by `hashable(schema)`.
        schema: their schema, of types that `can_be_hashed` is true for.
    """
    seeds = np.full(len(rows), SEED, np.uint32)
    return _struct(schema, rows, seeds).view(np.int32)


def hashable(schema: StructType) -> StructType:
    """Return the schema with binaries for strings: their bytes are hashed, valid UTF-8 or not."""
    return StructType(
        tuple(StructField(field.name, _with_binaries(field.type)) for field in schema.fields)
    )


def can_be_hashed(kind: SparkType) -> bool:
    """Tell whether every Spark line hashes values of a type, and in the same way."""
    match kind:
        case StructType(fields):
            return all(can_be_hashed(field.type) for field in fields)
        case ArrayType(element):
            return can_be_hashed(element)
        case MapType():
            return False
        case _:
            return kind not in (AtomicType("variant"), AtomicType("interval"))


def _with_binaries(kind: SparkType) -> SparkType:
    match kind:
        case StructType():
            return hashable(kind)
        case ArrayType(element):
            return ArrayType(_with_binaries(element))
        case AtomicType("string"):
            return AtomicType("binary")
        case _:
            return kind


def _values(kind: SparkType, values: pa.Array, seeds: Hashes) -> Hashes:
    """Hash values, nulls among them, each with its own seed."""
    if kind == AtomicType("void") or not len(values):
        return seeds
    if not values.null_count:
        return _hasher(kind)(kind, values, seeds)
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    hashes: Hashes = seeds.copy()
    hashes[valid] = _values(kind, values.drop_null(), seeds[valid])
    return hashes


def _hasher(kind: SparkType) -> Callable[[Any, pa.Array, Hashes], Hashes]:
    """Return what hashes values of a type, none of which is null."""
    match kind:
        case StructType():
            hasher: Callable[[Any, pa.Array, Hashes], Hashes] = _struct
        case ArrayType():
            hasher = _array
        case DecimalType(precision):
            hasher = _long_decimal if precision <= _MAX_LONG_DIGITS else _large_decimal
        case AtomicType(name):
            hasher = _ATOMIC[name]
        case MapType():
            raise TypeError("maps are not hashed")
    return hasher


def _struct(kind: StructType, values: pa.StructArray, seeds: Hashes) -> Hashes:
    hashes = seeds
    for ordinal, field in enumerate(kind.fields):
        hashes = _values(field.type, values.field(ordinal), hashes)
    return hashes


def _array(kind: ArrayType, values: pa.ListArray, seeds: Hashes) -> Hashes:
    offsets = values.offsets.to_numpy().astype(np.int64)
    lengths = np.diff(offsets)
    hashes: Hashes = seeds.copy()
    for place in range(int(lengths.max())):
        there = lengths > place
        elements = values.values.take(pa.array(offsets[:-1][there] + place))
        hashes[there] = _values(kind.element, elements, hashes[there])
    return hashes


def _boolean(_: AtomicType, values: pa.BooleanArray, seeds: Hashes) -> Hashes:
    return _hash_ints(values.to_numpy(zero_copy_only=False).astype(np.uint32), seeds)


def _int(kind: AtomicType, values: pa.Array, seeds: Hashes) -> Hashes:
    ints = values.view(_INTS[kind.name]).to_numpy()
    return _hash_ints(ints.astype(np.int32).view(np.uint32), seeds)


def _long(_: AtomicType, values: pa.Array, seeds: Hashes) -> Hashes:
    return _hash_longs(values.view(pa.int64()).to_numpy().view(np.uint64), seeds)


def _float(kind: AtomicType, values: pa.Array, seeds: Hashes) -> Hashes:
    floats, words, nan = _FLOATS[kind.name]
    numbers = values.to_numpy().astype(floats)
    bits = np.where(np.isnan(numbers), nan, numbers.view(words)).astype(words)
    bits[numbers == 0] = 0
    return _hash_ints(bits, seeds) if words == "<u4" else _hash_longs(bits, seeds)


def _long_decimal(_: DecimalType, values: pa.Array, seeds: Hashes) -> Hashes:
    halves = _memory(values, np.uint64).reshape(-1, 2)
    return _hash_longs(np.ascontiguousarray(halves[values.offset :][: len(values), 0]), seeds)


def _large_decimal(_: DecimalType, values: pa.Array, seeds: Hashes) -> Hashes:
    cells = _memory(values, np.uint8).reshape(-1, _DECIMAL_BYTES)
    digits = np.ascontiguousarray(cells[values.offset :][: len(values), ::-1])
    # A leading byte that only repeats the sign is left out, but not the sign itself.
    sign = (digits[:, :1] >> 7) * np.uint8(0xFF)
    telling = digits ^ sign
    first = np.where(telling.any(axis=1), telling.astype(bool).argmax(axis=1), _DECIMAL_BYTES - 1)
    first -= telling[np.arange(len(telling)), first] >> 7
    starts = _DECIMAL_BYTES * np.arange(len(digits)) + first
    return _hash_bytes(digits.ravel(), starts, _DECIMAL_BYTES - first, seeds)


def _binary(_: AtomicType, values: pa.BinaryArray, seeds: Hashes) -> Hashes:
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset :][: len(values) + 1].astype(np.int64)
    content = np.frombuffer(data or b"", np.uint8)
    return _hash_bytes(content, ends[:-1], np.diff(ends), seeds)


def _memory(values: pa.Array, dtype: type[np.generic]) -> npt.NDArray[Any]:
    return np.frombuffer(values.buffers()[1], dtype)


def _hash_ints(values: npt.NDArray[np.uint32], seeds: Hashes) -> Hashes:
    return _finished(_mixed(seeds, values), _INT_BYTES)


def _hash_longs(values: npt.NDArray[np.uint64], seeds: Hashes) -> Hashes:
    lower = (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    upper = (values >> np.uint64(32)).astype(np.uint32)
    return _finished(_mixed(_mixed(seeds, lower), upper), _LONG_BYTES)


def _hash_bytes(
    content: npt.NDArray[np.uint8], starts: Positions, lengths: Positions, seeds: Hashes
) -> Hashes:
    """Hash pieces of a content, the longest first: so those with an n-th int stand in front."""
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    padded = np.concatenate([content, np.zeros(_INT_BYTES, np.uint8)])
    ints = np.ndarray((len(content) + 1,), "<u4", padded, 0, (1,))
    words, hashes = lengths // _INT_BYTES, seeds[order]
    many = int(words[_FEW]) if len(words) > _FEW else 0
    for place in range(many):
        count = int(np.searchsorted(-words, -place, side="left"))
        chosen = ints[starts[:count] + _INT_BYTES * place]
        hashes[:count] = _mixed(hashes[:count], chosen)
    for piece in range(min(_FEW, len(words))):
        start, end = (int(starts[piece]) + _INT_BYTES * n for n in (many, int(words[piece])))
        hashes[piece] = _mixed_in_turn(int(hashes[piece]), ints[start:end:_INT_BYTES])
    for place in range(_INT_BYTES - 1):
        there = lengths % _INT_BYTES > place
        last = padded[(starts + _INT_BYTES * words + place)[there]]
        hashes[there] = _mixed(hashes[there], last.view(np.int8).astype(np.int32).view(np.uint32))
    finished = np.empty_like(hashes)
    finished[order] = _finished(hashes, lengths.astype(np.uint32))
    return finished


def _mixed(hashes: Hashes, values: npt.NDArray[np.uint32]) -> Hashes:
    """Mix an int of 32 bits into each hash."""
    mixed: Hashes = _rotated(hashes ^ _factors(values), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    return mixed


def _mixed_in_turn(hashed: int, values: npt.NDArray[np.uint32]) -> int:
    """Mix one int after the other into a hash."""
    for factor in _factors(values).tolist():
        hashed ^= factor
        hashed = ((hashed << 13 | hashed >> 19) * 5 + 0xE6546B64) & 0xFFFFFFFF
    return hashed


def _factors(values: npt.NDArray[np.uint32]) -> Hashes:
    factors: Hashes = _rotated(values * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return factors


def _finished(hashes: Hashes, lengths: Hashes | int) -> Hashes:
    """Spread the bits, at the end of what has been `lengths` bytes."""
    hashes = hashes ^ np.asarray(lengths, np.uint32)
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    spread: Hashes = hashes ^ (hashes >> np.uint32(16))
    return spread


def _rotated(values: Hashes, bits: int) -> Hashes:
    rotated: Hashes = (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))
    return rotated


_ATOMIC = {
    "boolean": _boolean,
    **dict.fromkeys(_INTS, _int),
    **dict.fromkeys(_LONGS, _long),
    **dict.fromkeys(_FLOATS, _float),
    **dict.fromkeys(("string", "binary"), _binary),
}
