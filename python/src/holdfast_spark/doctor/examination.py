"""Looks at an environment, and tells what is in the way of Holdfast."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast_spark import _launch_settings
from holdfast_spark._arguments import Kind, or_none, require_arguments
from holdfast_spark._jars import jar_path, jar_paths, spark_line
from holdfast_spark._preparation import (
    holdfast_jars,
    prepare,
    require_real_time_mode,
    require_state_settings,
    settings_of_server,
    uses_connect,
)
from holdfast_spark._setting_names import (
    JARS,
    PROVIDER,
    PROVIDER_CLASS,
    START_SETTINGS,
    is_real_time,
    names,
)
from holdfast_spark._spark_versions import SparkFound, spark_home, spark_in
from holdfast_spark._version import __version__
from holdfast_spark.doctor.class_paths import class_path_findings
from holdfast_spark.doctor.diagnosis import About, Diagnosis, Finding, PysparkFound, stop
from holdfast_spark.doctor.installed import (
    find_pyspark,
    home_findings,
    java_findings,
    vendor_findings,
)
from holdfast_spark.doctor.pythons import python_findings
from holdfast_spark.doctor.scripts import script_findings
from holdfast_spark.doctor.session_settings import (
    SessionSettings,
    active_session,
    settings_before,
    settings_of_session,
)
from holdfast_spark.doctor.store_settings import beside_findings, own_findings
from holdfast_spark.doctor.submit_arguments import submit_findings
from holdfast_spark.doctor.switches import (
    jar_findings,
    place_findings,
    switch_findings,
    uses_holdfast,
)
from holdfast_spark.errors import (
    ConfigureOnSparkConnectError,
    HoldfastError,
    NoJarForSparkLineError,
    NoPysparkShellError,
    NoRealTimeModeError,
    NoSuchCodecError,
    NoSuchSettingError,
    ProviderInRealTimeModeError,
    PySparkNotInstalledError,
    SessionWithoutHoldfastError,
    SparkHomeNotFoundError,
    SparkHomeOfAnotherLineError,
    SubmitArgumentsError,
    TooSmallLimitError,
    WrongSettingError,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from holdfast_spark._java import JavaFound

_ABOUT: dict[type[HoldfastError], About] = {
    PySparkNotInstalledError: "pyspark",
    NoJarForSparkLineError: "pyspark",
    SparkHomeNotFoundError: "pyspark",
    SparkHomeOfAnotherLineError: "pyspark",
    ConfigureOnSparkConnectError: "session",
    SessionWithoutHoldfastError: "session",
    SubmitArgumentsError: "settings",
    NoPysparkShellError: "settings",
    NoRealTimeModeError: "settings",
    NoSuchCodecError: "settings",
    NoSuchSettingError: "settings",
    WrongSettingError: "settings",
    TooSmallLimitError: "settings",
    ProviderInRealTimeModeError: "settings",
}


# By its name, since there may be no pyspark to import it from.
_SESSION = Kind(
    "a Spark session",
    lambda found: any(
        each.__name__ == "SparkSession" and each.__module__.startswith("pyspark.")
        for each in type(found).__mro__
    ),
)
_NOTHING = SessionSettings(settings={}, sources=())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a `Diagnosis` says beside its findings."""

    pyspark: PysparkFound | None = None
    spark: SparkFound | None = None
    java: JavaFound | None = None
    line: str | None = None
    seen: SessionSettings = _NOTHING


def examine(spark: SparkSession | None = None) -> Diagnosis:
    """Tell what this environment has for Holdfast, and what is in the way of it.

    Starts no Spark. Where a session is active it is looked at, else the JVM that runs, else
    spark-defaults.conf and PYSPARK_SUBMIT_ARGS, as far as these say what a session would have.
    Whatever `configure` would refuse here is among the findings, in the same words. Call it from a
    thread that may use the session.

    Args:
        spark: the session to look at, the active one for None.

    Raises:
        WrongArgumentError: `spark` is no session.
    """
    require_arguments("doctor.examine", spark=(spark, or_none(_SESSION)))
    try:
        pyspark = find_pyspark()
    except PySparkNotInstalledError as e:
        return _diagnosis(_Found(), [_stop(e)])
    session, line = spark or active_session(), spark_line(pyspark.version)
    if session is None:
        if pyspark.client_only or uses_connect({}):
            findings = [*_refusals(), *vendor_findings(pyspark, None)]
            return _diagnosis(_Found(pyspark=pyspark, line=line), findings)
    elif (seen := settings_of_session(session)).of_connect:
        line = spark_line(session.version)
        findings = [*server_findings(seen, line), *_settings_findings(seen, line)]
        return _diagnosis(_Found(pyspark=pyspark, line=line, seen=seen), findings)
    return _of_this_machine(pyspark, session)


def _of_this_machine(pyspark: PysparkFound, session: SparkSession | None) -> Diagnosis:
    """Look at the Spark that this Python starts or has started."""
    home = spark_home()
    found, line = spark_in(home), spark_line(pyspark.version)
    findings = [*vendor_findings(pyspark, found), *_refusals()]
    try:
        seen = settings_of_session(session) if session else settings_before(home)
    except SubmitArgumentsError:  # which is among the refusals
        seen = _NOTHING
    findings += _settings_findings(seen, line)
    java = None
    if seen.running is None:
        java, of_java = java_findings(line, home)
        jars = holdfast_jars(seen.settings, home)
        own = _own_jar(line)
        findings += of_java
        findings += home_findings(pyspark, found)
        findings += python_findings(line, in_cluster=seen.in_cluster)
        findings += submit_findings(line)
        findings += script_findings(_launch_settings.conf_folder(home))
        findings += jar_findings(
            seen.settings,
            jars,
            own=own,
            in_cluster=seen.in_cluster,
            # Arguments that cannot be read have set nothing.
            jars_in_submit=JARS in seen.settings and _launch_settings.has_submit_jars(),
        )
        findings += class_path_findings(seen.settings, jars, line=line, scala=found.scala)
        findings += place_findings(seen.in_files, seen.settings)
    what = _Found(pyspark=pyspark, spark=found, java=java, line=line, seen=seen)
    return _diagnosis(what, findings)


def _refusals() -> Iterator[Finding]:
    """Yield what `configure` would refuse here."""
    try:
        prepared = prepare({})
        require_state_settings(prepared, {})
        if is_real_time(prepared.settings):
            require_real_time_mode(prepared)
    except HoldfastError as e:
        yield _stop(e)


def _settings_findings(seen: SessionSettings, line: str) -> Iterator[Finding]:
    yield from switch_findings(seen.settings)
    yield from own_findings(
        seen.settings, line=line, in_cluster=seen.in_cluster, runs=seen.running is not None
    )
    if uses_holdfast(seen.settings) or PROVIDER not in seen.settings:
        yield from beside_findings(seen.settings, line=line)


def server_findings(seen: SessionSettings, line: str) -> Iterator[Finding]:
    """Yield what a Spark Connect server lacks, as its settings tell."""
    lacks = [
        name
        for name, ours in {**START_SETTINGS, PROVIDER: PROVIDER_CLASS}.items()
        if ours not in names(seen.settings.get(name))
        and not (name == PROVIDER and is_real_time(seen.settings))
    ]
    if lacks:
        try:
            yield _stop(ConfigureOnSparkConnectError(settings_of_server(line)))
        except NoJarForSparkLineError as e:
            yield _stop(e)


def _diagnosis(found: _Found, findings: Iterable[Finding]) -> Diagnosis:
    unique = dict.fromkeys(findings)
    return Diagnosis(
        works=not any(finding.stops for finding in unique),
        holdfast=__version__,
        lines=tuple(jar_paths()),
        python=platform.python_version(),
        python_path=sys.executable,
        pyspark=found.pyspark,
        spark=found.spark,
        line=found.line,
        java=found.java,
        jar=_own_jar(found.line) if found.line else None,
        session=found.seen.running,
        settings_from=found.seen.sources,
        settings=found.seen.shown,
        findings=tuple(sorted(unique, key=lambda finding: not finding.stops)),
    )


def _own_jar(line: str) -> str | None:
    try:
        return str(jar_path(line))
    except NoJarForSparkLineError:
        return None


def _stop(error: HoldfastError) -> Finding:
    return stop(_ABOUT.get(type(error), "jar"), str(error))
