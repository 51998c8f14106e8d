"""The command `verify` itself."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from checkpoint.checks.harm import STATE_FILE, gone
from checkpoint.whole import whole
from holdfast_spark.cli import main as cli


def test_odd_characters_in_paths_are_none(tmp_path: Path) -> None:
    path = whole(tmp_path / "100 % #odd? & [new] é" / "check point%20#1")
    for command in ("verify", "inspect", "show"):
        result = CliRunner().invoke(cli.main, [command, str(path)])
        assert result.exit_code == 0, result.stderr
    gone(STATE_FILE)(path)
    assert str(path / STATE_FILE) in CliRunner().invoke(cli.main, ["verify", str(path)]).stdout


def test_a_file_that_is_gone_is_counted_and_named(path: Path) -> None:
    gone(STATE_FILE)(path)
    result = CliRunner().invoke(cli.main, ["verify", str(path)])
    assert result.exit_code == 1
    assert f"broken: {path / STATE_FILE} is gone: expected what batch 4 changed" in result.stdout
    assert "The query does not go on with the right state at batch 5." in result.stdout
    assert (
        "1 file is broken or gone, and the query needs it; 1 of 2 stores lack the" in result.stderr
    )


def test_a_file_whose_checksums_tell_it_too_is_told_and_counted_once(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    file = path / "state/0/0/5.delta"
    file.write_bytes(file.read_bytes()[:-30] + bytes(30))
    result = CliRunner().invoke(cli.main, ["verify", str(path)])
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("broken"))
    assert f"{file} (version 5) is damaged at byte" in line
    assert "1 file is broken or gone, and the query needs it;" in result.stderr
    repaired = CliRunner().invoke(cli.main, ["repair", str(path), "--settled", "0"])
    assert repaired.stdout.startswith(f"not repairable: {file} (version 5) is damaged at byte")


def test_a_number_that_is_none_is_said_not_to_be_one(path: Path) -> None:
    for command in (
        ("repair", str(path), "--settled", "soon"),
        ("plan", "--checkpoint", str(path), "--compression", "soon"),
    ):
        result = CliRunner().invoke(cli.main, command)
        assert result.exit_code == 2
        assert "'soon' is not a valid number." in result.stderr


def test_inspect_says_what_the_time_of_a_batch_is(path: Path) -> None:
    shown = CliRunner().invoke(cli.main, ["inspect", str(path)]).stdout
    assert "0 to 4; the newest was planned at 1970-01-01T00:00:05+00:00" in shown
    assert re.search(r"^committed +up to 4 *$", shown, re.MULTILINE)
