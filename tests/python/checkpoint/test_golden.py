"""Checkpoints that Spark made, compared row by row with what Spark's `statestore` source reads.

The files in `golden` are made by `apps/make_checkpoints.py`; the test marked `spark` makes them
anew with the Spark under test.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import GOLDEN
from harness import Spark
from holdfast.checkpoint import Checkpoint

APP = Path(__file__).parent / "apps" / "make_checkpoints.py"
QUERIES = {"typed", "typed_keys", "windows", "join", "zstd", "snappy", "lzf"}
FOLDERS = sorted(path.parent for path in GOLDEN.glob("*/*/expected.json"))


def check(folder: Path) -> int:
    """Compare all stores of a checkpoint; return the number of rows."""
    checkpoint = Checkpoint.open(str(folder / "checkpoint"))
    compared = 0
    for options, expected in json.loads((folder / "expected.json").read_text()):
        assert rows(checkpoint, options) == expected, options
        compared += len(expected)
    return compared


def rows(checkpoint: Checkpoint, options: dict[str, str]) -> list[str]:
    """Read what Spark's source reads with these options, as `make_checkpoints.py` writes it."""
    operator, batch = int(options["operatorId"]), int(options["batchId"])
    if "joinSide" in options:
        found = checkpoint.read_join_side(options["joinSide"], operator_id=operator, batch_id=batch)
    else:
        found = checkpoint.read(
            operator_id=operator, store_name=options["storeName"], batch_id=batch
        )
    return sorted(
        json.dumps(
            plain([row["partition_id"], list(row["key"].values()), list(row["value"].values())]),
            sort_keys=True,
        )
        for piece in found
        for row in piece.to_pylist()
    )


def plain(value: Any) -> object:  # noqa: ANN401, PLR0911 - whatever a row holds
    match value:
        case bytes():
            return value.hex()
        case datetime():
            return str(value.replace(tzinfo=None))
        case dict():
            return {str(name): plain(part) for name, part in value.items()}
        case [(_, _), *_] if all(isinstance(pair, tuple) for pair in value):
            return {str(plain(name)): plain(part) for name, part in value}
        case list():
            return [plain(part) for part in value]
        case bool() | int() | float() | str() | None:
            return value
        case _:
            return str(value)


def test_there_are_golden_checkpoints_of_every_query() -> None:
    assert {folder.name for folder in FOLDERS} == QUERIES


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_golden_rows_are_those_that_spark_reads(folder: Path) -> None:
    assert check(folder) > 0


@pytest.mark.spark
def test_rows_are_those_that_this_spark_reads(spark: Spark, tmp_path: Path) -> None:
    made = spark.python(str(APP), tmp_path / "made", TZ="UTC")
    assert made.code == 0, made.err
    assert {path.name for path in (tmp_path / "made").iterdir()} == QUERIES
    for folder in (tmp_path / "made").iterdir():
        assert check(folder) > 0, folder.name
