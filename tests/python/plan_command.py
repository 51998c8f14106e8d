"""The command `holdfast plan`, as tests call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from holdfast_spark.cli import main as cli


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["plan", *map(str, arguments)])


def document(*arguments: str | Path) -> Any:  # noqa: ANN401 - it is JSON
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def sentence(*arguments: str | Path, code: int = 1) -> str:
    result = run(*arguments)
    assert result.exit_code == code
    assert "Traceback" not in result.stderr
    return result.stderr
