"""What `verify` says where the schema of a store does not lie with partition 0."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.checkpoints import GOLDEN
from checkpoint.checks.harm import Harm, exchanged, folder_gone, gone, invoke, text, verified
from checkpoint.whole import BATCHES

SCHEMA = "state/0/0/_metadata/schema"
ONE_PARTITION = '"spark.sql.shuffle.partitions": "1"'


def test_exchanged_folders_are_told_by_the_schema_and_by_the_rows(path: Path) -> None:
    exchanged("state/0/0", "state/0/1")(path)
    found = verified(path)
    schema, *rows = found.broken
    assert (found.goes_on, schema.path, schema.stops) == (False, str(path / SCHEMA), True)
    assert f"found it in {path / 'state/0/1/_metadata/schema'}" in schema.error
    assert "the folders of partition 0 and 1 look exchanged" in schema.error
    assert all("by their hash" in file.error for file in rows)
    assert {Path(file.path).name for file in rows} >= {f"{BATCHES}.delta", "3.snapshot"}
    assert found.notes == ()
    assert "does not go on with the right state" in invoke("verify", path).stdout


@pytest.mark.parametrize(
    "harm",
    [
        folder_gone("state/0/_metadata"),
        text("state/0/_metadata/metadata", "stateStoreSave", "somethingElse"),
    ],
)
def test_exchanged_folders_are_told_where_no_row_can_be_placed(path: Path, harm: Harm) -> None:
    harm(path)
    exchanged("state/0/0", "state/0/1")(path)
    found = verified(path)
    (schema,) = found.broken
    assert (found.goes_on, schema.stops) == (False, True)
    assert "look exchanged" in schema.error


def test_a_schema_that_was_moved_alone_stops_nothing(path: Path) -> None:
    (path / "state/0/1/_metadata").mkdir()
    (path / SCHEMA).rename(path / "state/0/1/_metadata/schema")
    found = verified(path)
    (schema,) = found.broken
    assert (found.goes_on, schema.stops) == (True, False)
    assert "the schema alone was moved" in schema.error


def test_exchanged_folders_of_spark_3_5_are_told(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "spark-3.5/windows/checkpoint", path)
    assert not any("look exchanged" in file.error for file in verified(path).broken)
    exchanged("state/0/0", "state/0/1")(path)
    assert not verified(path).goes_on
    assert any("look exchanged" in file.error for file in verified(path).broken)


@pytest.mark.parametrize("without_metadata", [False, True])
def test_without_a_schema_nobody_knows_whether_the_state_is_right(
    path: Path, *, without_metadata: bool
) -> None:
    gone(SCHEMA)(path)
    if without_metadata:  # as before Spark 4.0
        folder_gone("state/0/_metadata")(path)
    exchanged("state/0/0/5.delta", "state/0/1/5.delta")(path)
    found = verified(path)
    (schema,) = found.broken
    assert (found.goes_on, schema.path, schema.stops) == (False, str(path / SCHEMA), True)
    assert "they may lie in the wrong partitions" in schema.error


def test_without_a_schema_the_rows_of_one_partition_are_where_they_belong(path: Path) -> None:
    gone(SCHEMA)(path)
    shutil.rmtree(path / "state/0/1")
    for batch in range(BATCHES):
        text(f"offsets/{batch}", '"spark.sql.shuffle.partitions": "2"', ONE_PARTITION)(path)
    text("state/0/_metadata/metadata", '"numPartitions": 2', '"numPartitions": 1')(path)
    found = verified(path)
    assert (found.goes_on, [file.stops for file in found.broken]) == (True, [False])
