"""Changes of checkpoints whose batches are pinned to different partition numbers, or to none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import AT_ONCE, GOLDEN, PARTITIONS
from checkpoint.faults import content
from checkpoint.plans import planned, replanned
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.errors import CheckpointError

NEWEST = 3
CHANGES: dict[str, Callable[[Checkpoint], object]] = {
    "migrate": partial(migrate, to="holdfast", apply=True, stopped=True, settled=AT_ONCE),
    "repartition": partial(repartition, partitions=3, apply=True, stopped=True, settled=AT_ONCE),
    "repair": partial(repair, apply=True, stopped=True, settled=AT_ONCE),
    "repair --drop-tail": partial(
        repair, drop_tail=True, apply=True, stopped=True, settled=AT_ONCE
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Counts in two partitions, four batches committed."""
    shutil.copytree(GOLDEN / "spark-4.3/typed/checkpoint", tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


def pin(path: Path, batch: int, partitions: int | None) -> None:
    """Pin a batch to a number, or to none; it is planned like the one before, if it is new."""
    file = path / f"offsets/{batch}"
    source = file if file.exists() else path / f"offsets/{batch - 1}"

    def change(plan: dict[str, Any]) -> None:
        del plan["conf"][PARTITIONS]
        if partitions:
            plan["conf"][PARTITIONS] = str(partitions)

    file.write_text(replanned(source.read_text(), change))


def pinned(path: Path) -> dict[int, int | None]:
    checkpoint = Checkpoint.open(str(path))
    return {b: checkpoint.batch(b).settings.shuffle_partitions for b in checkpoint.planned}


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_is_changed_while_spark_repartitions(name: str, path: Path) -> None:
    pin(path, NEWEST + 1, 7)
    (path / "state/0/0/4.delta").write_bytes(b"x")
    before = content(path)
    expected = re.escape(
        f"{path} is being repartitioned by Spark: expected 2 partitions in the planned batch 4, as "
        "in the newest committed batch 3, found 7."
    )
    with pytest.raises(CheckpointError, match=expected):
        CHANGES[name](Checkpoint.open(str(path)))
    assert content(path) == before


def test_the_settings_of_each_batch_stay_its_own(path: Path) -> None:
    pin(path, NEWEST + 1, 2)
    later = path / f"offsets/{NEWEST + 1}"
    later.write_text(later.read_text().replace('"conf": {', '"conf": {"spark.new": "1", '))
    CHANGES["migrate"](Checkpoint.open(str(path)))
    confs = [planned((path / f"offsets/{batch}").read_text())["conf"] for batch in (3, 4)]
    assert [conf.get("spark.new") for conf in confs] == [None, "1"]


def test_a_query_does_not_go_back_over_a_change_of_its_partition_number(path: Path) -> None:
    for batch in (0, 1, 2):
        pin(path, batch, 7)
    (path / "state/0/0/4.delta").write_bytes(b"x")
    before = content(path)
    expected = r"cannot go back to after batch 2: its state is in 2 partitions since then, and was "
    with pytest.raises(CheckpointError, match=expected + "in 7 at batch 2"):
        CHANGES["repair --drop-tail"](Checkpoint.open(str(path)))
    assert content(path) == before


def test_the_next_batch_has_the_number_of_the_state_where_none_is_pinned(path: Path) -> None:
    for batch in range(NEWEST + 1):
        pin(path, batch, None)
    CHANGES["migrate"](Checkpoint.open(str(path)))
    assert pinned(path) == {0: None, 1: None, 2: None, 3: 2, 4: 2}
