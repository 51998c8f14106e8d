"""The command `verify` itself."""

from __future__ import annotations

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
