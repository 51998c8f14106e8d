"""Which tests `./dev test` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from devtools.checks import Checks, run_checks
from devtools.environments import KEPT_BYTECODE, SparkLine
from devtools.errors import DevError
from devtools.java import Java
from devtools.steps import StepFailedError
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


OF_3_5 = (
    *("core_3_5_scala_2_12/test", "spark_3_5_scala_2_12/test"),
    *("core_3_5_scala_2_13/test", "spark_3_5_scala_2_13/test"),
)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    ("name", "tests"),
    [(None, ("Test / compile", "test")), ("4.2", ("core/test", "spark_4_2/test")), ("3.5", OF_3_5)],
)
def test_one_line_is_tested_with_its_engines_or_all_are(
    tmp_path: Path, name: str | None, tests: tuple[str, ...], full: bool
) -> None:
    workshop = Recorder(tmp_path)
    Checks(workshop).jvm(workshop.line(name) if name else None, full=full)
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

    def note(name: str, _: object, *options: str, env: object) -> None:
        assert env == {}
        marks.append((name.rpartition(" ")[2], options[1]))

    monkeypatch.setattr(checks, "_pytest", note)
    monkeypatch.setattr(checks, "variables", lambda *_, **__: cast(dict[str, str], {}))
    oldest, *_, newest = workshop.lines
    checks.python_with_spark(oldest, full=False)
    checks.python_with_spark(newest, full=False)
    assert marks == [(oldest.line, "spark and main_job"), (newest.line, "spark and not long")]


def test_another_java_runs_the_tests_of_the_lines_that_it_runs(tmp_path: Path) -> None:
    workshop = Recorder(tmp_path)
    java = Java(home=tmp_path / "jdk", version=8)
    Checks(workshop, java).jvm(workshop.line("3.5"), full=False)
    settings = (f"-Dtests.java={java.home}", "-Dsbt.argsfile=false")
    assert workshop.asked[1][:3] == ("JVM tests", *settings)
    for line, full, oldest in (("4.2", False, 17), ("3.5", True, 11)):
        with pytest.raises(DevError, match=f"need Java {oldest} or newer, and .*jdk is Java 8"):
            run_checks(workshop, "jvm", full=full, line=workshop.line(line), java=java)


def test_what_needs_no_spark_is_tested_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop = Recorder(tmp_path)
    tested: list[str] = []

    def fail(_: SparkLine) -> NoReturn:
        raise StepFailedError(step="environment", log=tmp_path / "log")

    monkeypatch.setattr(workshop, "spark", fail)
    monkeypatch.setattr(Checks, "_pytest", lambda _, name, *__, **___: tested.append(name))
    assert run_checks(workshop, None, full=False) == 1
    assert (tested, workshop.asked) == (["Python tests"], [])
    assert "  failed: set-up\n" in capsys.readouterr().out


def test_an_archive_is_not_made_by_a_java_that_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = Recorder(tmp_path)
    monkeypatch.setattr(workshop, "test_variables", lambda *_: {"with": "archive"})
    monkeypatch.setattr(workshop, "brief_variables", lambda *_: {"with": "none"})
    line = workshop.line("3.5")
    for version, used in ((11, "none"), (17, "archive")):
        checks = Checks(workshop, Java(home=tmp_path, version=version))
        assert checks.variables(line, full=True) == {"with": used}


def test_what_python_compiles_is_kept_where_the_machine_says_otherwise() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **KEPT_BYTECODE},
    )
    assert shown.stdout == "False\n"
