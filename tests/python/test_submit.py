"""`spark-submit` with the artifacts that the build publishes to the local Maven repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import APPS, Spark, check_word_counts
from holdfast_spark import __version__, _jars

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

SETTINGS = (
    "spark.sql.streaming.stateStore.providerClass=io.holdfast.HoldfastStateStoreProvider",
    "spark.plugins=io.holdfast.HoldfastPlugin",
    "spark.sql.extensions=io.holdfast.HoldfastExtensions",
)
CONF = [word for setting in SETTINGS for word in ("--conf", setting)]


def artifact(line: str) -> str:
    """The name of a line's jar without the version, for the Scala of the pyspark under test."""
    return _jars.jar_path(line).name.removesuffix(f"-{__version__}.jar")


def coordinates(line: str) -> str:
    return f"io.holdfast:{artifact(line)}:{__version__}"


def other_line() -> str:
    return next(line for line in _jars.jar_paths() if line != _jars.installed_spark_line())


@pytest.fixture
def packages(spark: Spark) -> list[str]:
    """The options to take the jar from a Maven repository, into an Ivy cache of the test's own."""
    line = _jars.installed_spark_line()
    ivy = f"spark.jars.ivy={spark.folder / 'ivy'}"
    return ["--packages", coordinates(line), "--conf", ivy]


@pytest.mark.main_job
def test_packages_bring_the_jar_and_settings_switch_it_on(
    spark: Spark, packages: list[str]
) -> None:
    app = APPS / "count_words.py"
    result = spark.submit(*packages, *CONF, app, spark.folder).result()
    check_word_counts(result)
    jar = f"io.holdfast_{artifact(_jars.installed_spark_line())}-{__version__}.jar"
    assert [Path(url).name for url in result["jars"]] == [jar]


@pytest.mark.slow
def test_an_app_that_configures_its_session_uses_the_jar_of_the_packages(
    spark: Spark, packages: list[str]
) -> None:
    app = APPS / "count_words.py"
    result = spark.submit(*packages, app, spark.folder, "--configure").result()
    check_word_counts(result)
    assert len(result["jars"]) == 1
    assert result["jars"][0].rpartition("/")[2].startswith("io.holdfast_")


@pytest.mark.slow
def test_a_jar_of_another_line_ends_spark_with_a_sentence(spark: Spark) -> None:
    jar = _jars.jar_path(other_line())
    done = spark.submit("--jars", jar, *CONF, APPS / "count_words.py", spark.folder)
    assert done.code != 0
    assert f"Spark {other_line()}" in done.err
    assert artifact(_jars.installed_spark_line()) in done.err


@pytest.mark.slow
@pytest.mark.since("4.0", "what a jar for a newer line is made of")
def test_a_jar_of_another_line_says_so_without_the_plugin_too(spark: Spark) -> None:
    jar = _jars.jar_path(other_line())
    provider = ["--conf", SETTINGS[0]]
    done = spark.submit("--jars", jar, *provider, APPS / "count_words.py", spark.folder)
    assert done.code != 0
    sentence = f"jar is built for Spark {other_line()} and this is Spark"
    first = next(line for line in done.out.splitlines() if "StreamingQueryException" in line)
    assert sentence in first


@pytest.mark.slow
@pytest.mark.parametrize("settings", [CONF[:2], CONF], ids=["provider", "plugin"])
def test_a_jar_for_another_scala_says_so(spark: Spark, settings: list[str]) -> None:
    line = _jars.installed_spark_line()
    right = _jars.jar_path(line)
    others = [jar for jar in _jars.JARS_FOLDER.glob(f"*_{line}_*.jar") if jar != right]
    if not others:
        pytest.skip("this line has one Scala")
    done = spark.submit("--jars", others[0], *settings, APPS / "count_words.py", spark.folder)
    assert done.code != 0
    sentence = rf"this Spark has Scala \S+ Use io.holdfast:{artifact(line)}"
    assert re.search(sentence, done.out + done.err)


@pytest.mark.slow
def test_of_two_jars_the_one_to_remove_is_named(spark: Spark) -> None:
    wrong, right = _jars.jar_path(other_line()), _jars.jar_path(_jars.installed_spark_line())
    done = spark.submit("--jars", f"{wrong},{right}", *CONF, APPS / "count_words.py", spark.folder)
    assert done.code != 0
    assert re.search(
        rf"on the class path too \(\S*{right.name}\), behind it: remove \S*{wrong.name}", done.err
    )


@pytest.mark.slow
def test_an_app_started_with_a_jar_of_another_line_is_refused_by_configure(spark: Spark) -> None:
    jar = _jars.jar_path(other_line())
    done = spark.submit("--jars", jar, APPS / "count_words.py", spark.folder, "--configure")
    assert done.code != 0
    assert (
        f"WrongSparkLineError: The Holdfast jar on the class path is for Spark {other_line()}, "
        f"but this is Spark {_jars.installed_spark_line()}"
    ) in done.out


@pytest.mark.slow
def test_an_app_started_without_the_jar_is_told_how_to_bring_it(spark: Spark) -> None:
    done = spark.submit(APPS / "count_words.py", spark.folder, "--configure")
    assert done.code != 0
    assert "JarNotOnClassPathError: Spark's JVM runs already, without the Holdfast jar" in done.out
