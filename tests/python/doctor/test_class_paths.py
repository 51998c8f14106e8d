"""Jars of Holdfast that do not go together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast_spark import __version__
from holdfast_spark._setting_names import EXECUTOR_CLASS_PATH
from holdfast_spark.doctor.class_paths import class_path_findings
from holdfast_spark.doctor.diagnosis import Finding


def jar(line: str = "4.3", scala: str = "2.13", *, folder: str = "/jars") -> str:
    return f"{folder}/holdfast-spark_{line}_{scala}-{__version__}.jar"


def found(*jars: str, executors: tuple[str, ...] = (), scala: str | None = "2.13") -> list[Finding]:
    settings = {EXECUTOR_CLASS_PATH: os.pathsep.join(executors)}
    return list(class_path_findings(settings, jars, line="4.3", scala=scala))


def test_one_jar_that_fits_is_in_order() -> None:
    assert found() == found(jar()) == found(jar(), executors=("/other.jar", jar())) == []
    assert found(jar(), f"file:{jar()}", f"file://{jar()}") == []
    assert found(executors=(jar(scala="2.12"),), scala=None) == []


@pytest.mark.parametrize(
    "other", [jar(folder="/spark/jars"), f"io.holdfast:holdfast-spark_4.3_2.13:{__version__}"]
)
def test_several_jars_are_told(other: str) -> None:
    (finding,) = found(jar(), other)
    assert (finding.about, finding.stops) == ("jar", False)
    assert (
        f"driver has 2 jars of Holdfast, and the first is used, whichever that is: {jar()}, "
        in (finding.error)
    )
    (finding,) = found(jar(), executors=(jar(), other))
    assert "of the executors has 2 jars" in finding.error


def test_a_jar_of_another_line_for_executors_is_told() -> None:
    (finding,) = found(jar(), executors=(jar("4.2"),))
    assert finding.stops
    assert f"{EXECUTOR_CLASS_PATH} has {jar('4.2')}, which is for Spark 4.2, and this is" in (
        finding.error
    )


def test_jars_in_a_folder_that_executors_have_too_are_told(tmp_path: Path) -> None:
    wrong = Path(jar("4.2", folder=str(tmp_path)))
    wrong.touch()
    (finding,) = found(jar(), executors=(f"{tmp_path}/*",))
    assert f"{EXECUTOR_CLASS_PATH} has {wrong}, which is for Spark 4.2" in finding.error


def test_a_jar_of_another_scala_for_executors_is_told() -> None:
    (finding,) = found(executors=(jar(),), scala="2.12")
    assert finding.stops
    assert finding.error == (
        f"{jar()} is for Scala 2.13, and this Spark is built with Scala 2.12: use the jar "
        "holdfast-spark_4.3_2.12, whose path holdfast jar --spark 4.3 --scala 2.12 prints."
    )
