"""What a plan takes from a checkpoint, and how that is grown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from plan_command import document, sentence

from checkpoint.checkpoints import GOLDEN, counts, row
from checkpoint.skewed import PARTITION_COUNT, skewed
from holdfast_spark._operator_names import JOIN
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.observed import UnplannableError, grown, observe
from holdfast_spark.capacity.workload import Workload
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.history import read_histories


def test_a_checkpoint_tells_rows_and_changes(tmp_path: Path) -> None:
    path = skewed(tmp_path / "checkpoint", batches=24, changes=500)
    made = document("--checkpoint", path)
    (history,) = read_histories(Checkpoint.open(str(path)))
    (store,) = made["stores"]
    recent = history.versions[-10:]
    assert (made["operator"], made["partitions"]) == ("stateStoreSave", PARTITION_COUNT)
    assert store["rows"] == history.versions[-1].rows
    assert store["key_bytes"] + store["value_bytes"] == 64
    puts = sum(version.puts or 0 for version in recent)
    added = (history.versions[-1].rows or 0) - (history.versions[-11].rows or 0)
    overwritten = puts - added - sum(version.removals or 0 for version in recent)
    assert store["changes"] == round(puts / 10)
    assert store["overwritten"] == round(overwritten / 10)
    written = sum(version.delta_bytes for version in recent) / 10
    assert store["delta_bytes"] == pytest.approx(written, rel=0.02)
    assert made["assumptions"][0].startswith("In the checkpoint, partition 3 of the store default")


def test_a_checkpoint_can_be_grown(tmp_path: Path) -> None:
    path = skewed(tmp_path / "checkpoint")
    now, grown = document("--checkpoint", path), document("--checkpoint", path, "--keys", "1000000")
    (before,), (after,) = now["stores"], grown["stores"]
    assert after["rows"] == 1_000_000
    factor = 1_000_000 / before["rows"]
    assert after["changes"] == pytest.approx(before["changes"] * factor, rel=0.01)
    (changed,) = document("--checkpoint", path, "--changes", "7000")["stores"]
    assert (changed["rows"], changed["changes"]) == (before["rows"], 7000)


def test_changes_of_a_query_that_has_stood_still_are_planned_for(tmp_path: Path) -> None:
    deltas = {f"{n}.delta": [row(n, n)] if n <= 2 else [] for n in range(1, 15)}
    path = counts(tmp_path / "checkpoint", deltas, batches=14)
    (still,) = document("--checkpoint", path)["stores"]
    assert (still["rows"], still["changes"]) == (2, 0)
    made = document("--checkpoint", path, "--keys", "5000", "--changes", "700")
    (store,) = made["stores"]
    assert (store["rows"], store["changes"], store["overwritten"]) == (5_000, 700, 700)
    assert any("newest batches put no rows" in sentence for sentence in made["assumptions"])


def test_changes_of_stores_that_have_stood_still_are_in_proportion_to_their_rows() -> None:
    def load(name: str, rows: float, changes: float = 0) -> StoreLoad:
        more = {"key_bytes": 8.0, "value_bytes": 8.0, "overwritten": changes}
        return StoreLoad(name=name, rows=rows, changes=changes, **more)

    still = Workload(operator=JOIN, loads=(load("a", 1_000), load("b", 500), load("c", 10, 4)))
    loads = grown(still, changes=100).loads
    assert [each.changes for each in loads] == [100, 50, 4]
    assert [each.overwritten for each in loads] == [100, 50, 4]
    assert grown(still, changes=0) == still
    assert [each.changes for each in grown(still, keys=2_000, changes=100).loads] == [100, 50, 8]
    assert [each.changes for each in grown(still, keys=0, changes=100).loads][:2] == [100, 50]
    with pytest.raises(UnplannableError, match="of symmetricHashJoin has no rows, so that nothing"):
        grown(Workload(operator=JOIN, loads=(load("a", 0),)), changes=1)


def test_a_checkpoint_that_cannot_be_counted_is_refused(tmp_path: Path) -> None:
    path = counts(tmp_path / "checkpoint", {"1.delta": [row(1, 1)]}, batches=1)
    file = path / "state/0/0/1.delta"
    file.write_bytes(file.read_bytes()[:-30])
    assert "The rows of version 1 of the store 0/default cannot be counted." in sentence(
        "--checkpoint", path
    )
    file.unlink()
    assert "has no state files of operator 0" in sentence("--checkpoint", path)
    assert "has no stateful operator 7" in sentence("--checkpoint", path, "--operator-id", "7")
    assert "is not the checkpoint of a streaming query" in sentence("--checkpoint", tmp_path)


def test_a_batch_that_not_all_partitions_have_is_left_out(tmp_path: Path) -> None:
    path = skewed(tmp_path)
    whole = document("--checkpoint", path)
    shutil.copy(path / "offsets/29", path / "offsets/30")
    assert document("--checkpoint", path) == whole
    shutil.copy(path / "state/0/0/30.delta", path / "state/0/0/31.delta")
    assert document("--checkpoint", path) == whole


def test_a_checkpoint_tells_the_keys_of_its_sessions() -> None:
    path = GOLDEN / "spark-4.3/sessions/checkpoint"
    workload = observe(Checkpoint.open(str(path)), 0)
    (found,) = workload.loads
    rows = [row for piece in Checkpoint.open(str(path)).read() for row in piece.to_pylist()]
    assert found.rows == len(rows)
    assert found.prefixes == len({row["key"]["k"] for row in rows}) < len(rows)
    assert found.removed > 0
    twice = grown(workload, keys=2 * len(rows), changes=None).loads[0]
    assert twice.prefixes == 2 * found.prefixes
