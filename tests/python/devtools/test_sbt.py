"""An sbt that is asked for one thing after another; a small program stands in for it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devtools.sbt import Sbt
from devtools.steps import StepFailedError, Steps

STAND_IN = """
import os
import sys

print("loading the build", flush=True)
for line in sys.stdin:
    for command in line.strip().split("; "):
        name, *words = command.split()
        if name == "answer":
            print("sbt> [answer]", *words, flush=True)
        elif name == "fail":
            print("this fails", flush=True)
            break
        elif name == "die":
            os._exit(1)
        else:
            print(f"did {command} in {os.environ['PLACE']}", flush=True)
"""


@pytest.fixture
def sbt(tmp_path: Path) -> Iterator[Sbt]:
    env = {**os.environ, "PLACE": "the build"}
    made = Sbt([sys.executable, "-c", STAND_IN], folder=tmp_path, env=env)
    yield made
    made.close()


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(folder=tmp_path / ".dev", terminal=io.StringIO())


def log(steps: Steps, name: str) -> list[str]:
    """The log of a step without the command that it begins with."""
    return (steps.folder / "logs" / f"{name}.log").read_text().splitlines()[-3:]


def test_one_process_does_all_and_each_step_has_its_own_output(sbt: Sbt, steps: Steps) -> None:
    steps.do("first", lambda log: sbt.do(log, "core/test", "show name"))
    steps.do("second", lambda log: sbt.do(log, "jars"))
    did = ["did core/test in the build", "did show name in the build"]
    assert log(steps, "first") == ["loading the build", *did]
    assert log(steps, "second")[-1] == "did jars in the build"
    assert "core/test" not in (steps.folder / "logs" / "second.log").read_text()


def test_a_task_that_fails_fails_its_step_alone(sbt: Sbt, steps: Steps) -> None:
    with pytest.raises(StepFailedError, match="bad failed"):
        steps.do("bad", lambda log: sbt.do(log, "one", "fail", "two"))
    assert log(steps, "bad")[-2:] == ["did one in the build", "this fails"]
    steps.do("good", lambda log: sbt.do(log, "three"))
    assert log(steps, "good")[-1] == "did three in the build"


def test_an_sbt_that_ends_fails_its_step_and_those_after_it(sbt: Sbt, steps: Steps) -> None:
    for _ in range(2):
        with pytest.raises(StepFailedError):
            steps.do("last", lambda log: sbt.do(log, "die"))
