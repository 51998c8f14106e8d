"""The command line of `./dev`."""

from __future__ import annotations

import re
import subprocess
import sys

from devtools.main import parser
from harness import ROOT


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "dev", *arguments], check=False, capture_output=True, text=True
    )


def commands() -> list[str]:
    done = run("--help")
    assert done.returncode == 0
    return re.findall(r"^    ([\w-]+)(?:  +|$)", done.stdout, re.MULTILINE)


def test_every_command_has_help_and_stands_on_the_page_for_developers() -> None:
    assert {"demo", "test", "build", "format"} <= set(commands())
    page = (ROOT / "docs" / "development.md").read_text()
    for command in commands():
        assert f"./dev {command}" in page or f"`{command}`" in page
        assert run(command, "--help").returncode == 0


def test_commands_that_say_so_pass_other_arguments_on() -> None:
    said = [
        name for name in commands() if "All other arguments go to" in run(name, "--help").stdout
    ]
    assert {"demo", "jmh", "bench-python"} <= set(said)
    passing = [n for n in commands() if parser().parse_known_args([n, "--", "--x"])[0].passes_on]
    assert passing == said


def test_wrong_usage_is_told_before_anything_is_made() -> None:
    for arguments in (["unknown"], ["build", "--unknown"], ["test", "--only", "cobol"], []):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("usage: ./dev")
