"""JSON out of columns."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from holdfast_spark.checkpoint.rows.json_text import json_lines, json_rows, json_text

PAIRS = pa.map_(pa.int64(), pa.list_(pa.string()))
COLUMNS: dict[str, tuple[pa.Array, list[object]]] = {
    "null": (pa.nulls(2), [None, None]),
    "integer": (pa.array([-(2**63), None]), [-(2**63), None]),
    "boolean": (pa.array([True, None]), [True, None]),
    "float": (pa.array([0.5, float("nan")]), [0.5, "NaN"]),
    "infinite": (pa.array([float("inf"), float("-inf")]), ["Infinity", "-Infinity"]),
    "decimal": (pa.array([Decimal("-0.10"), None], pa.decimal128(10, 2)), ["-0.10", None]),
    "text": (pa.array(["é", None]), ["é", None]),
    "escaped": (pa.array(['a"b\\c\n\0', "\u2028"]), ['a"b\\c\n\0', "\u2028"]),
    "binary": (pa.array([b"\xff", None]), ["/w==", None]),
    "date": (pa.array([-1, None], pa.date32()), ["1969-12-31", None]),
    "instant": (
        pa.array([1, None], pa.timestamp("us", tz="UTC")),
        ["1970-01-01T00:00:00.000001Z", None],
    ),
    "local time": (
        pa.array([-1, 10**18], pa.timestamp("us")),
        ["1969-12-31T23:59:59.999999", "<value out of range: 1000000000000000000>"],
    ),
    "time": (pa.array([1, None], pa.time64("ns")), ["00:00:00.000000001", None]),
    "interval": (pa.array([-7, None], pa.duration("us")), [-7, None]),
    "array": (pa.array([["a", None], []]), [["a", None], []]),
    "map": (pa.array([[(1, ["x"]), (2, None)], None], PAIRS), [{"1": ["x"], "2": None}, None]),
    "struct": (pa.array([{"a b": 1, 'q"': None}, None]), [{"a b": 1, 'q"': None}, None]),
    "empty struct": (pa.array([{}, None], pa.struct([])), [{}, None]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_become_json(name: str) -> None:
    array, expected = COLUMNS[name]
    assert [json.loads(text) for text in json_text(array).to_pylist()] == expected
    assert [json.loads(text) for text in json_text(array.slice(1)).to_pylist()] == expected[1:]


def test_rows_become_a_line_each() -> None:
    rows = pa.RecordBatch.from_pydict({name: array for name, (array, _) in COLUMNS.items()})
    assert json_lines(rows).count("\n") == 2
    assert list(json_rows(rows)) == [
        {name: values[i] for name, (_, values) in COLUMNS.items()} for i in range(2)
    ]
    assert json_lines(rows.slice(0, 0)) == ""
