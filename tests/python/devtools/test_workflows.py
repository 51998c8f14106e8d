"""The workflows in `.github`: they call `./dev`, as it is."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from devtools.main import parser
from devtools.matrix import test_matrix as matrix_of
from harness import ROOT

FOLDER = ROOT / ".github" / "workflows"
NAMES = ("test.yml", "release.yml")
# What steps run beside ./dev, each of which every runner has.
PROGRAMS = {"echo", "gpg", "gh"}
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")


def workflow(name: str) -> dict[str, Any]:
    read = yaml.safe_load((FOLDER / name).read_text())
    assert isinstance(read, dict)
    return {"on" if key is True else key: value for key, value in read.items()}


def steps(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for job in workflow(name)["jobs"].values():
        for step in job.get("steps", ()):
            yield job, step


def commands(text: str) -> Iterator[list[str]]:
    """Yield the commands in a line of a shell, those in $(...) too."""
    filled = EXPRESSION.sub("4.3", text)
    for inner in re.findall(r"\$\(([^)]*)\)", filled):
        yield shlex.split(inner)
    for part in re.sub(r"\$\([^)]*\)", "", filled).split("|"):
        yield shlex.split(part)


def test_there_is_no_workflow_that_no_test_knows() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_is_one_of_dev_and_parses(name: str) -> None:
    found = [words for _, step in steps(name) if "run" in step for words in commands(step["run"])]
    assert [words for words in found if words[0] == "./dev"]
    for words in found:
        if words[0] == "./dev":
            parser().parse_args(words[1:])
        else:
            assert words[0] in PROGRAMS, words


@pytest.mark.parametrize("name", NAMES)
def test_every_action_is_pinned_and_every_job_that_is_needed_is_there(name: str) -> None:
    jobs = workflow(name)["jobs"]
    for job in jobs.values():
        needed = job.get("needs", ())
        assert {needed} if isinstance(needed, str) else set(needed) <= set(jobs)
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
    for _, step in steps(name):
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])


@pytest.mark.parametrize("name", NAMES)
def test_what_expressions_name_is_there(name: str) -> None:
    jobs = workflow(name)["jobs"]
    keys = {f"matrix.{key}" for key in json.loads(matrix_of(ROOT))[0]}
    outputs = {f"needs.{id_}.outputs.{o}" for id_ in jobs for o in jobs[id_].get("outputs", ())}
    with_id = [step for _, step in steps(name) if "id" in step]
    ids = set()
    for step in with_id:
        # An action writes what it says that it does, a command what it echoes.
        written = re.findall(r'echo "(\w+)=', step.get("run", "")) or ["path"]
        assert "run" in step or step["uses"].startswith("actions/setup-java@")
        ids |= {f"steps.{step['id']}.outputs.{output}" for output in written}
    for found in EXPRESSION.findall((FOLDER / name).read_text()):
        used = re.sub(r"^fromJSON\((.*)\)$", r"\1", found)
        assert used in keys | outputs | ids or used.startswith(("secrets.", "github.")), found


def test_only_a_release_has_secrets_and_it_comes_after_the_tests() -> None:
    assert "secrets." not in (FOLDER / "test.yml").read_text()
    release = workflow("release.yml")
    assert release["on"] == {"push": {"tags": ["v*"]}}
    assert release["jobs"]["publish"]["needs"] == "test"
    assert release["permissions"] == workflow("test.yml")["permissions"] == {"contents": "read"}


def test_every_line_is_tested_with_every_jdk_that_it_is_for(tmp_path: Path) -> None:
    lines = {entry["line"] for entry in json.loads((ROOT / "project/spark-lines.json").read_text())}
    found = [(entry["line"], entry["java"]) for entry in json.loads(matrix_of(ROOT))]
    assert set(found) == {("3.5", java) for java in ("8", "11", "17")} | {
        (line, java) for line in lines if line != "3.5" for java in ("17", "21")
    } | {(line, "25") for line in lines if line >= "4.2"}
    assert len(found) == len(set(found))
    # A line that has two entries, one for each Scala, is tested as one.
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "spark-lines.json").write_text(
        '[{"line": "4.0", "java": "17"}, {"line": "4.0", "java": "17"}]'
    )
    assert len(json.loads(matrix_of(tmp_path))) == 2
