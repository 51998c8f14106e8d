"""Changes of checkpoints beside a query that runs, or that would go on from elsewhere."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from checkpoint.changes.changed import COMMANDS, sound
from checkpoint.checkpoints import AT_ONCE
from checkpoint.faults import content
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.location import Location


def test_maintenance_that_is_writing_a_snapshot_cannot_finish_it(tmp_path: Path) -> None:
    path = sound(tmp_path / "checkpoint")
    hidden = path / "state/0/0/.4.snapshot.26f6c1c0.TID7.tmp"
    hidden.write_bytes(b"the rows of the former partition")
    assert repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE).applied
    with pytest.raises(FileNotFoundError):
        hidden.rename(path / "state/0/0/4.snapshot")


def test_a_snapshot_that_maintenance_has_put_over_a_new_one_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    before = content(path)
    move = Location.move

    def maintained(location: Location, target: Location) -> None:
        move(location, target)
        if target.path.endswith("/0/0/4.snapshot") and "/new/" in location.path:
            (path / "state/0/0/4.snapshot").write_bytes(b"the rows of the former partition")

    with monkeypatch.context() as patch:
        patch.setattr(Location, "move", maintained)
        with pytest.raises(CheckpointError, match=r"4\.snapshot has changed meanwhile"):
            repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE)
    assert content(path) == before


def test_of_two_that_begin_the_next_batch_one_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sound(tmp_path / "checkpoint")
    claim = Location.claim

    def late(location: Location, text: bytes, *, by: Location) -> bool:
        (path / "offsets/4").write_bytes(b"v1\n{}\n{}")
        return claim(location, text, by=by)

    monkeypatch.setattr(Location, "claim", late)
    for command in (
        lambda found: repartition(found, 3, apply=True, settled=AT_ONCE),
        lambda found: migrate(found, "holdfast", apply=True, settled=AT_ONCE),
    ):
        with pytest.raises(CheckpointError, match=r"offsets/4 has come meanwhile"):
            command(Checkpoint.open(str(path)))
        assert (path / "offsets/4").read_bytes() == b"v1\n{}\n{}"
        (path / "offsets/4").unlink()
    assert content(path) == content(sound(tmp_path / "before"))


def test_a_running_query_is_not_changed(tmp_path: Path) -> None:
    path = sound(tmp_path / "checkpoint")
    (path / "state/0/0/1.snapshot").write_bytes(b"damage")
    before = content(path)
    hour = timedelta(hours=1)
    for command in (
        lambda found: repartition(found, 3, apply=True, settled=hour),
        lambda found: repair(found, apply=True, drop_tail=True, settled=hour),
    ):
        with pytest.raises(CheckpointError, match="seems to be running"):
            command(Checkpoint.open(str(path)))
    assert content(path) == before


# A repair without batches to give up leaves the rows as they are.
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"repair"}))
def test_nothing_is_changed_where_the_query_would_not_go_on_from_the_newest_commit(
    name: str, tmp_path: Path
) -> None:
    """Spark runs the newest planned batch, from the state before it, whatever is committed."""
    make, command = COMMANDS[name]
    path = make(tmp_path / "checkpoint")
    for batch in (2, 3):
        (path / f"commits/{batch}").unlink()
    before = content(path)
    with pytest.raises(
        CheckpointError, match=r"has planned the batches 2 to 3, and .* ends with 1"
    ):
        command(Checkpoint.open(str(path)))
    assert content(path) == before
