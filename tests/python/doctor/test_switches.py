"""Settings that name classes of Holdfast, and the jars beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast_spark import __version__
from holdfast_spark._setting_names import (
    DRIVER_CLASS_PATH,
    EXECUTOR_CLASS_PATH,
    EXTENSIONS,
    FILE_MANAGER,
    FILE_MANAGER_CLASS,
    JARS,
    PLUGINS,
    PROVIDER,
    PROVIDER_CLASS,
    REAL_TIME_MODE,
    START_SETTINGS,
)
from holdfast_spark.doctor.diagnosis import Finding
from holdfast_spark.doctor.switches import jar_findings, place_findings, switch_findings

WHOLE = {PROVIDER: PROVIDER_CLASS, **START_SETTINGS}
JAR = f"/jars/holdfast-spark_4.3_2.13-{__version__}.jar"


def switches(settings: Mapping[str, str]) -> list[Finding]:
    return list(switch_findings(settings))


def jars(
    settings: Mapping[str, str],
    *found: str,
    in_cluster: bool = False,
    jars_in_submit: bool = False,
) -> list[Finding]:
    return list(
        jar_findings(settings, found, own=JAR, in_cluster=in_cluster, jars_in_submit=jars_in_submit)
    )


def without(name: str) -> dict[str, str]:
    return {setting: value for setting, value in WHOLE.items() if setting != name}


def test_settings_that_fit_together_and_settings_of_others_are_in_order() -> None:
    real_time = {REAL_TIME_MODE: "true", **START_SETTINGS}
    of_others = {PROVIDER: "my.Provider", PLUGINS: "my.Plugin", JARS: "my.jar"}
    for settings in ({}, WHOLE, real_time, of_others):
        assert switches(settings) == []
    assert jars(WHOLE, JAR) == jars({}) == jars({PLUGINS: "my.Plugin"}) == []


@pytest.mark.parametrize(
    ("settings", "stops", "sentence"),
    [
        (without(PROVIDER), False, f"{PROVIDER} is not set: queries of sessions that"),
        ({EXTENSIONS: START_SETTINGS[EXTENSIONS]}, False, f"{EXTENSIONS} names Holdfast and"),
        (without(PLUGINS), False, f"{PLUGINS} does not name io.holdfast.HoldfastPlugin: nothing"),
        (without(EXTENSIONS), False, f"{EXTENSIONS} does not name io.holdfast.HoldfastExt"),
        ({**WHOLE, PROVIDER: "io.holdfast.Provider"}, True, f"write {PROVIDER_CLASS}."),
        (
            {PROVIDER.replace("Class", "class"): PROVIDER_CLASS},
            False,
            f"is no setting of Spark's that would switch it on: write {PROVIDER}, with just",
        ),
        ({**WHOLE, FILE_MANAGER: PROVIDER_CLASS}, True, f"write {FILE_MANAGER_CLASS}."),
        ({**WHOLE, REAL_TIME_MODE: "true"}, True, f"{PROVIDER} is set to {PROVIDER_CLASS} in"),
        (
            {**WHOLE, REAL_TIME_MODE: "true", PROVIDER: "my.Provider"},
            True,
            "and Spark refuses real-time mode where it is set: take it out",
        ),
        (
            {**WHOLE, PROVIDER: "my.Provider"},
            False,
            f"name Holdfast and {PROVIDER} is my.Provider: queries of sessions that",
        ),
        (
            {REAL_TIME_MODE: "true", PLUGINS: START_SETTINGS[PLUGINS]},
            True,
            f"{EXTENSIONS} does not name {START_SETTINGS[EXTENSIONS]}, which gives Holdfast to new",
        ),
    ],
)
def test_a_contradiction_is_told_with_what_to_do(
    settings: dict[str, str], stops: bool, sentence: str
) -> None:
    (finding,) = switches(settings)
    assert finding.stops == stops
    assert sentence in finding.error


def test_a_file_that_names_another_provider_than_what_wins_is_told() -> None:
    ours, other = {PROVIDER: PROVIDER_CLASS}, {PROVIDER: "my.Provider"}

    def found(in_file: Mapping[str, str], settings: Mapping[str, str]) -> list[Finding]:
        return list(place_findings({"my.conf": in_file}, settings))

    assert found({}, ours) == found(ours, ours) == found(other, {PROVIDER: "your.P"}) == []
    (finding,) = found(ours, other)
    assert not finding.stops
    assert f"my.conf sets {PROVIDER} to {PROVIDER_CLASS}, and PYSPARK_SUBMIT_ARGS sets it to " in (
        finding.error
    )
    assert len(found(other, ours)) == 1
    several = {"defaults.conf": other, "my.conf": ours, "more.conf": {}}
    (finding,) = place_findings(several, ours)
    assert finding.error.startswith(f"defaults.conf sets {PROVIDER} to my.Provider, and ")


@pytest.mark.parametrize(
    ("settings", "stops", "sentence"),
    [
        (WHOLE, True, "nothing brings its jar: sessions that holdfast.configure has not prepared"),
        ({PROVIDER: PROVIDER_CLASS}, True, f"{PROVIDER} names Holdfast and nothing brings its"),
        ({FILE_MANAGER: FILE_MANAGER_CLASS}, True, f"Set {JARS} to {JAR}"),
        # Spark goes on without an extension that it cannot load.
        ({EXTENSIONS: f"my.Ext,{START_SETTINGS[EXTENSIONS]}"}, False, "go on without Holdfast"),
    ],
)
def test_classes_without_a_jar_are_told(
    settings: dict[str, str], stops: bool, sentence: str
) -> None:
    (finding,) = jars(settings)
    assert (finding.about, finding.stops) == ("jar", stops)
    assert sentence in finding.error
    assert jars(settings, JAR) == []


def test_a_jar_is_to_be_added_where_it_wins() -> None:
    (finding,) = jars({**WHOLE, JARS: "a.jar"}, jars_in_submit=True)
    assert finding.stops
    assert (
        f"Set --jars in PYSPARK_SUBMIT_ARGS to a.jar,{JAR}, for what sets {JARS} there wins over "
        "files of settings and over the builder, or take these settings out" in finding.error
    )


@pytest.mark.parametrize(
    "jar",
    ["hdfs:///libs/holdfast-spark_4.3_2.13-9.9.9.jar", "io.holdfast:holdfast-spark_4.3_2.13:9.9.9"],
)
def test_a_jar_of_another_version_is_told(jar: str) -> None:
    (finding,) = jars(WHOLE, jar)
    assert not finding.stops
    assert f"{jar} is Holdfast 9.9.9 and this package is {__version__}:" in finding.error


def test_a_jar_for_the_driver_alone_does_not_do_where_there_are_executors() -> None:
    settings = {**WHOLE, DRIVER_CLASS_PATH: f"/other.jar:{JAR}"}
    assert jars(settings, JAR) == []
    (finding,) = jars(settings, JAR, in_cluster=True)
    assert finding.stops
    assert "the executors have no jar of Holdfast" in finding.error
    assert jars({**settings, EXECUTOR_CLASS_PATH: JAR}, JAR, in_cluster=True) == []
    # What their machines have in that folder is not to be known here.
    assert jars({**settings, EXECUTOR_CLASS_PATH: "/none/*"}, JAR, in_cluster=True) == []


def test_a_folder_of_jars_for_the_driver_alone_does_not_do_either(tmp_path: Path) -> None:
    jar = tmp_path / JAR.rpartition("/")[2]
    jar.touch()
    (finding,) = jars({**WHOLE, DRIVER_CLASS_PATH: f"{tmp_path}/*"}, str(jar), in_cluster=True)
    assert f"{DRIVER_CLASS_PATH} brings {jar} to the driver alone" in finding.error
