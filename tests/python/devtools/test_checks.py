"""Which tests `./dev test` runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from devtools.checks import Checks
from devtools.environments import SparkLine
from devtools.workshop import Workshop
from harness import ROOT


class Recorder(Workshop):
    """A workshop that notes what sbt would do."""

    def __init__(self, root: Path) -> None:
        super().__init__(ROOT)
        self.root = root
        self.asked: list[tuple[str, ...]] = []

    def sbt(self, step: str, *tasks: str, stamp: str | None = None) -> None:  # noqa: ARG002
        self.asked.append((step, *tasks))

    def fingerprint(self, *names: str) -> str:
        return "".join(names)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", [None, "4.2"])
def test_one_line_is_tested_beside_the_engine_or_all_are(
    tmp_path: Path, name: str | None, full: bool
) -> None:
    workshop = Recorder(tmp_path)
    Checks(workshop).jvm(workshop.line(name) if name else None, full=full)
    tests = ("core/test", "spark_4_2/test") if name else ("test",)
    settings = ("-Dtests.full=true",) if full else ()
    assert workshop.asked == [
        ("Scala format", "scalafmtCheckAll", "scalafmtSbtCheck"),
        ("JVM tests", *settings, *tests),
    ]


def test_python_tests_run_on_the_lines_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = Recorder(tmp_path)
    checks = Checks(workshop)
    marks: list[tuple[str, Any]] = []

    def note(_: str, line: SparkLine, *options: str, env: object) -> None:
        assert env == {}
        marks.append((line.line, options[1]))

    monkeypatch.setattr(checks, "_pytest", note)
    monkeypatch.setattr(checks, "variables", lambda *_, **__: cast(dict[str, str], {}))
    oldest, *_, newest = workshop.lines
    checks.python_with_spark([oldest], full=False)
    checks.python_with_spark([newest], full=False)
    assert marks == [(oldest.line, "spark and main_job"), (newest.line, "spark and not long")]
