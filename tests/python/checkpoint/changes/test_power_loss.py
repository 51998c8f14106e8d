"""Changes of checkpoints on a disk that may lose power: what they build on is there before them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from checkpoint.changes.changed import COMMANDS, each_command, sound
from checkpoint.disk import Disk
from checkpoint.faults import content
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.change import finish_unfinished
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.changes.steps import ChangeSteps
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import unfinished
from holdfast_spark.checkpoint.files.location import Location


class LostPowerError(BaseException):
    """There is no more power."""


@each_command
def test_each_part_of_a_change_is_on_disk_before_the_next_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    disk = Disk(path)
    disk.follow(monkeypatch, partial(command, Checkpoint.open(str(path))))
    assert disk.early == []
    assert disk.lacking == set()
    assert disk.synced > 0


@each_command
def test_a_change_that_fails_is_undone_on_disk(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    before = content(path)
    disk = Disk(path)
    monkeypatch.setattr(ChangeSteps, "require_ours", meddled)
    checkpoint = Checkpoint.open(str(path))

    def failing() -> None:
        with pytest.raises(CheckpointError, match="Somebody"):
            command(checkpoint)

    disk.follow(monkeypatch, failing)
    assert content(path) == before
    assert disk.early == []
    assert disk.lacking == set()


@each_command
@pytest.mark.parametrize("part", ["complete", "undo"])
def test_what_was_cut_off_is_finished_on_disk(
    name: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, command = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    with monkeypatch.context() as patch:
        patch.setattr(ChangeSteps, part, lost_power)
        if part == "undo":
            patch.setattr(ChangeSteps, "require_ours", meddled)
        with pytest.raises(LostPowerError):
            command(Checkpoint.open(str(path)))
    checkpoint = Location.of(str(path))
    assert unfinished(checkpoint)
    disk = Disk(path)
    disk.follow(monkeypatch, partial(finish_unfinished, checkpoint))
    assert not unfinished(checkpoint)
    assert disk.early == []
    assert disk.lacking == set()


def test_a_savepoint_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = Checkpoint.open(str(sound(tmp_path / "checkpoint")))
    disk = Disk(tmp_path / "savepoint")
    disk.follow(monkeypatch, partial(make_savepoint, checkpoint, tmp_path / "savepoint"))
    assert disk.synced > 0
    assert disk.lacking == set()


def meddled(_: ChangeSteps) -> None:
    raise CheckpointError("Somebody has written there.")


def lost_power(_: ChangeSteps) -> None:
    raise LostPowerError
