"""What the commands say of folders and files that nothing in the checkpoint can be made anew of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import Harm, empty, exchanged, folder_gone, gone, invoke, verified
from checkpoint.whole import BATCHES, PARTITIONS, whole


def without_new_data(path: Path, batch: int) -> None:
    """Plan a batch with the offsets of the one before it, as Spark does for stateful operators."""
    lines = (path / f"offsets/{batch}").read_text().split("\n")
    before = (path / f"offsets/{batch - 1}").read_text().split("\n")
    (path / f"offsets/{batch}").write_text("\n".join([*lines[:2], *before[2:]]))


def test_a_batch_without_new_data_tells_that_the_query_has_state(path: Path) -> None:
    without_new_data(path, 4)
    assert not any("holds no state" in file.error for file in verified(path).broken)
    shutil.rmtree(path / "state")
    found = verified(path)
    (broken,) = [file for file in found.broken if file.path == str(path / "state")]
    assert (found.goes_on, broken.stops) == (False, True)
    assert "batch 4 was without new data" in broken.error
    repaired = invoke("repair", path)
    assert repaired.exit_code == 1
    assert f"not repairable: {path / 'state'} holds no state" in repaired.stdout
    assert "holds no state" in invoke("migrate", path, "--to", "holdfast").stderr
    copy = path.with_name("copy")
    assert invoke("savepoint", path, str(copy)).exit_code == 1
    assert not copy.exists()


def test_former_state_files_tell_that_the_query_has_state(path: Path) -> None:
    (path / "holdfast-backup/1").mkdir(parents=True)
    (path / "state").rename(path / "holdfast-backup/1/state")
    assert any("is a former state file" in file.error for file in verified(path).broken)


def test_where_nothing_tells_of_state_none_was_judged(path: Path) -> None:
    shutil.rmtree(path / "state")
    assert not verified(path).judges_state
    assert "By all but its state, the query goes on" in invoke("verify", path).stdout


def test_checksums_alone_of_a_schema_keep_the_query_from_starting(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    schema = path / "state/0/0/_metadata/schema"
    schema.unlink()
    found = verified(path)
    (broken,) = found.broken
    assert (broken.path, broken.stops, found.goes_on) == (str(schema), True, False)
    assert f"or delete {schema.with_name('.schema.crc')}" in broken.error
    schema.with_name(".schema.crc").unlink()
    (broken,) = verified(path).broken
    assert "refuses to start" not in broken.error


def test_rows_that_were_not_held_against_partitions_are_noted(path: Path) -> None:
    assert verified(path).notes == ()
    gone("state/0/0/_metadata/schema")(path)
    exchanged("state/0/0/5.delta", "state/0/1/5.delta")(path)
    (note,) = verified(path).notes
    assert "partitions was not checked: their schema is not there" in note


@pytest.mark.parametrize("harm", [folder_gone("sources"), gone("sources/0/3")])
def test_every_command_tells_of_lost_logs_of_sources(path: Path, harm: Harm) -> None:
    harm(path)
    assert not verified(path).goes_on
    repaired = invoke("repair", path)
    assert repaired.exit_code == 1
    assert "has lost the source's batches" in repaired.stdout
    for command in (["savepoint", str(path.with_name("copy"))], ["migrate", "--to", "holdfast"]):
        assert "has lost the source's batches" in invoke(command[0], path, *command[1:]).stderr


def test_earlier_batches_are_read_where_the_newest_plan_is_empty(path: Path) -> None:
    empty("offsets/4")(path)
    inspected = invoke("inspect", path)
    assert inspected.exit_code == 0
    assert "offsets/4 is damaged" in " ".join(inspected.stdout.split())
    assert invoke("show", path, "--batch-id", "2").exit_code == 0
    copy = path.with_name("copy")
    advised = "holdfast savepoint --batch-id 3"
    assert advised in invoke("verify", path).stdout
    repaired = invoke("repair", path)
    assert (repaired.exit_code, advised in repaired.stderr) == (1, True)
    (path / "offsets/4").unlink()
    repaired = invoke("repair", path)
    assert (repaired.exit_code, advised in repaired.stderr) == (1, True), repaired.stderr
    assert "--drop-tail" not in repaired.stderr
    empty_again = path / "offsets/4"
    empty_again.touch()
    assert invoke("savepoint", path, str(copy), "--batch-id", "3").exit_code == 0
    assert verified(copy).goes_on


def test_an_empty_plan_of_a_batch_that_was_not_run_can_be_removed(path: Path) -> None:
    gone("commits/4")(path)
    empty("offsets/4")(path)
    for number in range(PARTITIONS):
        gone(f"state/0/{number}/{BATCHES}.delta")(path)
    assert "Or remove it, and its .crc file" in invoke("verify", path).stdout
    assert "remove it, and its .crc file" in invoke("repair", path).stderr
    gone("offsets/4")(path)
    assert verified(path).next_batch == BATCHES - 1
    assert invoke("migrate", path, "--to", "holdfast").exit_code == 0
