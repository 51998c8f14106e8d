"""Whether `verify` sees rows in the wrong partition where no metadata tells how they are placed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import (
    GOLDEN,
    PARTITIONS,
    STRICT,
    counts,
    long_row,
    lz4,
    offsets,
    records,
    schema_file,
    schema_json,
)
from checkpoint.checks.harm import exchanged, verified
from checkpoint.plans import replanned
from checkpoint.rows.test_murmur import of_long
from holdfast_spark.checkpoint import BrokenFile

KEYS = range(40)
SEED = 42  # Spark's


def misplaced(path: Path) -> list[BrokenFile]:
    return [file for file in verified(path).broken if "by their hash" in file.error]


@pytest.mark.parametrize(
    ("name", "store"),
    [
        ("lzf", ""),
        ("typed_keys", ""),
        # The start of a session, and the index of a joined row, come last in the key.
        ("sessions", ""),
        ("windows", ""),
        ("join", "left-keyWithIndexToValue/"),
    ],
)
def test_the_rows_tell_how_they_are_placed(tmp_path: Path, name: str, store: str) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / f"spark-3.5/{name}/checkpoint", path)
    assert not (path / "state/0/_metadata").exists()
    assert misplaced(path) == []
    one, other = f"state/0/0/{store}3.delta", f"state/0/1/{store}3.delta"
    exchanged(one, other)(path)
    found = misplaced(path)
    assert {file.path for file in found} == {str(path / one), str(path / other)}
    assert "expected keys of partition 0 of 2, by their hash" in found[0].error


def by_two_columns(folder: Path, *, strict: str | None) -> Path:
    """A checkpoint with keys of two columns, spread over two partitions by the first one."""
    path = counts(folder, {}, batches=3)
    columns = schema_json(a="long", b="long")
    (path / "state/0/0/_metadata/schema").write_bytes(schema_file(columns, schema_json(n="long")))

    def spread(plan: dict[str, Any]) -> None:
        plan["conf"][PARTITIONS] = "2"
        del plan["conf"][STRICT]
        if strict:
            plan["conf"][STRICT] = strict

    for batch in range(3):
        (path / f"offsets/{batch}").write_text(replanned(offsets(batch).decode(), spread))
        for partition in range(2):
            rows = (
                (long_row(a, a + batch), long_row(batch))
                for a in KEYS
                if of_long(a, SEED) % 2 == partition
            )
            file = path / f"state/0/{partition}/{batch + 1}.delta"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(lz4(records(rows)))
    return path


@pytest.mark.parametrize("strict", [None, "false"])
def test_rows_that_were_spread_by_a_part_of_the_key_are_in_place(
    tmp_path: Path, strict: str | None
) -> None:
    """As Spark before 3.3 took them, and as it still does in queries from then."""
    assert misplaced(by_two_columns(tmp_path / "checkpoint", strict=strict)) == []


def test_rows_that_spark_has_to_spread_by_the_whole_key_are_not(tmp_path: Path) -> None:
    assert len(misplaced(by_two_columns(tmp_path / "checkpoint", strict="true"))) == 6


def test_few_rows_tell_nothing(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "spark-3.5/typed/checkpoint", path)
    exchanged("state/0/0/3.delta", "state/0/1/3.delta")(path)
    assert misplaced(path) == []
