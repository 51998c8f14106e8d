"""What handlers return becomes what it is with Spark's client, which converts it at once."""

from __future__ import annotations

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
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from holdfast_spark.transform._frames import Conversion, FrameOutput
from holdfast_spark.transform._rows import RowOutput
from holdfast_spark.transform._stream import StateStream
from transform.fake_server import FakeServer
from transform.test_client import Anything, batches_of, groups_of, run

pytestmark = pytest.mark.spark

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
