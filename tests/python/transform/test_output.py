"""What handlers return becomes what it is with Spark's client, which converts it at once."""

from __future__ import annotations

import datetime
import random
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import Row
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from holdfast_spark.transform._frames import Conversion, FrameOutput
from holdfast_spark.transform._rows import RowOutput
from holdfast_spark.transform._stream import StateStream
from transform.fake_server import FakeServer
from transform.test_client import Anything, batches_of, groups_of, run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

CONVERSION = Conversion(
    timezone="UTC",
    prefer_int_ext_dtype=False,
    safecheck=False,
    assign_cols_by_name=True,
    int_to_decimal_coercion_enabled=False,
)
ROWS, BYTES = 10_000, 1 << 20


def schema(**types: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in types.items()])


def of_rows(out: StructType, rows: Iterator[Row]) -> list[pa.RecordBatch]:
    output = RowOutput(out, ROWS, BYTES)
    return [*output.add(rows), *output.rest()]


def of_frames(out: StructType, frames: Iterator[pd.DataFrame]) -> list[pa.RecordBatch]:
    output = FrameOutput(out, CONVERSION, ROWS, BYTES)
    return [*output.add(frames), *output.rest()]


def values(batches: list[pa.RecordBatch], name: str) -> list[Any]:
    return [row["_0"][name] for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("by", ["column", "loc"])
def test_a_frame_that_is_changed_after_it_was_returned_is_what_it_was(by: str) -> None:
    def changed() -> Iterator[pd.DataFrame]:
        frame = pd.DataFrame({"id": ["a"], "n": [0]})
        for number in range(5):
            if by == "column":
                frame["n"] = [number]
            else:
                frame.loc[0, "n"] = number
            yield frame
        frame["n"] = [99]

    found = of_frames(schema(id=StringType(), n=LongType()), changed())
    assert values(found, "n") == [0, 1, 2, 3, 4]
    assert len(found) == 1


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_frame_of_an_array_that_is_changed_is_what_it_was(kind: Any) -> None:
    array = np.zeros((1, 2), dtype=kind)

    def changed() -> Iterator[pd.DataFrame]:
        for number in range(3):
            array[0, 1] = number
            yield pd.DataFrame(array, columns=["id", "n"], copy=False)
        array[:] = 99

    found = of_frames(schema(id=LongType(), n=DoubleType()), changed())
    assert values(found, "n") == [0, 1, 2]


# What frames may have in two columns, and what that becomes.
Column = tuple[DataType, Callable[[int], Any]]
COLUMNS: dict[str, tuple[Column, Column]] = {
    "numbers": ((LongType(), lambda n: [n]), (DoubleType(), lambda n: [n * 2])),
    "mixed": ((LongType(), lambda n: [n]), (DoubleType(), lambda n: [n / 4])),
    "flags": ((BooleanType(), lambda n: [n % 2 == 0]), (BooleanType(), lambda n: [n % 3 == 0])),
    "narrow": (
        (LongType(), lambda n: np.array([n], np.int8)),
        (ShortType(), lambda n: np.array([n], np.uint32)),
    ),
    "texts": (
        (StringType(), lambda n: [f"t{n}"]),
        (StringType(), lambda n: [None if n % 2 else "\u00e9"]),
    ),
    "texts of numbers": ((LongType(), lambda n: [f"{n}"]), (DoubleType(), lambda n: [f"{n}.5"])),
    "days": (
        (TimestampNTZType(), lambda n: [pd.Timestamp(2024, 1, 1 + n)]),
        (DateType(), lambda n: [None if n % 2 else datetime.date(2024, 1, 1 + n)]),
    ),
    "extended": (
        (LongType(), lambda n: pd.array([n], "Int64")),
        (LongType(), lambda _: pd.array([None], "Int64")),
    ),
    "floats of either null": (
        (DoubleType(), lambda n: pd.array([n], "Float64")),
        (DoubleType(), lambda n: pd.array([n], "Float64") / 0),
    ),
    "texts of pandas": (
        (StringType(), lambda n: pd.array([f"t{n}"], "string")),
        (StringType(), lambda n: pd.array([None if n % 2 else "b"], "string")),
    ),
    "times of a zone": (
        (TimestampType(), lambda n: [pd.Timestamp(n, tz="UTC", unit="s")]),
        (LongType(), lambda n: [n]),
    ),
    "categories": (
        (StringType(), lambda _: pd.Categorical(["a"])),
        (StringType(), lambda n: pd.Categorical([f"{n % 2}"], ["0", "1"])),
    ),
    "decimals": (
        (DoubleType(), lambda n: [Decimal(f"{n}.{n}0")]),
        (DecimalType(9, 2), lambda n: [Decimal(n)]),
    ),
}
# Whose values decide together what becomes of them, the latter before pandas 3.
ALONE = ("decimals", "texts of numbers")


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 300])
@pytest.mark.parametrize("of", [*COLUMNS])
def test_frames_become_what_each_alone_becomes(of: str, rows: int, apart: bool) -> None:
    (first, a), (second, b) = COLUMNS[of]

    def made(number: int) -> pd.DataFrame:
        columns = [pd.Series(each(number)).repeat(rows) for each in (a, b)]
        if not apart:
            return pd.DataFrame({"a": columns[0], "b": columns[1]})
        frame = pd.DataFrame({"a": columns[0]})
        frame["b"] = columns[1].array  # which pandas keeps for itself then
        return frame

    frames = [made(number) for number in range(5) for _ in range(3)]
    out = schema(a=first, b=second)
    alone = [batch for frame in frames for batch in of_frames(out, iter([frame]))]
    together = of_frames(out, iter(frames))
    assert len(together) < len(alone) or of in ALONE
    for name in "ab":
        assert repr(values(together, name)) == repr(values(alone, name))


def test_frames_whose_columns_are_in_one_array_go_with_those_whose_are_not() -> None:
    one = [pd.DataFrame({"a": [number], "b": [number]}) for number in range(3)]
    apart = [frame[["a"]].assign(b=7) for frame in one]
    long = [pd.concat([frame] * 300) for frame in one]
    frames = [*one, *apart, *one[:1], *long, *apart[:1]]
    found = of_frames(schema(a=LongType(), b=LongType()), iter(frames))
    assert len(found) == 1
    assert values(found, "a") == [number for frame in frames for number in frame["a"]]


def test_frames_of_other_columns_go_apart() -> None:
    frames = [
        pd.DataFrame({"a": [1], "b": [2]}),
        pd.DataFrame({"b": [3], "a": [4]}),
        pd.DataFrame({"b": [3], "a": [4.0]}),
    ]
    found = of_frames(schema(a=LongType(), b=LongType()), iter(frames))
    assert [batch.num_rows for batch in found] == [1, 1, 1]
    assert values(found, "a") == [1, 4, 4]


@pytest.mark.parametrize("made", [np.zeros(2, dtype=np.int64), [0, 0]])
def test_what_is_in_a_row_or_a_frame_and_changes_is_what_it_was(made: Any) -> None:
    def numbers() -> Iterator[Any]:
        for number in range(3):
            made[0] = number
            yield made

    out = schema(seen=ArrayType(LongType()))
    rows = of_rows(out, (Row(seen=seen) for seen in numbers()))
    assert values(rows, "seen") == [[0, 0], [1, 0], [2, 0]]
    frames = of_frames(out, (pd.DataFrame({"seen": [seen]}) for seen in numbers()))
    assert values(frames, "seen") == [[0, 0], [1, 0], [2, 0]]


def test_bytes_that_change_are_what_they_were() -> None:
    def texts() -> Iterator[Row]:
        text = bytearray(b"a")
        for _ in range(3):
            yield Row(text=text)
            text += b"a"

    found = of_rows(schema(text=BinaryType()), texts())
    assert values(found, "text") == [b"a", b"aa", b"aaa"]


@pytest.mark.parametrize("kind", ["rows", "frames"])
def test_large_texts_go_in_several_batches(kind: str) -> None:
    texts = [random.Random(number).choice("ab") * 100_000 for number in range(40)]
    out = schema(text=StringType())
    if kind == "rows":
        found = of_rows(out, (Row(text=text) for text in texts))
    else:
        found = of_frames(out, (pd.DataFrame({"text": [text]}) for text in texts))
    assert values(found, "text") == texts
    assert max(batch.num_rows for batch in found) <= BYTES // 100_000 + 1
    assert min(batch.num_rows for batch in found[:-1]) > 1


def test_what_becomes_of_a_decimal_does_not_depend_on_others() -> None:
    frames = [pd.DataFrame({"x": [Decimal(text)]}) for text in ("0.3", "1.00", "0.7")]
    out = schema(x=DoubleType())
    alone = [number for frame in frames for number in values(of_frames(out, iter([frame])), "x")]
    assert values(of_frames(out, iter(frames)), "x") == alone


def test_other_columns_of_a_frame_decide_together() -> None:
    by_position = replace(CONVERSION, assign_cols_by_name=False)
    output = FrameOutput(schema(a=StringType(), b=DoubleType()), by_position, ROWS, BYTES)
    mixed = [pd.DataFrame({"x": ["s"], "y": [Decimal(number)]}) for number in (1, 2)]
    assert [batch.num_rows for batch in (*output.add(iter(mixed)), *output.rest())] == [1, 1]
    plain = [pd.DataFrame({"x": ["s"], "y": [float(number)]}) for number in (1, 2)]
    assert [batch.num_rows for batch in (*output.add(iter(plain)), *output.rest())] == [2]


def test_a_timeout_for_new_sockets_is_none_for_the_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.001)
        stream = StateStream(ours)
        assert ours.gettimeout() is None
        asked = stream.ask(b"request")
        theirs.sendall((0).to_bytes(4, "big"))
        assert stream.answer(asked) == b""


class ChangesInTheEnd(Anything):
    """Changes a value where there is no key."""

    def close(self) -> None:
        self.value.update((1_000_000,))


def test_a_change_without_a_key_is_refused(new_server: Callable[[], FakeServer]) -> None:
    server = new_server()
    with pytest.raises(PySparkRuntimeError, match="there is no grouping key whose state it is"):
        run(ChangesInTheEnd(1), server, batches_of(groups_of(1)))
    assert all(value != (1_000_000,) for value in server.rows("value").values())
