"""Sizes of rows that `holdfast plan` calculates, beside those of rows that Spark wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from checkpoint.checkpoints import GOLDEN
from holdfast_spark.capacity.row_size import RowSizer
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.ddl import parse_ddl
from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    AtomicType,
    MapType,
    SparkType,
    StructType,
)
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder


class AmbiguousError(Exception):
    """A row has a null, or elements of different sizes in one array."""


def lengths_in(kind: SparkType, value: Any, path: str) -> Iterator[tuple[str, int]]:  # noqa: ANN401
    """The lengths of whatever has one in a value as Arrow has it."""
    if value is None:
        if kind != AtomicType("void"):
            raise AmbiguousError
        return
    match kind:
        case StructType(fields):
            for field, part in zip(fields, value.values(), strict=True):
                yield from lengths_in(
                    field.type, part, f"{path}.{field.name}" if path else field.name
                )
        case ArrayType(element):
            yield path, len(value)
            yield from alike(element, value, f"{path}.element")
        case MapType(key, item):
            yield path, len(value)
            yield from alike(key, [pair[0] for pair in value], f"{path}.key")
            yield from alike(item, [pair[1] for pair in value], f"{path}.value")
        case AtomicType("string"):
            yield path, len(value.encode())
        case AtomicType("binary"):
            yield path, len(value)
        case AtomicType("variant"):
            raise AmbiguousError


def alike(kind: SparkType, values: list[Any], path: str) -> Iterator[tuple[str, int]]:
    of_each = [dict(lengths_in(kind, value, path)) for value in values]
    if any(lengths != of_each[0] for lengths in of_each):
        raise AmbiguousError
    yield from of_each[0].items() if of_each else ()


def sizes(checkpoint: Checkpoint) -> Iterator[tuple[int, int]]:
    """The calculated and the true size of keys and values of the newest versions."""
    for store in checkpoint.stores:
        schema = checkpoint.row_schema(store.operator_id, store_name=store.name)
        for file, records in replay(
            store.chain(store.versions[-1]),
            codec=checkpoint.settings.codec,
            row_checksums=checkpoint.settings.row_checksums,
        ):
            decoder = RowDecoder(records.memory, where=str(file.location))
            for kind, starts, lengths in (
                (schema.key, records.key_starts, records.key_lengths),
                (schema.value, records.value_starts, records.value_lengths),
            ):
                if len({field.name for field in kind.fields}) < len(kind.fields):
                    continue
                rows = decoder.rows(kind, starts, lengths).to_pylist()
                for found, size in zip(rows, lengths.tolist(), strict=True):
                    try:
                        known = dict(lengths_in(kind, found, ""))
                    except AmbiguousError:
                        continue
                    yield RowSizer(known).row(kind), size


@pytest.mark.parametrize(
    ("name", "least"), [("zstd", 60), ("windows", 6), ("join", 100), ("typed_keys", 40)]
)
def test_rows_are_as_large_as_spark_makes_them(name: str, least: int) -> None:
    found = list(sizes(Checkpoint.open(str(GOLDEN / "spark-4.3" / name / "checkpoint"))))
    assert len(found) >= least
    assert [calculated for calculated, _ in found] == [size for _, size in found]


def test_sizes_of_every_type() -> None:
    ddl = (
        "a string, b array<int>, c map<string, double>, d decimal(38,2), e decimal(18,2), "
        "f struct<g: binary, h: boolean>, i interval, j array<array<short>>, k variant"
    )
    lengths = {"a": 9, "b": 3, "c": 2, "c.key": 5, "f.g": 1, "j": 2, "j.element": 65, "k": 30}
    sizer = RowSizer(lengths)
    parts = [
        16,
        8 + 8 + 16,
        8 + (8 + 8 + 16 + 2 * 8) + (8 + 8 + 16),
        16,
        0,
        8 + 16 + 8,
        16,
        8 + 8 + 16 + 2 * (8 + 16 + 136),
        32,
    ]
    assert sizer.row(parse_ddl(ddl)) == 8 + 9 * 8 + sum(parts)
    assert (sizer.assumed, sizer.unused) == ({}, set())
