"""What has to be true before a session can keep its state in Holdfast, and what it lacks for that.

`configure` and `holdfast doctor` both ask here. Nothing is changed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast_spark import _jvm, _launch_settings
from holdfast_spark._artifacts import GROUP, artifact_of
from holdfast_spark._class_paths import class_path, has_pattern, jar_list, local_path
from holdfast_spark._jars import (
    installed_spark_version,
    is_before,
    jar_path,
    spark_line,
    too_old_for,
)
from holdfast_spark._own_settings import own_setting_errors
from holdfast_spark._setting_names import (
    DRIVER_CLASS_PATH,
    FIRST_REAL_TIME_LINE,
    JARS,
    PACKAGES,
    PROVIDER,
    PROVIDER_CLASS,
    START_SETTINGS,
    appended,
    names,
)
from holdfast_spark._spark_versions import is_named, lost_home, spark_home, spark_in, vendor_of
from holdfast_spark._state_codec import require_codec
from holdfast_spark.errors import (
    ConfigureOnSparkConnectError,
    JarNotFoundError,
    NoRealTimeModeError,
    NoSuchArtifactError,
    ProviderInRealTimeModeError,
    SessionWithoutHoldfastError,
    SparkHomeNotFoundError,
    SparkHomeOfAnotherLineError,
    TooOldSparkError,
    WrongScalaError,
    WrongSparkLineError,
)

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView
    from pyspark import SparkContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What a session would begin with.

    Attributes:
        line: the Spark line.
        settings: what the user has set outside the builder, or what the running JVM has.
        jar: the package's own jar, where it has still to be added; None where there is one.
    """

    line: str
    settings: Mapping[str, str]
    jar: Path | None


def prepare(options: Mapping[str, str], *, connect: bool = False) -> Preparation:
    """Check that a session can be made that keeps its state in Holdfast.

    Args:
        options: what is set on the builder.
        connect: the builder is one of Spark Connect.

    Raises:
        PySparkNotInstalledError: there is no pyspark.
        NoJarForSparkLineError: the package has no jar for the installed pyspark.
        TooOldSparkError: Spark is older than the first release of its line that the jar fits.
        SparkHomeOfAnotherLineError: SPARK_HOME has a Spark of another line than pyspark's.
        SparkHomeNotFoundError: SPARK_HOME has no Spark.
        WrongSparkLineError: a Holdfast jar that the user asked for is for another Spark line.
        WrongScalaError: it is for another Scala than that Spark is built with.
        NoSuchArtifactError: the user asked for coordinates of Holdfast that are no jar's.
        JarNotFoundError: a Holdfast jar that the user asked for is not there.
        ConfigureOnSparkConnectError: the session would be a Spark Connect client.
        SessionWithoutHoldfastError: a session runs already that was started without Holdfast.
        JarNotOnClassPathError: a JVM runs already that has no Holdfast jar.
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS cannot be read.
        NoPysparkShellError: PYSPARK_SUBMIT_ARGS does not end with pyspark-shell.
    """
    line = spark_line(installed_spark_version())
    if connect or uses_connect(options):
        raise ConfigureOnSparkConnectError(settings_of_server(line))
    if jvm := _jvm.running_jvm():
        return Preparation(line=line, settings=_in_running_jvm(line, jvm), jar=None)
    return _before_start(line, options)


def require_state_settings(prepared: Preparation, options: Mapping[str, str]) -> None:
    """Check settings of state that no query can have.

    Args:
        prepared: what a session would begin with.
        options: what is set on the builder, which wins.

    Raises:
        NoSuchCodecError: the state codec cannot be one.
        NoSuchSettingError: a setting is named as Holdfast's are, and there is none of that name.
        WrongSettingError: the value of a setting of Holdfast means nothing.
        TooSmallLimitError: the memory limit is too small for any store.
    """
    settings = {**prepared.settings, **options}
    require_codec(settings)
    for error in own_setting_errors(settings, line=prepared.line):
        raise error


def require_real_time_mode(prepared: Preparation) -> None:
    """Check that queries of a session can run in real-time mode.

    Raises:
        NoRealTimeModeError: the Spark line has none for queries with state.
        ProviderInRealTimeModeError: a provider class is set outside the builder.
    """
    if is_before(prepared.line, FIRST_REAL_TIME_LINE):
        raise NoRealTimeModeError(line=prepared.line, first=FIRST_REAL_TIME_LINE)
    if found := prepared.settings.get(PROVIDER):
        raise ProviderInRealTimeModeError(setting=PROVIDER, found=found)


def settings_of_server(line: str) -> dict[str, str]:
    """Return what a Spark Connect server of a line has to be started with."""
    return {JARS: str(own_jar(line)), **START_SETTINGS, PROVIDER: PROVIDER_CLASS}


def uses_connect(options: Mapping[str, str]) -> bool:
    """Tell whether Spark would make a Spark Connect client (`SparkSession.Builder` of 4.2)."""
    try:
        from pyspark.sql.utils import is_remote
        from pyspark.util import default_api_mode
    except ImportError:  # before pyspark 4.0
        return "spark.remote" in options or "SPARK_REMOTE" in os.environ

    mode = options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", "")).lower()
    return (
        is_remote()
        or "SPARK_REMOTE" in os.environ
        or "spark.remote" in options
        or (mode if mode in ("classic", "connect") else default_api_mode()) == "connect"
    )


def holdfast_jars(settings: Mapping[str, str], home: Path, *, more_jars: str = "") -> list[str]:
    """Return the jars of Holdfast that a session would have, by path, URL or coordinates.

    Args:
        settings: what is set.
        home: the Spark distribution that will be started.
        more_jars: jars that are set in another place, separated by commas.
    """
    named = (
        *jar_list(more_jars),
        *jar_list(settings.get(JARS)),
        *names(settings.get(PACKAGES)),
        *class_path(settings.get(DRIVER_CLASS_PATH)),
        *sorted(map(str, (home / "jars").glob("holdfast*.jar"))),
    )
    return [name for name in dict.fromkeys(named) if artifact_of(name)]


def own_jar(line: str) -> Path:
    """Return the package's jar for the line of the installed pyspark.

    Raises:
        NoJarForSparkLineError: there is none.
    """
    return jar_path(line, vendor=vendor_of(installed_spark_version()))


def _before_start(line: str, options: Mapping[str, str]) -> Preparation:
    """Look for a jar in what the JVM will be started with, and at those that are there."""
    _launch_settings.require_shell()
    home = spark_home()
    settings = _launch_settings.launch_settings(home)
    asked = {**settings, **options}
    present = holdfast_jars(asked, home, more_jars=settings.get(JARS, ""))
    jar = None if present else own_jar(line)
    spark = spark_in(home)
    installed = spark.version
    if installed and spark_line(installed) != line:
        raise SparkHomeOfAnotherLineError(
            home=str(home), installed=installed, line=line, named=is_named()
        )
    artifacts = {name: found for name in present if (found := artifact_of(name))}
    for name, artifact in artifacts.items():
        if artifact.line != line:
            fitting = next((other for other in present if artifacts[other].line == line), None)
            raise WrongSparkLineError(
                jar=name, built_for=artifact.line, running=line, fitting=fitting
            )
        if spark.scala and artifact.scala != spark.scala:
            raise WrongScalaError(
                jar=name, line=line, built_for=artifact.scala, running=spark.scala
            )
    for coordinates in names(asked.get(PACKAGES)):
        _require_coordinates(coordinates, line)
    if missing := next(filter(_is_missing, present), None):
        raise JarNotFoundError(jar=missing)
    if jar and installed and (oldest := too_old_for(jar, installed)):
        raise TooOldSparkError(version=installed, oldest=oldest)
    if (lost := lost_home()) is not None:
        raise SparkHomeNotFoundError(home=lost)
    return Preparation(line=line, settings=settings, jar=jar)


def _require_coordinates(coordinates: str, line: str) -> None:
    """Check that Maven coordinates in Holdfast's group are as those of its jars."""
    found = artifact_of(coordinates)
    if coordinates.partition(":")[0] == GROUP and not (found and coordinates == found.coordinates):
        expected = artifact_of(str(own_jar(line)))
        raise NoSuchArtifactError(
            setting=PACKAGES,
            found=coordinates,
            expected=expected.coordinates if expected else None,
        )


def _is_missing(jar: str) -> bool:
    """Tell whether a jar is a path of this machine where nothing is."""
    place = local_path(jar)
    elsewhere = ":" in place or not place.endswith(".jar") or has_pattern(place)
    return not elsewhere and not Path(place).exists()


def _in_running_jvm(line: str, jvm: JVMView) -> Mapping[str, str]:
    """Check a running JVM; return the settings that it gives to a new session.

    Raises:
        SessionWithoutHoldfastError: its SparkContext runs and was started without Holdfast.
        JarNotOnClassPathError: it has no SparkContext and no Holdfast jar.
        WrongSparkLineError: its Holdfast jar is for another Spark line.
    """
    from pyspark import SparkConf, SparkContext

    context: SparkContext | None = SparkContext._active_spark_context
    settings = dict((context.getConf() if context else SparkConf()).getAll())
    if context:
        wanted = dict(START_SETTINGS)
        if not _jvm.has_bridge(jvm):
            wanted = {JARS: str(own_jar(line)), **wanted}
        missing = {
            name: appended(settings.get(name), ours)
            for name, ours in wanted.items()
            if ours not in names(settings.get(name))
        }
        if missing:
            raise SessionWithoutHoldfastError(missing)
    _jvm.bridge(jvm)
    return settings
