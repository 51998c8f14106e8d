"""The Pythons that the environment names for drivers and executors."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from holdfast_spark.doctor.pythons import python_findings
from programs import hanging, program

pytestmark = pytest.mark.usefixtures("no_spark_settings")
WORKERS, DRIVERS = "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"
HERE = f"Set it to {sys.executable}"


def told(*, line: str = "4.2", in_cluster: bool = False, seconds: float = 60) -> list[str]:
    findings = list(python_findings(line, in_cluster=in_cluster, seconds=seconds))
    assert not any(finding.stops for finding in findings)
    return [finding.error for finding in findings]


def test_this_python_and_none_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told() == []
    monkeypatch.setenv(WORKERS, sys.executable)
    monkeypatch.setenv(DRIVERS, sys.executable)
    assert told() == []


def test_a_python_without_distutils_is_told_with_a_pyspark_that_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    (error,) = told(line="3.5")
    assert "run pip install setuptools, which brings it, here and where the" in error
    assert told(line="4.0") == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    assert told(line="3.5") == []


@pytest.mark.parametrize("variable", [WORKERS, DRIVERS])
def test_a_python_that_is_not_there_is_told(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "/none/python3")
    (error,) = told()
    assert f"{variable} is '/none/python3', and there is no such program on this" in error
    assert error.endswith(f"{HERE}.")
    monkeypatch.setenv(variable, "python-of-nobody")
    assert len(told()) == 1


def test_what_executors_have_may_be_missing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKERS, "./environment/bin/python")
    assert len(told()) == 1
    assert told(in_cluster=True) == []  # it is in an archive that they unpack
    monkeypatch.setenv(WORKERS, "/opt/python/bin/python")
    (error,) = told(in_cluster=True)
    assert error.endswith(f"{HERE}, unless the machines of the executors have it.")


@pytest.mark.parametrize("variable", [WORKERS, DRIVERS])
def test_a_python_of_another_version_is_told(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = program(tmp_path / "python3", "echo 3.2")
    monkeypatch.setenv(variable, str(other))
    (error,) = told()
    this = "{}.{}".format(*sys.version_info)
    assert f"{variable} is '{other}', which is Python 3.2, and this is Python {this}: " in error
    assert f"{HERE}, or use Python 3.2 here." in error


@pytest.mark.parametrize("script", ["echo hello", "exit 3"])
def test_what_is_no_python_is_told(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, str(program(tmp_path / "mine", script)))
    (error,) = told()
    assert "mine', and it is no Python that says its version: functions" in error


def test_a_notebook_that_drivers_are_started_with_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    monkeypatch.setenv(DRIVERS, str(program(tmp_path / "jupyter", f"touch {asked}")))
    assert told() == []
    assert not asked.exists()


@pytest.mark.parametrize(
    ("program", "package"),
    [
        ("/none/jupyter", "jupyterlab"),
        ("/none/jupyter-lab", "jupyterlab"),
        ("ipython-0", "ipython"),
    ],
)
def test_a_notebook_that_is_not_there_is_told_with_what_brings_it(
    program: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DRIVERS, program)
    (error,) = told()
    assert f"is {program!r}, and there is no such program on this machine: " in error
    assert error.endswith(f" Install it with pip install {package}. Otherwise: {HERE}.")


def test_a_python_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORKERS, str(program(tmp_path / "python", hanging(tmp_path))))
    (error,) = told(seconds=0.01)
    assert "and it has not said its version in 0.01 seconds: functions" in error
