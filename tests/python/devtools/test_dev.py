"""The command line of `./dev`."""

from __future__ import annotations

import subprocess
import sys

from harness import ROOT


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "dev", *arguments], check=False, capture_output=True, text=True
    )


def test_help_explains_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("demo", "test", "build", "bench", "format"):
        assert f"\n    {command} " in done.stdout


def test_wrong_usage_is_told_before_anything_is_made() -> None:
    for arguments in (["unknown"], ["build", "--unknown"], ["test", "--only", "cobol"], []):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("usage: ./dev")
