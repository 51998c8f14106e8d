"""What the commands say of folders and files that nothing in the checkpoint can be made anew of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import (
    Harm,
    content,
    empty,
    exchanged,
    folder_gone,
    gone,
    invoke,
    verified,
)
from checkpoint.whole import BATCHES, PARTITIONS, SNAPSHOT, whole


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


def test_commits_that_name_state_files_tell_that_the_query_has_state(path: Path) -> None:
    for batch in range(BATCHES - 1):
        content(f"commits/{batch}", with_ids)(path)
    shutil.rmtree(path / "state")
    (broken,) = [file for file in verified(path).broken if file.path == str(path / "state")]
    assert (broken.stops, verified(path).goes_on) == (True, False)
    assert "the commit of batch 3 names state files" in broken.error


def with_ids(commit: bytes) -> bytes:
    text = commit.split(b"\n")[1]
    ids = {"0": [["a"] for _ in range(PARTITIONS)]}
    return b"\n".join([b"v2", json.dumps({**json.loads(text), "stateUniqueIds": ids}).encode()])


def test_an_empty_folder_of_state_tells_that_the_query_has_state(path: Path) -> None:
    shutil.rmtree(path / "state/0")
    (broken,) = [file for file in verified(path).broken if file.path == str(path / "state")]
    assert (broken.stops, verified(path).goes_on) == (True, False)
    assert "which Spark makes for these alone" in broken.error


@pytest.mark.parametrize("name", ["commits/4", "offsets/5", "sources/0/5", "sources/0/9.compact"])
def test_checksums_of_a_log_file_to_come_keep_the_query_from_going_on(
    tmp_path: Path, name: str
) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    log, _, file = name.rpartition("/")
    left = path / log / f".{file}.crc"
    if (path / name).exists():
        (path / name).unlink()
    else:
        shutil.copy2(path / log / ".4.crc", left)
    found = verified(path)
    (broken,) = found.broken
    assert (broken.path, broken.stops, found.goes_on) == (str(left), True, False)
    assert "Delete the checksums" in broken.error
    planned = invoke("repair", path, "--settled", "0")
    assert (planned.exit_code, f"set aside: {left}" in planned.stdout) == (0, True)
    assert left.exists()
    assert invoke("repair", path, "--settled", "0", "--apply").exit_code == 0
    assert not left.exists()
    assert [*(path / "holdfast-backup").rglob(left.name)]
    assert verified(path).sound


@pytest.mark.parametrize("name", ["commits/1", "offsets/1"])
def test_checksums_of_an_old_log_file_that_is_gone_are_in_nobodys_way(
    tmp_path: Path, name: str
) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    (path / name).unlink()
    assert verified(path).goes_on


@pytest.mark.parametrize("target", ["there", "nowhere"])
@pytest.mark.parametrize(
    "name", ["state", "state/0", "state/0/1", "state/0/0/2.delta", "sources", "sources/0"]
)
def test_a_link_out_of_the_checkpoint_is_named_among_the_rest(
    tmp_path: Path, name: str, target: str
) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    gone("commits/1")(path)
    (path / name).rename(tmp_path / "there")
    (path / name).symlink_to(tmp_path / target)
    found = verified(path)
    assert found.goes_on == (name == "state/0/0/2.delta")  # a snapshot is newer
    broken = [file for file in found.told if file.path == str(path / name)]
    assert len(broken) == 1
    assert "a link leads to" in broken[0].error
    assert str(path / "commits/1") in {file.path for file in found.broken}
    assert json.loads(invoke("verify", path, "--json").stdout)["broken"]
    repaired = invoke("repair", path, "--settled", "0", "--json")
    named = [step["path"] for step in json.loads(repaired.stdout)["steps"]]
    assert (repaired.exit_code, str(path / name) in named) == (1, True)
    assert invoke("repair", path, "--settled", "0", "--apply").exit_code == 1
    assert (path / name).is_symlink()


def test_a_link_that_leads_nowhere_is_no_empty_file(path: Path) -> None:
    gone("state/0/0/5.delta")(path)
    (path / "state/0/0/5.delta").symlink_to(path / "nowhere")
    inspected = " ".join(invoke("inspect", path).stdout.split())
    assert "has links that lead nowhere, of the versions 5." in inspected
    assert "empty files" not in inspected


@pytest.mark.parametrize(
    ("batches", "said"),
    [((4,), "The plan of batch 4 is gone"), ((3, 4), "The plans of batches 3 to 4 are gone")],
)
def test_the_plans_that_are_gone_are_named(path: Path, batches: tuple[int, ...], said: str) -> None:
    gone(*(f"offsets/{batch}" for batch in batches))(path)
    assert any(said in file.error for file in verified(path).broken)


def failed_in_first_batch(path: Path) -> None:
    """Leave what a first batch leaves that failed when one partition was done."""
    gone(*(f"offsets/{batch}" for batch in range(1, BATCHES)))(path)
    gone(*(f"commits/{batch}" for batch in range(BATCHES)))(path)
    gone(*(f"sources/0/{batch}" for batch in range(1, BATCHES)))(path)
    gone(f"state/0/0/{SNAPSHOT}.snapshot")(path)
    gone(*(f"state/0/0/{version}.delta" for version in range(2, BATCHES + 1)))(path)
    folder_gone("state/0/1")(path)


def without_operator_before(path: Path) -> None:
    """Leave what Spark 3.5 does where operator 0 failed, which gets its rows from operator 1."""
    gone("state/0/_metadata/metadata")(path)
    (path / "state/0").rename(path / "state/1")


def without_any_operator(path: Path) -> None:
    folder_gone("state/0")(path)


@pytest.mark.parametrize("more", [lambda _: None, without_operator_before, without_any_operator])
def test_a_first_batch_that_failed_needs_no_state(path: Path, more: Harm) -> None:
    failed_in_first_batch(path)
    more(path)
    found = verified(path)
    assert (found.broken, found.sound, found.goes_on, found.next_batch) == ((), True, True, 0)
    assert invoke("repair", path, "--settled", "0").exit_code == 0
    inspected = " ".join(invoke("inspect", path).stdout.split())
    assert "has no files of the store" not in inspected
    assert "has lost the folder" not in inspected


def test_state_that_the_first_batch_left_is_needed_once_it_is_committed(path: Path) -> None:
    commit = (path / "commits/0").read_bytes()
    failed_in_first_batch(path)
    (path / "commits/0").write_bytes(commit)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "state/0/1"), True)
