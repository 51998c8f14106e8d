"""Spark's hash of rows: as its definition has it row by row, and as Spark itself computes it."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from harness import SharedSpark
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    AtomicType,
    DecimalType,
    MapType,
    SparkType,
    StructField,
    StructType,
)
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.arrow import arrow_type
from holdfast_spark.checkpoint.rows.murmur import can_be_hashed, hash_rows, hashable
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

APP = Path(__file__).parents[1] / "apps" / "hash_rows.py"
MASK = 0xFFFFFFFF
ROWS = 200


def rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & MASK


def mixed(seed: int, value: int) -> int:
    value = rotated((value & MASK) * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
    return (rotated(seed ^ value, 13) * 5 + 0xE6546B64) & MASK


def finished(seed: int, length: int) -> int:
    seed ^= length
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & MASK
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & MASK
    return seed ^ seed >> 16


def of_int(value: int, seed: int) -> int:
    return finished(mixed(seed, value), 4)


def of_long(value: int, seed: int) -> int:
    return finished(mixed(mixed(seed, value), value >> 32), 8)


def of_bytes(value: bytes, seed: int) -> int:
    whole = len(value) // 4 * 4
    for (word,) in struct.iter_unpack("<i", value[:whole]):
        seed = mixed(seed, word)
    for byte in value[whole:]:
        seed = mixed(seed, byte - 256 if byte > 127 else byte)
    return finished(seed, len(value))


def of_float(value: float, seed: int) -> int:
    bits = 0x7FC00000 if math.isnan(value) else struct.unpack("<I", struct.pack("<f", value))[0]
    return of_int(0 if value == 0 else bits, seed)


def of_double(value: float, seed: int) -> int:
    nan = 0x7FF8000000000000
    bits = nan if math.isnan(value) else struct.unpack("<Q", struct.pack("<d", value))[0]
    return of_long(0 if value == 0 else bits, seed)


def of_decimal(value: Decimal, seed: int, kind: DecimalType) -> int:
    unscaled = int(value.scaleb(kind.scale))
    if kind.precision <= 18:
        return of_long(unscaled, seed)
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return of_bytes(unscaled.to_bytes(size, "big", signed=True), seed)


ATOMIC: dict[str, tuple[Callable[[random.Random], Any], Callable[[Any, int], int]]] = {
    "boolean": (lambda rng: rng.random() < 0.5, of_int),
    "byte": (lambda rng: rng.randrange(-128, 128), of_int),
    "short": (lambda rng: rng.randrange(-(2**15), 2**15), of_int),
    "integer": (lambda rng: rng.randrange(-(2**31), 2**31), of_int),
    "long": (lambda rng: rng.randrange(-(2**63), 2**63), of_long),
    "float": (lambda rng: rng.choice((math.nan, -0.0, 0.0, math.inf, -1.5, 0.25)), of_float),
    "double": (lambda rng: rng.choice((math.nan, -0.0, -math.inf, rng.gauss(0, 1))), of_double),
    "date": (
        lambda rng: date(1970, 1, 1) + timedelta(rng.randrange(-9999, 9999)),
        lambda value, seed: of_int((value - date(1970, 1, 1)).days, seed),
    ),
    "year-month interval": (lambda rng: rng.randrange(-300, 300), of_int),
    "day-time interval": (
        lambda rng: timedelta(microseconds=rng.randrange(-(2**50), 2**50)),
        lambda value, seed: of_long(value // timedelta(microseconds=1), seed),
    ),
    "binary": (lambda rng: rng.randbytes(rng.randrange(30)), of_bytes),
    "string": (
        lambda rng: "aé漢😀"[: rng.randrange(5)] * rng.randrange(4),
        lambda value, seed: of_bytes(value.encode(), seed),
    ),
    "void": (lambda _: None, lambda _, seed: seed),
}
DECIMALS = (DecimalType(4, 1), DecimalType(18, 6), DecimalType(19, 0), DecimalType(38, 10))
ATOMIC_TYPES: list[SparkType] = [*map(AtomicType, ATOMIC), *DECIMALS]


def random_value(kind: SparkType, rng: random.Random) -> Any:  # noqa: ANN401
    if rng.random() < 0.15:
        return None
    match kind:
        case ArrayType(element):
            return [random_value(element, rng) for _ in range(rng.randrange(4))]
        case StructType(fields):
            return {field.name: random_value(field.type, rng) for field in fields}
        case DecimalType(precision, scale):
            bound = 10 ** rng.randrange(precision + 1)
            return Decimal(rng.randrange(1 - bound, bound)).scaleb(-scale)
        case AtomicType(name):
            return ATOMIC[name][0](rng)
    raise AssertionError(kind)


def expected(kind: SparkType, value: Any, seed: int) -> int:  # noqa: ANN401
    if value is None:
        return seed
    match kind:
        case ArrayType(element):
            for each in value:
                seed = expected(element, each, seed)
            return seed
        case StructType(fields):
            for field in fields:
                seed = expected(field.type, value[field.name], seed)
            return seed
        case DecimalType():
            return of_decimal(value, seed, kind)
        case AtomicType(name):
            return ATOMIC[name][1](value, seed)
    raise AssertionError(kind)


@pytest.fixture(autouse=True)
def _exact_decimals() -> Iterator[None]:
    with localcontext() as context:
        context.prec = 60
        yield


def check(schema: StructType, seed: int) -> None:
    rng = random.Random(seed)
    rows = []
    for _ in range(ROWS):
        rows.append({field.name: random_value(field.type, rng) for field in schema.fields})
    array = pa.array(rows, arrow_type(schema)).cast(arrow_type(hashable(schema)))
    hashes = hash_rows(array, schema).tolist()
    wanted = [expected(schema, row, 42) for row in rows]
    assert hashes == [hash_ - (1 << 32) if hash_ >> 31 else hash_ for hash_ in wanted]


@pytest.mark.parametrize("kind", ATOMIC_TYPES, ids=str)
def test_values_are_hashed_as_spark_defines_it(kind: SparkType) -> None:
    check(StructType((StructField("a", kind),)), 1)


def test_columns_elements_and_fields_are_hashed_one_after_the_other() -> None:
    inner = StructType(tuple(StructField(f"f{i}", kind) for i, kind in enumerate(ATOMIC_TYPES)))
    kinds: list[SparkType] = [*ATOMIC_TYPES, *(ArrayType(kind) for kind in ATOMIC_TYPES)]
    kinds += [inner, ArrayType(inner), ArrayType(ArrayType(DecimalType(30, 2)))]
    check(StructType(tuple(StructField(f"c{i}", kind) for i, kind in enumerate(kinds))), 2)


@pytest.mark.parametrize("rows", [1, 16, 17, 40])
def test_long_texts_are_hashed_beside_short_ones(rows: int) -> None:
    rng = random.Random(rows)
    texts = [rng.randbytes(rng.choice([0, 3, 4, 9, 40, 5_000 + n])) for n in range(rows)]
    schema = StructType((StructField("a", AtomicType("binary")),))
    array = pa.array([{"a": text} for text in texts], arrow_type(schema))
    hashes = hash_rows(array, schema).view(np.uint32).tolist()
    assert hashes == [of_bytes(text, 42) for text in texts]


def test_a_hash_that_spark_documents() -> None:
    integer = AtomicType("integer")
    kinds: tuple[SparkType, ...] = (AtomicType("string"), ArrayType(integer), integer)
    schema = StructType(tuple(StructField(f"c{i}", kind) for i, kind in enumerate(kinds)))
    rows = pa.array([{"c0": b"Spark", "c1": [123], "c2": 2}], arrow_type(hashable(schema)))
    assert hash_rows(rows, schema).tolist() == [-1321691492]


def test_rows_without_columns_and_no_rows_are_hashed() -> None:
    assert hash_rows(pa.array([{}], pa.struct([])), StructType(())).tolist() == [42]
    schema = StructType(tuple(StructField(f"c{i}", kind) for i, kind in enumerate(ATOMIC_TYPES)))
    assert not len(hash_rows(pa.array([], arrow_type(hashable(schema))), schema))


def test_maps_variants_and_calendar_intervals_are_not_hashed() -> None:
    long = AtomicType("long")
    kinds: tuple[SparkType, ...] = (
        MapType(long, long),
        AtomicType("variant"),
        AtomicType("interval"),
    )
    for kind in kinds:
        assert can_be_hashed(long)
        assert not can_be_hashed(kind)
        assert not can_be_hashed(ArrayType(kind))
        assert not can_be_hashed(StructType((StructField("a", kind),)))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.since("4.1", "times of day")
def test_spark_hashes_and_places_its_rows_likewise(
    shared_spark: SharedSpark, tmp_path: Path
) -> None:
    assert shared_spark.python(str(APP), tmp_path).result()["rows"] == 600
    hashes = json.loads((tmp_path / "hashes.json").read_text())
    checkpoint = Checkpoint.open(str(tmp_path / "checkpoint"))
    key = checkpoint.row_schema(0).key
    placement = Placement(checkpoint.operator(0), store_name="default", key=key)
    rows = 0
    for store in checkpoint.stores:
        for _, records in replay(store.chain(1), codec="lz4", row_checksums=False):
            placed = placement.partitions(records, len(checkpoint.stores), where="state")
            assert set(placed.tolist()) == {store.partition_id}
            decoder = RowDecoder(records.memory, where="state")
            keys = decoder.rows(hashable(key), records.key_starts, records.key_lengths)
            ids = keys.field("id").to_pylist()
            assert hash_rows(keys, key).tolist() == [hashes[str(i)][0] for i in ids]
            for ordinal, field in enumerate(key.fields):
                column = pa.StructArray.from_arrays([keys.field(ordinal)], names=[field.name])
                found = hash_rows(column, StructType((field,))).tolist()
                assert found == [hashes[str(i)][ordinal + 1] for i in ids], field.name
            rows += len(ids)
    assert rows == len(hashes)
