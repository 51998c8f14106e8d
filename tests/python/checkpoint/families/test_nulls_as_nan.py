"""The key that pandas has for null: where its state is, and where it moves to."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from checkpoint.checkpoints import AT_ONCE, long_row, schema_json
from checkpoint.families.made import (
    K_N,
    TOTAL,
    TRANSFORM,
    Record,
    family,
    file_bytes,
    transformed,
)
from checkpoint.families.test_family_rows import shown
from holdfast_spark.checkpoint import Checkpoint, repartition, verify_checkpoint
from holdfast_spark.checkpoint.changes.spread import MisplacedRowsError
from holdfast_spark.checkpoint.files.spark_types import parse_struct
from holdfast_spark.checkpoint.rows.murmur import SEED, hash_rows
from holdfast_spark.checkpoint.rows.nulls_as_nan import readings

IN_PANDAS = "transformWithStateInPandasExec"
KEY = parse_struct(json.loads(schema_json(k="double")), path="a test")
DEFINED = (family(0, "default"), family(TOTAL, "total", schemas=(schema_json(k="double"), K_N[1])))


def place(key: float | None, partitions: int) -> int:
    """The partition that Spark spreads the rows of a key to."""
    keys = pa.StructArray.from_arrays([pa.array([key], pa.float64())], ["k"])
    return int(hash_rows(keys, KEY)[0]) % partitions


def record(key: float, count: int) -> Record:
    return 2 * TOTAL, struct.pack("<Qd", 0, key), long_row(count)


def counted(
    folder: Path, rows: Mapping[float | None, int], partitions: int, operator: str = IN_PANDAS
) -> Path:
    """The checkpoint of a query with these keys and counts, None for that of null."""
    deltas = {}
    for partition in range(partitions):
        here = [
            record(math.nan if key is None else key, count)
            for key, count in rows.items()
            if place(key, partitions) == partition
        ]
        deltas[f"{partition}/1.delta"] = file_bytes("D", here, defined=DEFINED)
    return transformed(folder, deltas, batches=1, partitions=partitions, operator=operator)


def places(path: Path) -> dict[str, list[int]]:
    """The partitions of the keys in a checkpoint."""
    found: dict[str, list[int]] = {}
    for partition, key, _ in shown(path, state_var_name="total"):
        found.setdefault(str(key["k"]), []).append(partition)
    return found


def test_the_key_of_null_is_where_its_rows_are(tmp_path: Path) -> None:
    assert place(None, 3) == SEED % 3 != place(math.nan, 3)
    path = counted(tmp_path / "checkpoint", {None: 1, 2.0: 2, 5.0: 3}, 3)
    assert verify_checkpoint(Checkpoint.open(path)).sound


def test_it_moves_with_its_rows(tmp_path: Path) -> None:
    rows: dict[float | None, int] = {None: 1, **{float(k): k for k in range(20)}}
    path = counted(tmp_path / "checkpoint", rows, 3)
    for partitions in (7, 5):
        done = repartition(
            Checkpoint.open(path), partitions, apply=True, stopped=True, settled=AT_ONCE
        )
        assert done.applied
        assert verify_checkpoint(Checkpoint.open(path)).sound
        assert places(path) == {
            "nan": [place(None, partitions)],
            **{str(float(k)): [place(k, partitions)] for k in range(20)},
        }


def test_nan_that_is_no_null_moves_as_what_it_is(tmp_path: Path) -> None:
    path = counted(tmp_path / "checkpoint", {math.nan: 1, None: 2, 3.0: 3}, 3)
    repartition(Checkpoint.open(path), 5, apply=True, stopped=True, settled=AT_ONCE)
    assert places(path)["nan"] == sorted([place(math.nan, 5), place(None, 5)])
    assert verify_checkpoint(Checkpoint.open(path)).sound


def test_one_that_may_be_either_stays_where_it_is(tmp_path: Path) -> None:
    path = counted(tmp_path / "checkpoint", {None: 1, 2.0: 2}, 1)
    assert verify_checkpoint(Checkpoint.open(path)).sound
    with pytest.raises(MisplacedRowsError, match="1 key of the column family total says NaN"):
        repartition(Checkpoint.open(path), 3, settled=AT_ONCE)


def test_what_belongs_elsewhere_either_way_is_told(tmp_path: Path) -> None:
    path = counted(tmp_path / "checkpoint", {2.0: 2}, 3)
    stranger = ({0, 1, 2} - {place(math.nan, 3), place(None, 3)}).pop()
    (path / f"state/0/{stranger}/1.delta").write_bytes(
        file_bytes("D", [record(math.nan, 1)], defined=DEFINED)
    )
    assert not verify_checkpoint(Checkpoint.open(path)).sound


def test_only_pandas_has_nan_for_null(tmp_path: Path) -> None:
    path = counted(tmp_path / "checkpoint", {None: 1, 2.0: 2}, 3, operator=TRANSFORM)
    assert not verify_checkpoint(Checkpoint.open(path)).sound


def test_each_column_may_be_null_for_itself() -> None:
    schema = parse_struct(json.loads(schema_json(a="string", b="double", c="long")), path="a test")
    columns = [pa.array([b"NaN", b"x", b"NaN"]), pa.array([math.nan, 1, None]), pa.array([1, 2, 3])]
    keys = pa.StructArray.from_arrays(columns, ["a", "b", "c"])
    found = [each.to_pylist() for each in readings(keys, schema)]
    first = [[row["a"], row["b"]] for each in found for row in each[:1]]
    assert len(found) == len(first) == 4
    assert [None, None] in first
    assert sum(a == b"NaN" for a, _ in first) == 2
    assert {row[1]["a"] for row in found} == {b"x"}
    assert {row[2]["b"] for row in found} == {None}
