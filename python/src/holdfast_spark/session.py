"""Spark sessions whose streaming queries keep their state in Holdfast."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast_spark import _jvm, _launch_settings
from holdfast_spark._jars import installed_spark_line, jar_path, line_of_artifact
from holdfast_spark.errors import (
    ConfigureOnSparkConnectError,
    SessionWithoutHoldfastError,
    WrongArgumentError,
    WrongSparkLineError,
)

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_PLUGINS = "spark.plugins"
_EXTENSIONS = "spark.sql.extensions"
_FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_CHARTS = "spark.sql.streaming.ui.enabledCustomMetricList"
_JARS = "spark.jars"
_PACKAGES = "spark.jars.packages"

_PROVIDER_CLASS = "io.holdfast.HoldfastStateStoreProvider"
_FILE_MANAGER_CLASS = "io.holdfast.HoldfastCheckpointFileManager"

# What the Structured Streaming tab of Spark's UI draws beside rows and memory, by metric name.
_CHARTED_METRICS = (
    "holdfastOpenTimeMs",
    "holdfastLoadTimeMs",
    "holdfastCommitTimeMs",
    "holdfastDeltaBytes",
    "holdfastHeldBytes",
    "holdfastNearMemoryLimitCount",
)
_START_SETTINGS = {
    _PLUGINS: "io.holdfast.HoldfastPlugin",
    _EXTENSIONS: "io.holdfast.HoldfastExtensions",
}


def configure(
    builder: SparkSession.Builder, *, local_checkpoints: bool = False
) -> SparkSession.Builder:
    """Make the session that `builder` will create keep the state of its queries in Holdfast.

    Adds the jar for the installed pyspark, the plugin and the session extension to what the user
    asked for on the builder, in spark-defaults.conf and in PYSPARK_SUBMIT_ARGS, and sets the
    provider class, also where another one was set: this call asks for it. Where nobody has chosen
    the store metrics that the Structured Streaming tab draws
    (`spark.sql.streaming.ui.enabledCustomMetricList`), it chooses some of Holdfast's. A Holdfast
    jar that is there already, by `spark.jars` or `spark.jars.packages`, is used instead of the
    package's own. A second call changes nothing.

    Spark takes a query's provider class from its checkpoint when there is one: a query that began
    with another provider keeps that one.

    Call it on the driver, from the thread that will create the session, before that.

        spark = holdfast.configure(SparkSession.builder.appName("job")).getOrCreate()

    Args:
        builder: a builder of a classic session, not yet used.
        local_checkpoints: write checkpoints on local or mounted disks from within the JVM. Spark's
            default file manager starts about ten processes for every file there
            (`FileContextBasedCheckpointFileManager` of Spark 4.2), which takes most of the time of
            a small batch. Given up for it: files and folders have the permissions of the process's
            umask rather than those that Hadoop's settings ask for. Other file systems are left to
            Spark's manager, and so is everything when the user has set a manager of their own.

    Returns:
        The same builder.

    Raises:
        PySparkNotInstalledError: there is no pyspark.
        WrongArgumentError: `builder` is none.
        NoJarForSparkLineError: the package has no jar for the installed pyspark.
        WrongSparkLineError: a Holdfast jar that the user asked for is for another Spark line.
        ConfigureOnSparkConnectError: the builder makes a Spark Connect client.
        SessionWithoutHoldfastError: a session runs already that was started without Holdfast.
        JarNotOnClassPathError: a JVM runs already that has no Holdfast jar.
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS cannot be read.
    """
    line = installed_spark_line()
    _require_builder(builder)
    if _jvm.is_of_connect(builder) or _uses_connect(builder._options):
        raise ConfigureOnSparkConnectError(
            {_JARS: str(jar_path(line)), **_START_SETTINGS, _PROVIDER: _PROVIDER_CLASS}
        )
    jvm = _jvm.running_jvm()
    settings = _in_running_jvm(line, jvm) if jvm else _before_start(line, builder)
    for name, ours in _START_SETTINGS.items():
        builder.config(name, _appended(builder._options.get(name) or settings.get(name), ours))
    if not (builder._options.get(_CHARTS) or settings.get(_CHARTS)):
        builder.config(_CHARTS, ",".join(_CHARTED_METRICS))
    if local_checkpoints:
        chosen = builder._options.get(_FILE_MANAGER) or settings.get(_FILE_MANAGER)
        builder.config(_FILE_MANAGER, chosen or _FILE_MANAGER_CLASS)
    return builder.config(_PROVIDER, _PROVIDER_CLASS)


def _require_builder(builder: object) -> None:
    """Check that a builder is one, and no session that somebody has built already."""
    from pyspark.sql import SparkSession

    if not (isinstance(builder, SparkSession.Builder) or _jvm.is_of_connect(builder)):
        expected = "a builder of Spark sessions, as in holdfast.configure(SparkSession.builder)"
        if isinstance(builder, SparkSession):
            expected += ", before it makes a session"
        raise WrongArgumentError(function="configure", expected=expected, found=builder)


def _uses_connect(options: Mapping[str, str]) -> bool:
    """Tell whether Spark would make a Spark Connect client (`SparkSession.Builder` of 4.2)."""
    try:
        from pyspark.sql.utils import is_remote
        from pyspark.util import default_api_mode
    except ImportError:  # before pyspark 4.0, for which there is no jar
        return "spark.remote" in options or "SPARK_REMOTE" in os.environ

    mode = options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", "")).lower()
    return (
        is_remote()
        or "SPARK_REMOTE" in os.environ
        or "spark.remote" in options
        or (mode if mode in ("classic", "connect") else default_api_mode()) == "connect"
    )


def _before_start(line: str, builder: SparkSession.Builder) -> Mapping[str, str]:
    """Add the jar to what the JVM will be started with; return the user's settings for it."""
    settings = _launch_settings.launch_settings(_spark_home())
    wanted = {**settings, **builder._options}
    present = [
        name
        for jars in (settings.get(_JARS), wanted.get(_JARS), wanted.get(_PACKAGES))
        for name in _names(jars)
        if line_of_artifact(name)
    ]
    for name in present:
        if (built_for := line_of_artifact(name)) and built_for != line:
            fitting = next((other for other in present if line_of_artifact(other) == line), None)
            raise WrongSparkLineError(jar=name, built_for=built_for, running=line, fitting=fitting)
    if not present:
        _add_jar(jar_path(line), builder, settings)
    return settings


def _add_jar(jar: Path, builder: SparkSession.Builder, settings: Mapping[str, str]) -> None:
    """Add a jar to the class paths of the driver and of the executors.

    `spark.jars` on the builder does it, but for two cases: the driver ignores it when
    PYSPARK_SUBMIT_ARGS has `--jars`, and it hides the jars of `spark.jars.packages` from the
    executors, because pyspark sets the builder's value again after spark-submit has added those
    (`SparkContext._do_init` of Spark 4.2). In both cases `--jars` has to carry all of them.
    """
    options = builder._options
    if _launch_settings.has_submit_jars() or options.get(_PACKAGES) or settings.get(_PACKAGES):
        own = _names(options.pop(_JARS, None))
        _launch_settings.set_submit_jars(_appended(settings.get(_JARS), *own, str(jar)))
    else:
        builder.config(_JARS, _appended(options.get(_JARS) or settings.get(_JARS), str(jar)))


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
        wanted = dict(_START_SETTINGS)
        if not _jvm.has_bridge(jvm):
            wanted = {_JARS: str(jar_path(line)), **wanted}
        missing = {
            name: _appended(settings.get(name), ours)
            for name, ours in wanted.items()
            if ours not in _names(settings.get(name))
        }
        if missing:
            raise SessionWithoutHoldfastError(missing)
    _jvm.bridge(jvm)
    return settings


def _spark_home() -> Path:
    """Return the Spark distribution that pyspark starts: SPARK_HOME, else pyspark itself."""
    import pyspark

    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def _names(value: str | None) -> list[str]:
    return [name.strip() for name in (value or "").split(",") if name.strip()]


def _appended(value: str | None, *names: str) -> str:
    """Append names to a list separated by commas, unless they are in it."""
    return ",".join(dict.fromkeys([*_names(value), *names]))
