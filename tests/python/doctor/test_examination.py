"""`holdfast doctor`: what an environment has, and that it agrees with `configure`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import holdfast_spark as holdfast
from harness import Spark
from holdfast_spark import _jars, _preparation
from holdfast_spark._jars import installed_spark_version
from holdfast_spark._setting_names import (
    CODEC,
    EXTENSIONS,
    JARS,
    MEMORY_LIMIT,
    PACKAGES,
    PLUGINS,
    PROVIDER,
    PROVIDER_CLASS,
    REAL_TIME_MODE,
    START_SETTINGS,
)
from holdfast_spark._spark_versions import SparkFound
from holdfast_spark.cli.main import main
from holdfast_spark.doctor import Diagnosis, examination, examine
from holdfast_spark.doctor.installed import java_findings
from holdfast_spark.doctor.session_settings import SessionSettings
from holdfast_spark.errors import HoldfastError
from programs import hanging, java_home

pytestmark = pytest.mark.usefixtures("no_spark_settings")


def jars_of_another_line(home: Path) -> SparkFound:
    return SparkFound(home=str(home), version="3.2.1", scala="2.12", vendor=None)


def refusal() -> str | None:
    """What `configure` says here, None where it does its work."""
    from pyspark.sql import SparkSession

    try:
        holdfast.configure(SparkSession.builder)
    except HoldfastError as e:
        return str(e)
    return None


def stops(found: Diagnosis) -> list[str]:
    return [finding.error for finding in found.findings if finding.stops]


def other_jar(*, line: str = "1.0") -> str:
    return f"hdfs:///libs/holdfast-spark_{line}_2.13-{holdfast.__version__}.jar"


def own_jar() -> Path:
    return _jars.jar_path(_jars.installed_spark_line())


JAR_SETTINGS = {
    "other jar": (JARS, other_jar()),
    "other scala": (JARS, "/none/holdfast-spark_{line}_2.1-0.1.0.jar"),
    "no artifact": (PACKAGES, "io.holdfast:holdfast-spark_{line}:0.1.0"),
    "jar that fits": (JARS, "hdfs:///libs/{own}"),
    "jar of another name": (JARS, "local://{renamed}"),
    "lost jar": (JARS, "/none/{own}"),
}
VARIABLES = {
    "submit": ("PYSPARK_SUBMIT_ARGS", f"--jars {other_jar()} pyspark-shell"),
    "quote": ("PYSPARK_SUBMIT_ARGS", "--conf 'x pyspark-shell"),
    "no shell": ("PYSPARK_SUBMIT_ARGS", "--conf spark.x=y"),
    "behind the shell": ("PYSPARK_SUBMIT_ARGS", "pyspark-shell --conf spark.x=y"),
    "empty submit": ("PYSPARK_SUBMIT_ARGS", ""),
    "remote": ("SPARK_REMOTE", "sc://server"),
    "classic": ("SPARK_API_MODE", "classic"),
    "lost home": ("SPARK_HOME", "/none/spark"),
    "empty home": ("SPARK_HOME", ""),
}
SETTINGS = {
    "codec": f"{CODEC} lz5\n",
    "limit": f"{MEMORY_LIMIT} 8\n",
    "setting": f"{MEMORY_LIMIT}s 8g\n",
    "value": f"{MEMORY_LIMIT} lots\n",
}


def test_without_pyspark_it_says_so_and_ends_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.version", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1
    assert "stops: Holdfast needs pyspark" in done.stdout
    assert done.stderr == "Error: Holdfast does not work here: one finding stops it.\n"
    found = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).stdout)
    assert found["works"] is False
    assert found["pyspark"] is None
    assert [finding["about"] for finding in found["findings"]] == ["pyspark"]


@pytest.mark.spark
def test_an_environment_in_order_is_described() -> None:
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("Holdfast works here.\n")
    found = examine()
    assert found.works
    assert found.findings == ()
    assert found.line == _jars.installed_spark_line()
    assert found.jar == str(_jars.jar_path(found.line))
    assert found.pyspark is not None
    assert found.pyspark.packages == ("pyspark",)
    assert not found.pyspark.client_only
    assert found.spark is not None
    assert found.spark.version == found.pyspark.version
    assert found.java is not None
    assert found.session is None


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "case",
    [
        *("nothing", "vendor", "wrong line", "home", "old release"),
        *("no jars", "real time", "real time of others", *JAR_SETTINGS, *SETTINGS, *VARIABLES),
    ],
)
def test_what_configure_refuses_stops_and_nothing_else(
    case: str, no_spark_settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = _jars.installed_spark_line()
    defaults = no_spark_settings / "spark-defaults.conf"
    match case:
        case "vendor":
            monkeypatch.setattr("pyspark.version.__version__", "16.4.1")
        case "wrong line":
            monkeypatch.setattr("pyspark.version.__version__", "3.3.0")
        case "home":
            (tmp_path / "jars").mkdir()
            (tmp_path / "jars" / "spark-core_2.12-3.1.0.jar").touch()
            monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        case "old release":
            (tmp_path / "jars").mkdir()
            (tmp_path / "jars" / f"spark-core_2.13-{line}.0.jar").touch()
            monkeypatch.setenv("SPARK_HOME", str(tmp_path))
            monkeypatch.setattr(_preparation, "too_old_for", lambda _, version: f"{version}9")
        case "no jars":
            monkeypatch.setattr(_jars, "JARS_FOLDER", tmp_path / "none")
        case "real time" | "real time of others":
            provider = PROVIDER_CLASS if case == "real time" else "my.Provider"
            monkeypatch.setattr(_preparation, "FIRST_REAL_TIME_LINE", line)
            of_extension = (
                f"{EXTENSIONS} {START_SETTINGS[EXTENSIONS]}\n{JARS} {_jars.jar_path(line)}"
            )
            defaults.write_text(f"{REAL_TIME_MODE} true\n{PROVIDER} {provider}\n{of_extension}\n")
        case jar if jar in JAR_SETTINGS:
            setting, name = JAR_SETTINGS[jar]
            own = own_jar()
            renamed = shutil.copy(own, tmp_path / "holdfast.jar")
            named = name.format(line=line, own=own.name, renamed=renamed)
            defaults.write_text(f"{setting} {named}\n")
        case setting if setting in SETTINGS:
            defaults.write_text(SETTINGS[setting])
        case variable if variable in VARIABLES:
            monkeypatch.setenv(*VARIABLES[variable])
    found = examine()
    said = refusal()
    assert stops(found) == ([said] if said else [])
    assert (said is None) == (
        case in ("nothing", "jar that fits", "jar of another name", "classic")
    )


@pytest.mark.slow
@pytest.mark.spark
def test_a_lost_spark_and_arguments_without_an_application_are_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    (finding,) = examine().findings
    assert finding.about == "pyspark"
    assert f"SPARK_HOME is '{tmp_path}', and there is no Spark" in finding.error
    monkeypatch.delenv("SPARK_HOME")
    for arguments in ("--conf 'spark.x=a b'", "pyspark-shell --conf 'spark.x=a b'"):
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
        (finding,) = examine().findings
        assert finding.about == "settings"
        assert "Set it to \"--conf 'spark.x=a b' pyspark-shell\"." in finding.error


@pytest.mark.slow
@pytest.mark.spark
def test_a_spark_of_another_release_than_pyspark_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = _jars.installed_spark_line()
    monkeypatch.setattr(_preparation, "too_old_for", lambda *_: None)
    for folder in ("bin", "jars"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    core = tmp_path / "jars" / f"spark-core_2.13-{line}.99.jar"
    core.touch()
    (finding,) = examine().findings
    assert not finding.stops
    assert f"SPARK_HOME is {tmp_path}, which is Spark {line}.99, and the" in finding.error
    # What a preview is called differs between the two.
    release = ".".join(installed_spark_version().split(".")[:3])
    core.rename(core.with_name(f"spark-core_2.13-{release}-preview2.jar"))
    assert examine().findings == ()


@pytest.mark.spark
def test_arguments_and_scripts_that_spark_does_not_take_are_told(
    no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (no_spark_settings / "spark-env.sh").write_text("fi\n")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--pacakges x pyspark-shell")
    of_arguments, of_script = examine().findings
    assert of_arguments.stops
    assert "--pacakges, which is no option" in of_arguments.error
    assert f"cannot read {no_spark_settings / 'spark-env.sh'} (line 1: " in of_script.error


@pytest.mark.spark
def test_a_pyspark_with_the_jars_of_another_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_preparation, "spark_in", jars_of_another_line)
    found = refusal()
    assert found is not None
    assert "are of Spark 3.2.1: remove that folder, and install pyspark anew." in found
    (finding, *_) = examine().findings
    assert (finding.stops, finding.error) == (True, found)


@pytest.mark.spark
def test_an_empty_home_is_the_current_folder_to_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "")
    (finding,) = examine().findings
    assert finding.error.startswith("SPARK_HOME is empty, which pyspark takes for the current ")


@pytest.mark.spark
def test_a_java_that_does_not_answer_and_a_lost_python_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/none/python")
    (finding,) = examine().findings
    assert (finding.about, finding.stops) == ("Python", False)
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, hanging(tmp_path))))
    found, (finding,) = java_findings(_jars.installed_spark_line(), tmp_path, seconds=0.01)
    assert found is None
    assert (finding.about, finding.stops) == ("Java", True)
    assert "(from JAVA_HOME) has not said its version in 0.01 seconds" in finding.error


@pytest.mark.slow
@pytest.mark.spark
def test_settings_of_a_session_that_would_be_made_are_told(
    no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = no_spark_settings / "spark-defaults.conf"
    defaults.write_text(f"{PROVIDER} {PROVIDER_CLASS}\nspark.app.name mine\n")
    plugin = f"{PLUGINS}={START_SETTINGS[PLUGINS]}"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {plugin} pyspark-shell")
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1
    assert f"settings  {defaults} and PYSPARK_SUBMIT_ARGS\n" in done.stdout
    assert "stops: spark.plugins and spark.sql.streaming" not in done.stdout
    assert f"stops: {PROVIDER} and {PLUGINS} name Holdfast and nothing brings its" in done.stdout
    assert "warning: spark.sql.streaming.stateStore.providerClass is Holdfast's and" in done.stdout
    found = examine()
    assert found.settings == {PLUGINS: START_SETTINGS[PLUGINS], PROVIDER: PROVIDER_CLASS}
    assert refusal() is None  # for it brings the jar


@pytest.mark.spark
def test_a_jar_in_a_file_that_is_hidden_by_a_setting_for_spark_submit_is_told(
    no_spark_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = _jars.jar_path(_jars.installed_spark_line())
    settings = {PROVIDER: PROVIDER_CLASS, **START_SETTINGS, JARS: str(own)}
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (no_spark_settings / "spark-defaults.conf").write_text(lines)
    assert examine().findings == ()
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"-c {JARS}=a.jar pyspark-shell")
    (finding,) = examine().findings
    assert f"Set --jars in PYSPARK_SUBMIT_ARGS to a.jar,{own}, for what" in finding.error
    assert refusal() is None  # for it brings the jar


@pytest.mark.slow
@pytest.mark.spark
def test_several_jars_and_a_file_that_is_contradicted_are_told(
    no_spark_settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = _jars.jar_path(_jars.installed_spark_line())
    copy = tmp_path / own.name
    copy.write_bytes(own.read_bytes())
    defaults = no_spark_settings / "spark-defaults.conf"
    of_start = "".join(f"{name} {value}\n" for name, value in START_SETTINGS.items())
    defaults.write_text(f"{of_start}{JARS} {own},{copy}\n{PROVIDER} my.Provider\n")
    (of_provider, of_jars) = examine().findings
    assert "and spark.sql.extensions name Holdfast and" in of_provider.error
    assert f"jars of Holdfast, and the first is used, whichever that is: {own}, {copy}. Leave" in (
        of_jars.error
    )
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {PROVIDER}={PROVIDER_CLASS} pyspark-shell")
    (_, of_file) = examine().findings
    assert f"{defaults} sets {PROVIDER} to my.Provider, and PYSPARK_SUBMIT" in of_file.error


@pytest.mark.spark
def test_a_spark_of_a_vendor_is_used_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "18.2")
    found = examine()
    assert found.works
    assert "of Databricks Runtime 18.2: Holdfast is built" in found.findings[0].error
    assert refusal() is None


@pytest.mark.spark
def test_a_missing_java_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    found = examine()
    assert found.java is None
    assert [finding.about for finding in found.findings] == ["Java"]


@pytest.mark.slow
@pytest.mark.spark
def test_an_active_session_is_looked_at(spark: Spark) -> None:
    result = spark.python("examine_session.py").result()
    before, configured = result["before"], result["configured"]
    assert before["works"] is False
    assert before["findings"][0]["error"].startswith("A Spark session runs already and lacks")
    assert before["error"] == before["findings"][0]["error"]
    assert configured["findings"] == []
    assert configured["session"]
    assert configured["settings_from"] == ["the active session"]
    assert configured["settings"][PROVIDER] == PROVIDER_CLASS
    (finding,) = result["changed"]["findings"]
    assert finding["stops"]
    assert "stateStore.holdfast.memoryLimit is '900g'" in finding["error"]


@pytest.mark.spark
def test_nothing_is_changed_by_it(no_spark_settings: Path) -> None:
    (no_spark_settings / "spark-defaults.conf").write_text("spark.jars.packages a:b:1\n")
    before = dict(os.environ)
    examine()
    assert dict(os.environ) == before
    assert _preparation.prepare({}).jar is not None


@pytest.mark.spark
def test_a_server_of_spark_connect_is_told_by_its_settings() -> None:
    line = _jars.installed_spark_line()
    whole = {
        PROVIDER: PROVIDER_CLASS,
        **START_SETTINGS,
        PLUGINS: "my.P, " + START_SETTINGS[PLUGINS],
    }

    def found(settings: dict[str, str]) -> list[str]:
        seen = SessionSettings(settings=settings, sources=(), of_connect=True)
        return [finding.error for finding in examination.server_findings(seen, line)]

    assert found(whole) == []
    for name in whole:
        (error,) = found({**whole, name: "other"})
        assert "start the Spark Connect server with these settings:" in error
        assert str(_jars.jar_path(line)) in error
