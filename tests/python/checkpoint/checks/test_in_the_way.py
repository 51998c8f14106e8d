"""What lies in the way of a version to come, and what a batch that runs again has left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import content, copied, gone, invoke, text, verified
from checkpoint.whole import BATCHES

STATE = "state/0/1"


@pytest.mark.parametrize("to", [BATCHES + 1, BATCHES + 4])
def test_a_snapshot_of_a_version_to_come_would_be_taken_for_it(path: Path, to: int) -> None:
    copied(f"{STATE}/3.snapshot", f"{STATE}/{to}.snapshot")(path)
    found = verified(path)
    (file,) = found.broken
    assert (file.path, file.stops) == (str(path / f"{STATE}/{to}.snapshot"), True)
    assert "it would be taken for it, and the state be wrong. Move it away." in file.error
    assert not found.goes_on
    migrated = invoke("migrate", path, "--to", "holdfast", "--apply", "--settled", "0")
    assert migrated.exit_code == 1
    assert not (path / "holdfast-backup").exists()
    assert invoke("repair", path, "--apply", "--settled", "0").exit_code == 0
    assert verified(path).sound


def test_a_wrong_snapshot_of_the_batch_that_runs_again_is_found(path: Path) -> None:
    gone(f"commits/{BATCHES - 1}")(path)
    assert verified(path).goes_on
    copied(f"{STATE}/3.snapshot", f"{STATE}/{BATCHES}.snapshot")(path)
    found = verified(path)
    (file,) = found.broken
    assert (file.path, file.stops) == (str(path / f"{STATE}/{BATCHES}.snapshot"), True)
    assert not found.goes_on


@pytest.mark.parametrize("name", ["2", "0/another", "1/left-keyToNumValues"])
def test_a_folder_that_the_query_no_longer_has_is_no_matter(path: Path, name: str) -> None:
    left = path / "state/0" / name
    left.mkdir()
    shutil.copy(path / STATE / "1.delta", left)
    assert verified(path).sound
    repaired = invoke("repair", path)
    assert repaired.exit_code == 0, repaired.output
    copy = path.with_name("copy")
    assert invoke("savepoint", path, str(copy)).exit_code == 0
    assert verified(copy).sound
    assert not (copy / "state/0" / name).exists()
    gone(f"{STATE}/{BATCHES}.delta")(path)
    assert invoke("repair", path, "--drop-tail", "--apply", "--settled", "0").exit_code == 0
    assert verified(path).sound


def test_digits_of_other_scripts_are_no_partition(path: Path) -> None:
    shutil.copytree(path / STATE, path / "state/0/\u0663")
    assert verified(path).sound


@pytest.mark.parametrize(
    ("line", "ids", "expected"), [("v2", False, "v1, as it names no"), ("v1", True, "v2, as it")]
)
def test_the_newest_commit_is_of_the_version_that_names_state_files(
    path: Path, line: str, ids: bool, expected: str
) -> None:
    newest = f"commits/{BATCHES - 1}"
    text(newest, "v1", line)(path)
    if ids:
        text(newest, "}", ',"stateUniqueIds":{"0":[["a"],["b"]]}}')(path)
    (file,) = [file for file in verified(path).broken if file.path == str(path / newest)]
    assert file.stops
    assert f"begins with {line}: expected {expected}" in file.error


@pytest.mark.parametrize(
    "offset", ['{"logOffset":"4"}', '{"logOffset":true}', '{"logOffset":null}']
)
def test_an_offset_is_a_number(path: Path, offset: str) -> None:
    newest = f"offsets/{BATCHES - 1}"
    text(newest, f'"logOffset":{BATCHES - 1}', f'"logOffset":{offset}')(path)
    found = verified(path)
    assert not found.goes_on
    assert any("such as" in file.error for file in found.broken if file.path == str(path / newest))


def test_settings_that_every_spark_writes_are_not_lost(path: Path) -> None:
    newest = f"offsets/{BATCHES - 1}"
    content(newest, lambda old: old.replace(b'"conf"', b'"fonc"'))(path)
    found = verified(path)
    assert not found.goes_on
    assert any(
        "which every Spark writes, found" in file.error
        for file in found.broken
        if file.path == str(path / newest)
    )
