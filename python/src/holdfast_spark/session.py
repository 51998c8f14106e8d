"""Spark sessions whose streaming queries keep their state in Holdfast."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast_spark import _jvm, _launch_settings
from holdfast_spark._arguments import FLAG, require_arguments
from holdfast_spark._class_paths import jar_list
from holdfast_spark._jars import installed_spark_version
from holdfast_spark._preparation import prepare, require_real_time_mode, require_state_settings
from holdfast_spark._setting_names import (
    CHARTS,
    FILE_MANAGER,
    FILE_MANAGER_CLASS,
    JARS,
    PACKAGES,
    PROVIDER,
    PROVIDER_CLASS,
    REAL_TIME_MODE,
    START_SETTINGS,
    appended,
    is_real_time,
    names,
)
from holdfast_spark.errors import WrongArgumentError
from holdfast_spark.transform import installation
from holdfast_spark.transform._lines import LINES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What the Structured Streaming tab of Spark's UI draws beside rows and memory, by metric name.
_CHARTED_METRICS = (
    "holdfastOpenTimeMs",
    "holdfastLoadTimeMs",
    "holdfastCommitTimeMs",
    "holdfastDeltaBytes",
    "holdfastHeldBytes",
    "holdfastNearMemoryLimitCount",
)


def configure(
    builder: SparkSession.Builder,
    *,
    local_checkpoints: bool = False,
    pipelined_state_calls: bool = False,
    real_time_mode: bool = False,
) -> SparkSession.Builder:
    """Make the session that `builder` will create keep the state of its queries in Holdfast.

    Adds the jar for the installed pyspark, the plugin and the session extension to what the user
    asked for on the builder, in spark-defaults.conf and in PYSPARK_SUBMIT_ARGS, and sets the
    provider class, also where another one was set: this call asks for it. Where nobody has chosen
    the store metrics that the Structured Streaming tab draws
    (`spark.sql.streaming.ui.enabledCustomMetricList`), it chooses some of Holdfast's. A Holdfast
    jar that is there already, by `spark.jars`, `spark.jars.packages` or the driver's class path, or
    among the jars of Spark itself, is used instead of the package's own. A second call changes
    nothing. What it checks first, `holdfast doctor` tells of without a session.

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
            umask rather than those that Hadoop's settings ask for. On `s3a` every file is one
            upload, without renaming. Other file systems are left to Spark's manager, and so is
            everything when the user has set a manager of their own.
        pipelined_state_calls: let `transformWithState` and `transformWithStateInPandas` of this
            Python process read and change the state of many keys at once, instead of waiting for
            each call (Spark 4.2 and 4.3; `holdfast_spark.transform` tells how). What a processor
            sees is the same, but that an error of a call that returns nothing comes with a later
            one, at the latest before the batch commits. Other Spark lines keep Spark's client, and
            a `UserWarning` says so. False leaves Spark's client and server, also where an earlier
            call replaced them.
        real_time_mode: let new queries run in real-time mode, `trigger(realTime=...)` of Spark 4.3,
            as well as in micro-batches, and go from one to the other. Spark refuses real-time mode
            where the session sets a provider class
            (`StreamingQueryManager.throwIfConfsAreRealTimeModeIncompatible` of Spark 4.3). So it is
            left unset, and the session extension gives Holdfast to each new query, with checkpoint
            format 2. It is the same as
            `spark.sql.streaming.stateStore.holdfast.realTimeMode` set to true, where that is.

    Returns:
        The same builder.

    Raises:
        PySparkNotInstalledError: there is no pyspark.
        WrongArgumentError: `builder` is none, or a switch is neither True nor False.
        NoJarForSparkLineError: the package has no jar for the installed pyspark.
        TooOldSparkError: Spark is older than the first release of its line that the jar fits.
        SparkHomeOfAnotherLineError: SPARK_HOME has a Spark of another line than pyspark's.
        SparkHomeNotFoundError: SPARK_HOME has no Spark.
        WrongSparkLineError: a Holdfast jar that the user asked for is for another Spark line.
        WrongScalaError: it is for another Scala than that Spark is built with.
        NoSuchArtifactError: the user asked for coordinates of Holdfast that are no jar's.
        JarNotFoundError: a Holdfast jar that the user asked for is not there.
        ConfigureOnSparkConnectError: the builder makes a Spark Connect client.
        SessionWithoutHoldfastError: a session runs already that was started without Holdfast.
        JarNotOnClassPathError: a JVM runs already that has no Holdfast jar.
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS cannot be read.
        NoPysparkShellError: PYSPARK_SUBMIT_ARGS does not end with pyspark-shell.
        NoSuchCodecError: the state codec that is set cannot be one of Spark's.
        NoSuchSettingError: a setting is named as Holdfast's are, and there is none of that name.
        WrongSettingError: the value of a setting of Holdfast means nothing.
        TooSmallLimitError: the memory limit that is set is too small for any store.
        NoRealTimeModeError: real-time mode is asked for, and Spark is older than 4.3.
        ProviderInRealTimeModeError: real-time mode is asked for, and spark-defaults.conf,
            PYSPARK_SUBMIT_ARGS or a running session set a provider class.
    """
    installed_spark_version()
    require_arguments(
        "configure",
        local_checkpoints=(local_checkpoints, FLAG),
        pipelined_state_calls=(pipelined_state_calls, FLAG),
        real_time_mode=(real_time_mode, FLAG),
    )
    _require_builder(builder)
    prepared = prepare(builder._options, connect=_jvm.is_of_connect(builder))
    require_state_settings(prepared, builder._options)
    settings = prepared.settings
    in_real_time = real_time_mode or is_real_time({**settings, **builder._options})
    if in_real_time:
        require_real_time_mode(prepared)
    if jars := builder._options.get(JARS):
        # Pyspark gives executors the builder's value, of which spark-submit alone knows patterns.
        builder.config(JARS, ",".join(jar_list(jars)))
    if _jvm.running_jvm() is None:
        _add_jars([prepared.jar] if prepared.jar else [], builder, settings)
    for name, ours in START_SETTINGS.items():
        builder.config(name, appended(builder._options.get(name) or settings.get(name), ours))
    if not (builder._options.get(CHARTS) or settings.get(CHARTS)):
        builder.config(CHARTS, ",".join(_CHARTED_METRICS))
    if local_checkpoints:
        chosen = builder._options.get(FILE_MANAGER) or settings.get(FILE_MANAGER)
        builder.config(FILE_MANAGER, chosen or FILE_MANAGER_CLASS)
    if not pipelined_state_calls:
        installation.remove()
    elif not installation.install():
        warnings.warn(
            f"pipelined_state_calls changes nothing on Spark {installed_spark_version()}: expected "
            f"Spark {' or '.join(sorted(LINES))}; transformWithState has Spark's client.",
            stacklevel=2,
        )
    if in_real_time:
        builder._options.pop(PROVIDER, None)
        return builder.config(REAL_TIME_MODE, "true")
    return builder.config(PROVIDER, PROVIDER_CLASS)


def _require_builder(builder: object) -> None:
    """Check that a builder is one, and no session that somebody has built already."""
    from pyspark.sql import SparkSession

    if not (isinstance(builder, SparkSession.Builder) or _jvm.is_of_connect(builder)):
        expected = "a builder of Spark sessions, as in holdfast.configure(SparkSession.builder)"
        if isinstance(builder, SparkSession):
            expected += ", before it makes a session"
        raise WrongArgumentError(function="configure", expected=expected, found=builder)


def _add_jars(
    more: Sequence[Path], builder: SparkSession.Builder, settings: Mapping[str, str]
) -> None:
    """Add jars, and those of the builder, to the class paths of the driver and of the executors.

    Whose `spark.jars` they have, the first that is there (pyspark's `launch_gateway` and
    `SparkContext._do_init`, and `SparkSubmitArguments`, of Spark 4.3):

    | driver                            | executors                         |
    |-----------------------------------|-----------------------------------|
    | `--jars` in PYSPARK_SUBMIT_ARGS   | the builder                       |
    | `--conf` in PYSPARK_SUBMIT_ARGS   | `--jars` in PYSPARK_SUBMIT_ARGS   |
    | the builder, as an earlier --conf | `--conf` in PYSPARK_SUBMIT_ARGS   |
    | files of settings                 | files of settings                 |

    What `spark.jars.packages` brings, spark-submit adds to the value that the driver has: a value
    of the builder hides it from the executors. So the builder's does for both, but where
    PYSPARK_SUBMIT_ARGS has jars or there are packages. There `--jars` has to carry all of them, and
    the builder has none.
    """
    options = builder._options
    of_builder = options.get(JARS)
    added = [*names(of_builder), *map(str, more)]
    if not added:
        return
    if _launch_settings.has_submit_jars() or options.get(PACKAGES) or settings.get(PACKAGES):
        options.pop(JARS, None)
        _launch_settings.set_submit_jars(appended(settings.get(JARS), *added))
    else:
        builder.config(JARS, appended(of_builder or settings.get(JARS), *added))
