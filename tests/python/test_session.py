"""`holdfast.configure`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import holdfast_spark as holdfast
from harness import Spark, check_word_counts
from holdfast_spark import _jars
from holdfast_spark._artifacts import Artifact, artifact_of
from holdfast_spark.errors import (
    ConfigureOnSparkConnectError,
    HoldfastError,
    NoJarForSparkLineError,
    NoSuchArtifactError,
    NoSuchCodecError,
    NoSuchSettingError,
    TooSmallLimitError,
    WrongArgumentError,
    WrongScalaError,
    WrongSettingError,
    WrongSparkLineError,
)
from holdfast_spark.transform import installation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

JARS = "spark.jars"
PACKAGES = "spark.jars.packages"
PLUGINS = "spark.plugins"
EXTENSIONS = "spark.sql.extensions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
CODEC = "spark.sql.streaming.stateStore.compression.codec"
OWN = "spark.sql.streaming.stateStore.holdfast."
CHARTS = "spark.sql.streaming.ui.enabledCustomMetricList"


def builder(**options: str) -> SparkSession.Builder:
    from pyspark.sql import SparkSession

    made = SparkSession.builder
    for name, value in options.items():
        made.config(name, value)
    return made


def configured(**options: str) -> dict[str, str]:
    return dict(holdfast.configure(builder(**options))._options)


def own_jar() -> str:
    return str(_jars.jar_path(_jars.installed_spark_line()))


def own_artifact() -> Artifact:
    artifact = artifact_of(own_jar())
    assert artifact
    return artifact


def other_line() -> str:
    return next(line for line in _jars.jar_paths() if line != _jars.installed_spark_line())


def test_what_is_no_builder_is_named() -> None:
    for found, named in (("x", "str"), (None, "None."), ({"spark.jars": "a.jar"}, "dict")):
        with pytest.raises(WrongArgumentError) as raised:
            holdfast.configure(found)  # type: ignore[arg-type]
        assert str(raised.value).startswith(
            "holdfast.configure expects a builder of Spark sessions, as in "
            f"holdfast.configure(SparkSession.builder), found {named}"
        )
        assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("name", ["local_checkpoints", "pipelined_state_calls", "real_time_mode"])
def test_a_switch_is_true_or_false(name: str) -> None:
    switches: dict[str, Any] = {name: "yes"}
    with pytest.raises(WrongArgumentError) as raised:
        holdfast.configure(builder(), **switches)
    assert str(raised.value) == (
        f"holdfast.configure expects True or False as {name}, found str 'yes'."
    )


def test_a_switch_that_changes_nothing_on_this_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "install", lambda: False)
    with pytest.warns(UserWarning, match="pipelined_state_calls changes nothing on Spark ") as told:
        holdfast.configure(builder(), pipelined_state_calls=True)
    assert [warning.filename for warning in told] == [__file__]


def test_a_bare_builder_gets_everything() -> None:
    options = configured()
    assert all(name.startswith("holdfast") for name in options.pop(CHARTS).split(","))
    assert options == {
        JARS: own_jar(),
        PLUGINS: "io.holdfast.HoldfastPlugin",
        EXTENSIONS: "io.holdfast.HoldfastExtensions",
        PROVIDER: "io.holdfast.HoldfastStateStoreProvider",
    }


def test_the_builder_itself_is_returned_and_a_second_call_changes_nothing() -> None:
    given = builder()
    assert holdfast.configure(given) is given
    once = dict(given._options)
    assert holdfast.configure(given)._options == once


def test_a_codec_that_there_is_not_is_refused(no_spark_settings: Path) -> None:
    with pytest.raises(NoSuchCodecError, match="is 'lz5', and there is no such codec"):
        configured(**{CODEC: "lz5"})
    (no_spark_settings / "spark-defaults.conf").write_text(f"{CODEC} lz5\n")
    with pytest.raises(NoSuchCodecError):
        configured()
    for codec in ("ZSTD", "my.own.Codec", "MyCodec"):
        assert configured(**{CODEC: codec})[CODEC] == codec


def test_a_limit_whose_unit_was_forgotten_is_refused() -> None:
    limit = "spark.sql.streaming.stateStore.holdfast.memoryLimit"
    with pytest.raises(TooSmallLimitError, match=r"is '8', 8 B, and .*, and 8g or 8m or 8% meant"):
        configured(**{limit: "8"})
    for text in ("8g", "1m", "1%"):
        assert configured(**{limit: text})[limit] == text


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        (f"{OWN}memoryLimt", "8g", NoSuchSettingError),
        ("spark.holdfast.memoryLimit", "8g", NoSuchSettingError),
        (f"{OWN}memoryLimit", "lots", WrongSettingError),
    ],
)
def test_settings_of_holdfast_that_cannot_be_meant_are_refused(
    name: str, value: str, error: type[HoldfastError], no_spark_settings: Path
) -> None:
    with pytest.raises(error):
        configured(**{name: value})
    (no_spark_settings / "spark-defaults.conf").write_text(f"{name} {value}\n")
    with pytest.raises(error):
        configured()


def test_local_checkpoints_are_written_without_processes_when_asked_for() -> None:
    options = dict(holdfast.configure(builder(), local_checkpoints=True)._options)
    assert options[FILE_MANAGER] == "io.holdfast.HoldfastCheckpointFileManager"
    own = dict(
        holdfast.configure(builder(**{FILE_MANAGER: "my.Manager"}), local_checkpoints=True)._options
    )
    assert own[FILE_MANAGER] == "my.Manager"


def test_who_has_chosen_metrics_for_the_charts_keeps_them(no_spark_settings: Path) -> None:
    assert configured(**{CHARTS: "mine"})[CHARTS] == "mine"
    (no_spark_settings / "spark-defaults.conf").write_text(f"{CHARTS} mine\n")
    assert CHARTS not in configured()


def test_what_is_set_on_the_builder_is_kept() -> None:
    options = configured(**{JARS: "a.jar, b.jar", PLUGINS: "my.Plugin", EXTENSIONS: "my.Ext"})
    assert options[JARS] == f"a.jar,b.jar,{own_jar()}"
    assert options[PLUGINS] == "my.Plugin,io.holdfast.HoldfastPlugin"
    assert options[EXTENSIONS] == "my.Ext,io.holdfast.HoldfastExtensions"


def test_what_is_set_in_spark_defaults_is_kept(no_spark_settings: Path) -> None:
    (no_spark_settings / "spark-defaults.conf").write_text(
        f"{JARS} a.jar\n{PLUGINS} my.Plugin\n{EXTENSIONS} my.Ext\n{PROVIDER} my.Provider\n"
    )
    options = configured()
    assert options[JARS] == f"a.jar,{own_jar()}"
    assert options[PLUGINS] == "my.Plugin,io.holdfast.HoldfastPlugin"
    assert options[EXTENSIONS] == "my.Ext,io.holdfast.HoldfastExtensions"
    assert options[PROVIDER] == "io.holdfast.HoldfastStateStoreProvider"


def test_the_builder_wins_over_spark_defaults_as_in_spark(no_spark_settings: Path) -> None:
    (no_spark_settings / "spark-defaults.conf").write_text(f"{PLUGINS} default.Plugin\n")
    assert configured(**{PLUGINS: "my.Plugin"})[PLUGINS] == ("my.Plugin,io.holdfast.HoldfastPlugin")


def test_beside_packages_the_jars_go_to_spark_submit() -> None:
    options = configured(**{PACKAGES: "a:b:1", JARS: "a.jar"})
    assert JARS not in options
    assert options[PACKAGES] == "a:b:1"
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--jars a.jar,{own_jar()} pyspark-shell"
    assert configured(**{PACKAGES: "a:b:1"}).keys() == options.keys()
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--jars a.jar,{own_jar()} pyspark-shell"


def test_jars_for_spark_submit_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars a.jar pyspark-shell")
    assert JARS not in configured()
    assert os.environ["PYSPARK_SUBMIT_ARGS"].endswith(f"--jars a.jar,{own_jar()} pyspark-shell")


@pytest.mark.parametrize("option", ["--conf ", "-c ", "--conf="])
def test_jars_that_a_setting_for_spark_submit_has_are_kept(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = f"{option}{JARS}=a.jar"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{given} pyspark-shell")
    # In the builder's setting the driver would not see the jar: that of spark-submit wins.
    assert JARS not in configured(**{JARS: "b.jar"})
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == (
        f"{given} --jars a.jar,b.jar,{own_jar()} pyspark-shell"
    )


@pytest.mark.parametrize("given", [f"--conf {JARS}=a.jar", "--jars a.jar"])
def test_a_holdfast_jar_on_the_builder_gets_to_the_driver_beside_jars_for_spark_submit(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{given} pyspark-shell")
    theirs = str(shutil.copy(own_jar(), tmp_path / "state.jar"))
    assert JARS not in configured(**{JARS: theirs})
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"{given} --jars a.jar,{theirs} pyspark-shell"


@pytest.mark.parametrize(
    ("setting", "jar"),
    [(JARS, "hdfs:///libs/{}-9.9.9.jar"), (PACKAGES, "io.holdfast:{}:9.9.9")],
)
def test_a_holdfast_jar_of_the_user_is_taken_instead_of_the_packages_own(
    setting: str, jar: str
) -> None:
    theirs = jar.format(own_artifact().name)
    options = configured(**{setting: theirs})
    assert options[setting] == theirs
    assert own_jar() not in options.values()


@pytest.mark.parametrize("scheme", ["", "file:", "file://", "local:", "local://"])
def test_a_holdfast_jar_under_another_name_is_known_by_what_is_in_it(
    scheme: str, tmp_path: Path
) -> None:
    theirs = scheme + str(shutil.copy(own_jar(), tmp_path / "state.jar"))
    options = configured(**{JARS: theirs})
    assert options[JARS] == theirs
    with pytest.raises(WrongSparkLineError) as raised:
        configured(**{JARS: str(shutil.copy(_jars.jar_path(other_line()), tmp_path / "state.jar"))})
    assert str(raised.value).startswith(f"{tmp_path}/state.jar is for Spark {other_line()}, but")


@pytest.mark.parametrize("name", ["{}", "{}:", "{}:9.9.9:all", "holdfast-spark:9.9.9", "holdfast"])
def test_coordinates_that_are_no_jars_are_refused(name: str) -> None:
    coordinates = f"io.holdfast:{name.format(own_artifact().name)}"
    with pytest.raises(NoSuchArtifactError) as raised:
        configured(**{PACKAGES: f"a:b:1,{coordinates}"})
    assert str(raised.value) == (
        f"{PACKAGES} names {coordinates!r}, and Holdfast is not published by these coordinates: "
        f"write {own_artifact().coordinates}, or leave it out, and holdfast.configure adds the "
        "jar of the package."
    )


@pytest.mark.parametrize(
    ("setting", "jar"),
    [(JARS, "/none/holdfast-spark_{}_{}-9.jar"), (PACKAGES, "io.holdfast:holdfast-spark_{}_{}:9")],
)
def test_a_holdfast_jar_of_another_scala_is_refused(setting: str, jar: str) -> None:
    line, scala = own_artifact().line, own_artifact().scala
    wrong = jar.format(line, "2.1")
    with pytest.raises(WrongScalaError) as raised:
        configured(**{setting: wrong})
    assert str(raised.value) == (
        f"{wrong} is for Scala 2.1, and this Spark is built with Scala {scala}: use the jar "
        f"holdfast-spark_{line}_{scala}, whose path holdfast jar --spark {line} --scala {scala} "
        "prints."
    )


def test_a_pattern_of_jars_is_what_fits_it(tmp_path: Path) -> None:
    jar = tmp_path / f"{own_artifact().name}-9.9.9.jar"
    for path in (jar, tmp_path / "other.jar"):
        path.touch()
    # As a pattern it would not get to the executors.
    assert configured(**{JARS: f"{tmp_path}/*.jar"})[JARS] == f"{jar},{tmp_path / 'other.jar'}"


@pytest.mark.parametrize("setting", [JARS, PACKAGES])
def test_a_holdfast_jar_of_another_line_is_refused(setting: str) -> None:
    jar = f"holdfast-spark_{other_line()}_2.13-0.1.0.jar"
    with pytest.raises(WrongSparkLineError) as raised:
        configured(**{setting: f"a.jar,{jar}"})
    running = _jars.installed_spark_line()
    assert str(raised.value).startswith(
        f"{jar} is for Spark {other_line()}, but this is Spark {running}:"
    )


def test_a_pyspark_without_a_jar_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.version.__version__", "3.4.1")
    with pytest.raises(NoJarForSparkLineError, match=r"no jar for Spark 3\.4; .* 4\.2, 4\.3"):
        configured()


def test_a_holdfast_jar_of_another_line_beside_one_that_fits_is_to_be_left_out() -> None:
    wrong = f"holdfast-spark_{other_line()}_2.13-0.1.0.jar"
    right = f"{own_artifact().name}-0.1.0.jar"
    with pytest.raises(WrongSparkLineError) as raised:
        configured(**{JARS: f"{wrong},{right}"})
    assert str(raised.value).endswith(f"leave it out, for {right} is there too and fits.")


def test_a_pyspark_without_connect_in_its_utilities_is_refused_by_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pyspark.version.__version__", "3.4.4")
    monkeypatch.delattr("pyspark.util.default_api_mode", raising=False)
    with pytest.raises(NoJarForSparkLineError, match=r"no jar for Spark 3\.4"):
        configured()


_MODE = pytest.mark.since("4.0", "a mode of its API")


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ({"spark.remote": "sc://server"}, {}),
        pytest.param({"spark.api.mode": "connect"}, {}, marks=_MODE),
        ({}, {"SPARK_REMOTE": "sc://server"}),
        pytest.param({}, {"SPARK_API_MODE": "connect"}, marks=_MODE),
        pytest.param({}, {"SPARK_CONNECT_MODE_ENABLED": "1"}, marks=_MODE),
    ],
)
def test_on_spark_connect_the_settings_for_the_server_are_shown(
    options: dict[str, str], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    given = builder(**options)
    with pytest.raises(ConfigureOnSparkConnectError, match="start the Spark Connect server with"):
        holdfast.configure(given)
    assert given._options == options


def test_a_query_of_a_configured_session_keeps_its_state_in_holdfast(spark: Spark) -> None:
    result = spark.python("count_words.py", spark.folder, "--configure").result()
    check_word_counts(result)
    assert _jars.spark_line(result["spark"]) == _jars.installed_spark_line()


def users_jar(spark: Spark, repository: Path) -> Path:
    """A jar of the user's own, mine.jar."""
    jar = spark.folder / "mine.jar"
    shutil.copy(next(repository.rglob("*.jar")), jar)
    return jar


@pytest.mark.slow
def test_the_jar_gets_there_beside_jars_that_a_setting_for_spark_submit_has(
    spark: Spark, thing_repository: Path
) -> None:
    arguments = f"--conf {JARS}={users_jar(spark, thing_repository)} pyspark-shell"
    result = spark.python(
        "count_words.py", spark.folder, "--configure", PYSPARK_SUBMIT_ARGS=arguments
    ).result()
    check_word_counts(result)
    jars = {url.rpartition("/")[2] for url in result["jars"]}
    assert jars == {"mine.jar", Path(own_jar()).name}


@pytest.mark.slow
@pytest.mark.since("4.0", "the failure of a task in the first line of a query's")
def test_the_first_line_of_a_failed_query_says_what_cannot_be_loaded_and_what_to_do(
    spark: Spark,
) -> None:
    first = spark.python("fail_to_load.py", spark.folder).result()["first"]
    checkpoint = spark.folder / "checkpoint"
    assert (
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] Version 1 of operator 0, partition 0 of" in first
    )
    assert f"{checkpoint}/state/0/0/1.delta of version 1 is damaged at byte" in first
    assert f"run: holdfast verify {checkpoint} SQLSTATE" in first


@pytest.mark.slow
def test_jars_and_packages_of_the_user_reach_the_executors_too(
    spark: Spark, thing_repository: Path
) -> None:
    conf = spark.conf_folder(
        spark_defaults=f"{JARS} {users_jar(spark, thing_repository)}\n"
        f"{PACKAGES} org.example:thing:1.0\n"
        f"spark.jars.repositories {thing_repository.as_uri()}\n"
        f"spark.jars.ivy {spark.folder / 'ivy'}\n"
    )
    result = spark.python(
        "count_words.py", spark.folder, "--configure", SPARK_CONF_DIR=str(conf)
    ).result()
    check_word_counts(result)
    names = {url.rpartition("/")[2] for url in result["jars"]}
    assert names == {"mine.jar", "org.example_thing-1.0.jar", Path(own_jar()).name}


@pytest.mark.slow
def test_a_session_can_be_configured_again_while_it_runs_and_after_it_stopped(
    spark: Spark,
) -> None:
    result = spark.python("configure_again.py").result()
    assert result["provider"] == "io.holdfast.HoldfastStateStoreProvider"
    assert result["plugins"] == "io.holdfast.HoldfastPlugin"
    assert result["stores"] == 0


@pytest.mark.slow
def test_a_session_that_runs_without_holdfast_is_told_what_it_lacks(spark: Spark) -> None:
    result = spark.python("configure_late.py").result()
    error, sentence = result["running"]
    assert error == "SessionWithoutHoldfastError"
    assert [line.split() for line in sentence.splitlines()[1:]] == [
        [JARS, own_jar()],
        [PLUGINS, "io.holdfast.HoldfastPlugin"],
        [EXTENSIONS, "my.Extensions,io.holdfast.HoldfastExtensions"],
    ]
    assert result["metrics"][0] == "JarNotOnClassPathError"
    error, sentence = result["stopped"]
    assert error == "JarNotOnClassPathError"
    assert f"holdfast jar --spark {_jars.installed_spark_line()}" in sentence
