"""Rows that do not fit their schema; rows that do are compared with Spark's in test_golden."""

from __future__ import annotations

import random
import struct

import numpy as np
import pyarrow as pa
import pytest

from checkpoint.checkpoints import long_row
from holdfast_spark.checkpoint.errors import DamagedRowError
from holdfast_spark.checkpoint.files.spark_types import StructType, parse_struct
from holdfast_spark.checkpoint.rows.arrow import arrow_type, unique_names
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder


def schema(*types: object) -> StructType:
    fields = [{"name": f"c{i}", "type": kind} for i, kind in enumerate(types)]
    return parse_struct({"type": "struct", "fields": fields}, path="schema")


def decode(kind: StructType, *rows: bytes) -> pa.StructArray:
    lengths = np.array([len(row) for row in rows], np.int64)
    starts = np.cumsum(lengths) - lengths
    return RowDecoder(b"".join(rows), where="1.delta").rows(kind, starts, lengths)


def variable(offset: int, size: int) -> int:
    return offset << 32 | size


LONGS = {"type": "array", "elementType": "long", "containsNull": True}
MAP = {"type": "map", "keyType": "long", "valueType": "string", "valueContainsNull": True}


def test_null_bits_go_on_behind_64_fields() -> None:
    kind = schema(*["long"] * 70)
    row = struct.pack("<QQ70q", 1 << 63, 1 << 5, *range(70))
    values = list(decode(kind, row, row).to_pylist()[1].values())
    assert values == [None if i in (63, 69) else i for i in range(70)]


def test_columns_of_the_same_name_are_told_apart() -> None:
    assert unique_names(["a", "b", "a", "a_2", "a"]) == ["a", "b", "a_2", "a_2_2", "a_3"]


def test_a_row_without_columns_is_an_empty_struct() -> None:
    assert decode(schema(), b"", b"").to_pylist() == [{}, {}]


def test_the_arrays_have_the_announced_type_also_without_rows() -> None:
    kind = schema("string", LONGS, MAP, "decimal(30,2)", "interval", "variant", "boolean", "void")
    assert decode(kind).type == arrow_type(kind)


def test_text_that_is_not_utf8_is_shown_with_replacements() -> None:
    row = long_row(variable(16, 3)) + b"a\xffb" + bytes(5)
    assert decode(schema("string"), row).to_pylist() == [{"c0": "a\ufffdb"}]


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (schema("long", "long"), long_row(1)),
        (schema("string"), long_row(variable(16, 1))),
        (schema("string"), long_row(-1)),
        (schema("decimal(20,0)"), long_row(variable(8, 0))),
        (schema("interval"), long_row(variable(8, 8))),
        (schema("variant"), long_row(variable(8, 2))),
        (schema(LONGS), long_row(variable(8, 4))),
        (schema(LONGS), long_row(variable(16, 8)) + struct.pack("<q", 2**60)),
        (schema(LONGS), long_row(variable(16, 16)) + struct.pack("<qq", 1, 0)),
        (schema(MAP), long_row(variable(16, 8)) + struct.pack("<q", 8)),
    ],
)
def test_what_points_out_of_its_row_is_damage(kind: StructType, row: bytes) -> None:
    with pytest.raises(DamagedRowError, match=r"A row of 1\.delta does not fit its schema"):
        decode(kind, row)


def test_strings_that_overlap_do_not_fill_the_memory() -> None:
    kind = schema({"type": "array", "elementType": "string", "containsNull": True})
    elements = struct.pack("<qq8q", 8, 0, *[variable(0, 80)] * 8)
    with pytest.raises(DamagedRowError, match="expected values that lie beside each other"):
        decode(kind, long_row(variable(16, len(elements))) + elements)


def test_no_damage_escapes_as_another_error() -> None:
    kind = schema("string", LONGS, MAP, "decimal(30,2)", "interval", "variant")
    seed = 7
    generator = random.Random(seed)
    refused = 0
    for _ in range(2_000):
        words = [generator.choice([0, 1, 8, 16, variable(56, 16), variable(64, 40), 2**63 - 1])]
        words += [generator.getrandbits(generator.choice([3, 6, 40])) for _ in range(15)]
        generator.shuffle(words)
        try:
            decode(kind, struct.pack("<Q15q", words[0] % 64, *words[1:]))
        except DamagedRowError:
            refused += 1
    assert 0 < refused < 2_000, seed
