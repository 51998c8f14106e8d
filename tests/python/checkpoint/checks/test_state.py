"""What `verify` says of state that is gone altogether, and of its partitions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from checkpoint.checkpoints import long_row, lz4, records
from checkpoint.checks.harm import invoke, rewrite, text, verified
from checkpoint.whole import BATCHES


def test_state_that_is_gone_altogether_is_told_of_by_every_command(path: Path) -> None:
    shutil.rmtree(path / "state")
    found = verified(path)
    (note,) = found.notes
    assert "holds no state: that is right only for a query without stateful operators" in note
    for command in ("verify", "inspect"):
        assert "holds no state" in " ".join(invoke(command, path).stdout.split())
    for command in ("repair", "migrate --to holdfast", f"savepoint {path}-copy"):
        name, *options = command.split()
        assert "holds no state" in invoke(name, path, *options).stderr


def test_an_operator_whose_state_is_gone_is_told_by_its_number(path: Path) -> None:
    (path / "state/0").rename(path / "state/1")
    (broken,) = [file for file in verified(path).broken if file.path == str(path / "state/0")]
    assert broken.stops
    assert "is gone: expected the state of operator 0" in broken.error
    assert "Operator 0 has lost the folder" in invoke("inspect", path).stdout


@pytest.mark.parametrize("inside", ["", "0", "0/left-keyToNumValues"])
def test_an_empty_folder_of_an_operator_is_told_of_and_tells_nothing_of_others(
    path: Path, inside: str
) -> None:
    (path / "state/9" / inside).mkdir(parents=True)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "state/9"), True)
    assert "is empty: expected the state of operator 9" in broken.error
    inspected = invoke("inspect", path).stdout
    assert "The folder of operator 9 is empty" in inspected
    assert "lost the folder" not in inspected
    for command in ("repair", "migrate --to holdfast", f"savepoint {path}-copy"):
        name, *options = command.split()
        said = invoke(name, path, *options)
        assert said.exit_code == 1
        assert "is empty: expected the state" in said.output
    (path / "state/9" / inside).rmdir()
    shutil.rmtree(path / "state/9", ignore_errors=True)
    assert verified(path).sound


def test_an_operator_whose_state_is_gone_is_told_by_the_newest_commit(path: Path) -> None:
    ids = json.dumps({"nextBatchWatermarkMs": 500, "stateUniqueIds": {"0": [["a"], ["b"]]}})
    rewrite(path / "commits/4", f"v2\n{ids}".encode())
    shutil.rmtree(path / "state")
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "state/0"), True)


@pytest.mark.parametrize(("pinned", "batches"), [("1", (4,)), ("1", range(BATCHES)), ("5", (4,))])
def test_the_pinned_number_of_partitions_is_that_of_the_state(
    path: Path, pinned: str, batches: Sequence[int]
) -> None:
    for batch in batches:
        name = "spark.sql.shuffle.partitions"
        text(f"offsets/{batch}", f'"{name}": "2"', f'"{name}": "{pinned}"')(path)
    found = verified(path)
    assert not found.goes_on
    assert any(
        f"pins {pinned} for spark.sql.shuffle.partitions, which Spark obeys: expected 2"
        in file.error
        for file in found.broken
        if file.path == str(path / "offsets/4")
    )


def test_partitions_that_a_repartitioning_left_behind_do_not_count(path: Path) -> None:
    one_partition_since(path, 4)
    found = verified(path)
    assert (found.sound, found.broken) == (True, ())
    assert [store.partition_id for store in found.stores] == [0]
    assert "cannot be put together" not in invoke("inspect", path).stdout


def one_partition_since(path: Path, batch: int) -> None:
    """Do what Spark does to repartition with a batch: metadata of version 1 stays as it is."""
    name = "spark.sql.shuffle.partitions"
    text(f"offsets/{batch}", f'"{name}": "2"', f'"{name}": "1"')(path)
    (path / f"state/0/1/{batch + 1}.delta").unlink()
    rows = ((long_row(key), long_row(7)) for key in range(9))
    rewrite(path / f"state/0/0/{batch + 1}.delta", lz4(records(rows)))
