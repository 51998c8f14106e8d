"""Runs commands in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from holdfast_spark.cli import main as cli


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def output(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def document(*arguments: str | Path) -> Any:  # noqa: ANN401 - it is JSON
    return json.loads(output(*arguments, "--json"))


def sentence(*arguments: str | Path, code: int = 1) -> str:
    """The error that a command ends with."""
    result = run(*arguments)
    assert result.exit_code == code
    assert "Traceback" not in result.stderr
    return result.stderr


def rows(*arguments: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output("show", *arguments, "--json").splitlines()]
