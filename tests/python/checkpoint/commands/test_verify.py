"""`holdfast verify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkpoint.checkpoints import GOLDEN, long_row, lz4, records
from checkpoint.commands.running import document, output, run


def test_verify_reads_everything(path: Path) -> None:
    found = document("verify", path)
    assert found["sound"]
    assert (found["files"], found["records"], found["broken"]) == (4, 8, [])
    assert found["stores"][0]["versions"] == "1-3"
    assert output("verify", path) == (
        "The query goes on with batch 3.\nRead: 4 state files with 8 records.\n"
    )


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("*/*/checkpoint")))
def test_verify_finds_spark_s_files_sound(folder: Path) -> None:
    found = json.loads(run("verify", folder, "--json").stdout)
    # What its file sources have read is not among the files here.
    assert {file["kind"] for file in found["broken"]} <= {"source"}
    assert all(store["recoverable"] for store in found["stores"])


@pytest.mark.parametrize(
    ("name", "versions", "recoverable"),
    [("1.delta", "2-3", True), ("3.delta", "1-2", False), ("2.snapshot", "1-3", True)],
)
def test_verify_names_what_is_broken(
    path: Path, name: str, versions: str, recoverable: bool
) -> None:
    file = path / "state/0/0" / name
    file.write_bytes(file.read_bytes()[:-30])
    result = run("verify", path, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert not found["sound"]
    (broken,) = found["broken"]
    assert broken["path"] == str(file)
    assert f"{name} (version {name[0]}) is damaged at byte" in broken["error"]
    (store,) = found["stores"]
    assert (store["versions"], store["recoverable"]) == (versions, recoverable)
    result = run("verify", path)
    assert f"store 0/0/default: versions {versions}" in result.stdout
    assert result.stderr.startswith(f"Error: {path} is damaged: 1 file is broken or gone,")


def test_verify_says_once_what_to_do_about_several_files(path: Path) -> None:
    for name in ("1.delta", "3.delta"):
        file = path / "state/0/0" / name
        file.write_bytes(file.read_bytes()[:-30])
    lines = run("verify", path).stdout.splitlines()
    advice = "Restore the file from a copy, or see what holdfast repair can do without it."
    assert [line for line in lines if advice in line] == [f"for 2 of them: {advice}"]
    found = json.loads(run("verify", path, "--json").stdout)["broken"]
    assert [broken for broken in found if broken["error"].endswith(advice)] == found


def test_verify_tells_a_batch_that_is_planned(path: Path) -> None:
    (path / "commits/2").unlink()
    assert "The query goes on with batch 2, which is planned already." in run("verify", path).stdout


def test_verify_misses_files_that_are_not_there(path: Path) -> None:
    (path / "state/0/0/3.delta").unlink()
    result = run("verify", path)
    assert result.exit_code == 1
    assert "versions 1-2, but not 3, which is needed" in result.stdout


def test_verify_checks_rows_by_their_schema(path: Path) -> None:
    (path / "state/0/0/3.delta").write_bytes(lz4(records([(long_row(1), bytes(8))])))
    result = run("verify", path)
    assert result.exit_code == 1
    assert "3.delta does not fit its schema" in result.stdout
