"""Checkpoints that Spark made, compared row by row with what Spark's `statestore` source reads.

The files in `golden` are made by `apps/make_checkpoints.py`, which the test marked `long` runs anew
with the Spark under test.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import AT_ONCE, GOLDEN
from harness import SharedSpark, is_since
from holdfast_spark.checkpoint import Checkpoint, CheckpointError
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.errors import UnsupportedProviderError
from holdfast_spark.checkpoint.files.providers import ROCKSDB
from holdfast_spark.checkpoint.files.spark_types import describe
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.cli import main as cli

APP = Path(__file__).parent / "apps" / "make_checkpoints.py"
FIRST = {"typed", "typed_keys", "windows", "join", "zstd", "snappy", "lzf"}
SINCE_3_5 = FIRST | {"more_types", "sessions", "chars"}
IN_ROCKSDB = {"sums", "column_families"}
OF_4_1 = {"zstd_checked", "snappy_checked", "lzf_checked", "chars_kept"}
SINCE_4_1 = SINCE_3_5 | OF_4_1
WITH_IDS = {"ids", "ids_join"}
ALL = SINCE_4_1 | WITH_IDS | {"within_watermark", "limit", "groups"}
GOLDEN_QUERIES = {
    "spark-3.5": SINCE_3_5 | {"sums"},
    "spark-4.0": SINCE_3_5 | {"sums"},
    "spark-4.1": SINCE_4_1 | {"sums"},
    "spark-4.2": FIRST,
    "spark-4.3": ALL | IN_ROCKSDB,
}
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


@pytest.mark.parametrize("line", sorted(GOLDEN_QUERIES))
def test_there_are_golden_checkpoints_of_every_query(line: str) -> None:
    made = {folder.parent.name for folder in (GOLDEN / line).rglob("checkpoint")}
    assert made == GOLDEN_QUERIES[line]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_golden_rows_are_those_that_spark_reads(folder: Path) -> None:
    assert check(folder) > 0


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/rocksdb/sums/checkpoint")), ids=str)
def test_rocksdb_is_listed_and_explained(path: Path) -> None:
    checkpoint = Checkpoint.open(str(path))
    found = inspect_checkpoint(checkpoint)
    ((store,),) = [operator.stores for operator in found.operators]
    assert found.provider_class == ROCKSDB
    assert "N.changelog the changes" in (found.explanation or "")
    assert store.newest_version == len(checkpoint.committed)
    assert store.versions.endswith(f"-{store.newest_version}")
    changelogs = list(path.glob("state/0/*/*.changelog"))
    assert store.deltas == len(changelogs) > 0
    assert store.delta_bytes == sum(file.stat().st_size for file in changelogs)
    assert store.snapshots == len(list(path.glob("state/0/*/*.zip")))
    assert store.shared_files == len(list(path.glob("state/0/*/SSTs/*")))
    # Not even where Spark 3.5 has written no metadata of operators.
    assert found.odd == ()
    with pytest.raises(UnsupportedProviderError, match="holdfast migrate --to holdfast first"):
        next(checkpoint.read())


def test_column_families_are_named() -> None:
    checkpoint = Checkpoint.open(str(GOLDEN / "spark-4.3/rocksdb/column_families/checkpoint"))
    schema = checkpoint.schema(0)
    assert schema.version == 3
    families = schema.column_families
    assert {"total", "seen", "parts"} <= set(families)
    assert describe(families["total"].value) == "struct<n:long,late:timestamp>"
    assert describe(families["seen"].value) == "struct<id:long>"
    assert {family.key_encoder for family in families.values()} >= {
        "NoPrefixKeyStateEncoderSpec",
        "PrefixKeyScanStateEncoderSpec",
    }
    assert "transformWithState" in checkpoint.operators[0].name
    with pytest.raises(CheckpointError, match="keeps its state in column families"):
        migrate(checkpoint, "hdfs", settled=AT_ONCE)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/chars_kept/checkpoint")), ids=str)
def test_char_and_varchar_are_shown_as_text(path: Path) -> None:
    """With `preserveCharVarcharTypeInfo` they stand in the schema."""
    schema = (path / "state/0/0/_metadata/schema").read_bytes()
    for kind in (b'"char(5)"', b'"varchar(9)"', b'"char(2)"', b'"varchar(4)"'):
        assert kind in schema
    command = ["show", str(path), "--key", "c=0    ", "--format", "json"]
    shown = CliRunner().invoke(cli.main, command)
    assert shown.exit_code == 0, shown.stderr
    found = [json.loads(line) for line in shown.stdout.splitlines()]
    assert {row["key"]["c"] for row in found} == {row["value"]["max"] for row in found} == {"0    "}
    assert {(row["key"]["st"]["x"], row["key"]["st"]["y"]) for row in found} == {("q ", "0")}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.since("4.0", "the `statestore` source")
def test_rows_are_those_that_this_spark_reads(shared_spark: SharedSpark, tmp_path: Path) -> None:
    made = shared_spark.python(APP, tmp_path / "made")
    assert made.code == 0, made.err
    expected = ALL if is_since("4.2") else ALL - WITH_IDS
    expected = expected if is_since("4.1") else expected - OF_4_1
    assert {path.name for path in (tmp_path / "made").iterdir()} >= expected
    for name in expected:
        assert check(tmp_path / "made" / name) > 0, name
    for name in WITH_IDS & expected:
        checkpoint = Checkpoint.open(str(tmp_path / "made" / name / "checkpoint"))
        assert all(store.others for store in checkpoint.stores), "the last batch was run twice"
