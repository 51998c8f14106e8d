"""The jars in the package."""

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from holdfast_spark import __version__, _jars
from holdfast_spark.errors import (
    NoJarForScalaError,
    NoJarForSparkLineError,
    PySparkNotInstalledError,
)


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_jars, "JARS_FOLDER", tmp_path)
    for line in ("4.10", "4.2"):
        (tmp_path / f"holdfast-spark_{line}_2.13-{__version__}.jar").touch()
    (tmp_path / "holdfast-spark_4.1_2.13-0.0.1.jar").touch()
    return tmp_path


def test_jars_of_this_version_are_found_in_the_order_of_their_lines(jars: Path) -> None:
    assert list(_jars.jar_paths()) == ["4.2", "4.10"]
    assert _jars.jar_path("4.2") == jars / f"holdfast-spark_4.2_2.13-{__version__}.jar"


def test_of_two_scalas_the_jar_is_the_one_for_the_spark_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_jars, "JARS_FOLDER", tmp_path)
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    monkeypatch.setattr(_jars, "spark_home", lambda: home)
    for scala in ("2.13", "2.12"):
        (tmp_path / f"holdfast-spark_3.5_{scala}-{__version__}.jar").touch()
    older = tmp_path / f"holdfast-spark_3.5_2.12-{__version__}.jar"
    assert _jars.jar_paths() == {"3.5": older}
    core = home / "jars" / "spark-core_2.13-3.5.9.jar"
    core.touch()
    assert _jars.jar_paths() == {"3.5": tmp_path / f"holdfast-spark_3.5_2.13-{__version__}.jar"}
    assert _jars.jar_path("3.5", scala="2.12") == older
    # A Spark of another line says nothing of this one.
    core = core.rename(home / "jars" / "spark-core_2.13-4.3.0.jar")
    assert _jars.jar_path("3.5") == older
    core.rename(home / "jars" / "spark-core_2.14-3.5.9.jar")
    assert _jars.jar_path("3.5") == older
    with pytest.raises(
        NoJarForScalaError, match=r"with Scala 2\.14; it has those for Scala 2\.12, 2"
    ):
        _jars.jar_path("3.5", scala="2.14")


@pytest.mark.parametrize("line", ["4.1", "4", "4.2.0", "*", ""])
def test_a_line_without_a_jar_is_refused_with_the_lines_that_have_one(
    jars: Path, line: str
) -> None:
    with pytest.raises(NoJarForSparkLineError, match=r"has jars for Spark 4\.2, 4\.10") as raised:
        _jars.jar_path(line)
    shown = line or "''"
    assert f"no jar for Spark {shown};" in str(raised.value)
    assert len(list(jars.iterdir())) == 3


def test_an_installation_without_jars_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_jars, "JARS_FOLDER", tmp_path / "none")
    with pytest.raises(NoJarForSparkLineError, match="has no jars at all"):
        _jars.jar_path("4.2")


@pytest.mark.parametrize(
    ("version", "too_old"),
    [
        *(("4.0.0", True), ("4.0.0-amzn-1", True), ("4.0.0.dev1", True), ("4.0.1", False)),
        *(("4.0.1+amzn.3", False), ("4.0.12", False), ("4.0", False)),
    ],
)
def test_a_release_before_the_first_that_a_jar_fits_is_too_old(
    tmp_path: Path, version: str, too_old: bool
) -> None:
    jar = tmp_path / "holdfast.jar"
    with ZipFile(jar, "w") as archive:
        archive.writestr("io/holdfast/holdfast.properties", "sparkLine=4.0\noldestSpark=4.0.1\n")
    assert _jars.too_old_for(jar, version) == ("4.0.1" if too_old else None)


def test_without_pyspark_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.version", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(PySparkNotInstalledError, match=r"pip install pyspark"):
        _jars.installed_spark_line()
