"""Every failure that this package reports, one class each.

The text of an error is one sentence that says what is wrong and what to do about it; the command
line prints it as it is. All of them are a `HoldfastError`:

    from holdfast_spark.errors import HoldfastError, RunningQueryError

Every function raises a `WrongArgumentError`, which is a `TypeError` too, for what it does not take.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast_spark.capacity.described import DescriptionError
    from holdfast_spark.capacity.observed import UnplannableError
    from holdfast_spark.checkpoint.changes.family_spread import UnlikeFamiliesError
    from holdfast_spark.checkpoint.changes.fence import ContradictingLogsError
    from holdfast_spark.checkpoint.changes.initial_state import InitialStateError
    from holdfast_spark.checkpoint.changes.partition_numbers import (
        OtherPartitionsError,
        UnfinishedRepartitionError,
    )
    from holdfast_spark.checkpoint.changes.repartition import RepartitionError
    from holdfast_spark.checkpoint.changes.savepoint import SavepointError
    from holdfast_spark.checkpoint.changes.spark_state import SparkStateError
    from holdfast_spark.checkpoint.changes.spread import MisplacedRowsError
    from holdfast_spark.checkpoint.difference import IncomparableError
    from holdfast_spark.checkpoint.errors import (
        CheckpointError,
        CleanedUpError,
        ContradictedStateError,
        ConversionError,
        DamagedRowError,
        DamagedStateFileError,
        ForbiddenPathError,
        GoneFileError,
        LostOffsetsError,
        MalformedFileError,
        MetRunError,
        MigrationError,
        MissingSchemaError,
        MissingVersionError,
        NewerFileError,
        NoBatchError,
        NoSuchStoreError,
        NotACheckpointError,
        NotAJoinError,
        PlannedBatchError,
        RocksDBStateError,
        RunningQueryError,
        UnansweredError,
        UnknownFormatError,
        UnknownProviderError,
        UnreadablePathError,
        UnsupportedProviderError,
    )
    from holdfast_spark.checkpoint.files.ddl import DdlError
    from holdfast_spark.checkpoint.files.journals import (
        ChangedMeanwhileError,
        ChangeUnderWayError,
        UnfinishedChangeError,
    )
    from holdfast_spark.checkpoint.rows.key_filter import KeyFilterError
    from holdfast_spark.checkpoint.rows.partitioning import UnknownPlacementError
    from holdfast_spark.report import MissingExtraError

__all__ = [
    "ChangeUnderWayError",
    "ChangedMeanwhileError",
    "CheckpointError",
    "CleanedUpError",
    "ConfigureOnSparkConnectError",
    "ContradictedStateError",
    "ContradictingLogsError",
    "ConversionError",
    "DamagedRowError",
    "DamagedStateFileError",
    "DdlError",
    "DescriptionError",
    "EnvironmentNotInOrderError",
    "ForbiddenPathError",
    "GoneFileError",
    "HoldfastError",
    "IncomparableError",
    "InitialStateError",
    "JarNotFoundError",
    "JarNotOnClassPathError",
    "KeyFilterError",
    "LostOffsetsError",
    "MalformedFileError",
    "MetRunError",
    "MigrationError",
    "MisplacedRowsError",
    "MissingExtraError",
    "MissingSchemaError",
    "MissingVersionError",
    "NewerFileError",
    "NoActiveSessionError",
    "NoBatchError",
    "NoJarForScalaError",
    "NoJarForSparkLineError",
    "NoJavaError",
    "NoPysparkShellError",
    "NoRealTimeModeError",
    "NoSuchArtifactError",
    "NoSuchCodecError",
    "NoSuchSettingError",
    "NoSuchStoreError",
    "NotACheckpointError",
    "NotAJoinError",
    "OtherPartitionsError",
    "PlannedBatchError",
    "ProviderInRealTimeModeError",
    "PySparkNotInstalledError",
    "RepartitionError",
    "RocksDBStateError",
    "RunningQueryError",
    "SavepointError",
    "SessionWithoutHoldfastError",
    "SparkConnectError",
    "SparkHomeNotFoundError",
    "SparkHomeOfAnotherLineError",
    "SparkStateError",
    "StoresInExecutorsError",
    "SubmitArgumentsError",
    "TooOldSparkError",
    "TooSmallLimitError",
    "UnansweredError",
    "UnfinishedChangeError",
    "UnfinishedRepartitionError",
    "UnknownFormatError",
    "UnknownPlacementError",
    "UnknownProviderError",
    "UnlikeFamiliesError",
    "UnplannableError",
    "UnreadablePathError",
    "UnreadablePropertiesError",
    "UnsupportedProviderError",
    "WrongArgumentError",
    "WrongScalaError",
    "WrongSettingError",
    "WrongSparkLineError",
]

# Where those are defined that lie beside what raises them. They are imported when they are asked
# for: all that they lie beside needs this module, and much of it a library.
_ELSEWHERE = {
    "holdfast_spark.capacity.described": ("DescriptionError",),
    "holdfast_spark.capacity.observed": ("UnplannableError",),
    "holdfast_spark.checkpoint.changes.family_spread": ("UnlikeFamiliesError",),
    "holdfast_spark.checkpoint.changes.fence": ("ContradictingLogsError",),
    "holdfast_spark.checkpoint.changes.initial_state": ("InitialStateError",),
    "holdfast_spark.checkpoint.changes.partition_numbers": (
        "OtherPartitionsError",
        "UnfinishedRepartitionError",
    ),
    "holdfast_spark.checkpoint.changes.repartition": ("RepartitionError",),
    "holdfast_spark.checkpoint.changes.savepoint": ("SavepointError",),
    "holdfast_spark.checkpoint.changes.spark_state": ("SparkStateError",),
    "holdfast_spark.checkpoint.changes.spread": ("MisplacedRowsError",),
    "holdfast_spark.checkpoint.difference": ("IncomparableError",),
    "holdfast_spark.checkpoint.errors": (
        "CheckpointError",
        "CleanedUpError",
        "ContradictedStateError",
        "ConversionError",
        "DamagedRowError",
        "DamagedStateFileError",
        "ForbiddenPathError",
        "GoneFileError",
        "LostOffsetsError",
        "MalformedFileError",
        "MetRunError",
        "MigrationError",
        "MissingSchemaError",
        "MissingVersionError",
        "NewerFileError",
        "NoBatchError",
        "NoSuchStoreError",
        "NotACheckpointError",
        "NotAJoinError",
        "PlannedBatchError",
        "RocksDBStateError",
        "RunningQueryError",
        "UnansweredError",
        "UnknownFormatError",
        "UnknownProviderError",
        "UnreadablePathError",
        "UnsupportedProviderError",
    ),
    "holdfast_spark.checkpoint.files.ddl": ("DdlError",),
    "holdfast_spark.checkpoint.files.journals": (
        "ChangeUnderWayError",
        "ChangedMeanwhileError",
        "UnfinishedChangeError",
    ),
    "holdfast_spark.checkpoint.rows.key_filter": ("KeyFilterError",),
    "holdfast_spark.checkpoint.rows.partitioning": ("UnknownPlacementError",),
    "holdfast_spark.report": ("MissingExtraError",),
}


class HoldfastError(Exception):
    """Base of every error that this package raises on purpose."""


class WrongArgumentError(HoldfastError, TypeError):
    """A function was given something else than it takes."""

    def __init__(self, *, function: str, expected: str, found: object) -> None:
        shown = type(found).__name__
        if found is None or isinstance(found, int | float):
            shown = str(found)
        elif isinstance(found, timedelta):
            shown = f"{found.total_seconds():g} s"
        elif isinstance(found, str) and (found.isalnum() or not found):
            shown += f" {found[:40]!r}"
        super().__init__(f"holdfast.{function} expects {expected}, found {shown}.")


class PySparkNotInstalledError(HoldfastError):
    """There is no pyspark in this Python environment."""

    def __init__(self, *, instead: str | None = None) -> None:
        super().__init__(
            "Holdfast needs pyspark, and this Python environment has none: "
            "install it with pip install pyspark" + (f", or {instead}." if instead else ".")
        )


class NoJarForSparkLineError(HoldfastError):
    """The package carries no jar for the Spark line asked for."""

    def __init__(
        self,
        *,
        line: str,
        available: Iterable[str],
        vendor: str | None = None,
        was_named: bool = False,
    ) -> None:
        lines, line = ", ".join(available), line or "''"
        line, pyspark = (
            (f"{line}, which is a version of {vendor}", "Apache's pyspark")
            if vendor
            else (line, "a pyspark")
        )
        super().__init__(
            f"Holdfast has no jar for Spark {line}; it has jars for Spark {lines}: "
            + ("name one of these." if was_named else f"use {pyspark} of one of these lines.")
            if lines
            else f"Holdfast has no jar for Spark {line} because this installation has no jars at "
            "all: install a wheel, or run ./dev build in a source checkout."
        )


class NoJarForScalaError(HoldfastError):
    """The package carries jars for the Spark line asked for, and none for the Scala."""

    def __init__(self, *, line: str, scala: str, available: Iterable[str]) -> None:
        super().__init__(
            f"Holdfast has no jar for Spark {line} with Scala {scala or repr(scala)}; it has those "
            f"for Scala {', '.join(available)}: name one of these."
        )


class TooOldSparkError(HoldfastError):
    """Spark is of the right line, and of a release before the first that the jar fits."""

    def __init__(self, *, version: str, oldest: str) -> None:
        super().__init__(
            f"This is Spark {version}, and the jar for its line needs {oldest} or newer, for the "
            f"state store interface changed: use Spark {oldest} or newer."
        )


class NoJavaError(HoldfastError):
    """There is no Java that runs Spark."""


class UnreadablePropertiesError(HoldfastError):
    """Spark's file of settings cannot be read."""

    def __init__(self, *, path: str, why: str) -> None:
        super().__init__(
            f"{path}, in which Spark looks for settings, cannot be read: {why}. Let the user that "
            "starts Spark read it, or let SPARK_CONF_DIR name another folder."
        )


class WrongSparkLineError(HoldfastError):
    """A Holdfast jar was built for another Spark line than the one in use."""

    def __init__(
        self, *, jar: str, built_for: str, running: str, fitting: str | None = None
    ) -> None:
        super().__init__(
            f"{jar} is for Spark {built_for}, but this is Spark {running}: "
            + (
                f"leave it out, for {fitting} is there too and fits."
                if fitting
                else "leave it out, and holdfast.configure adds the one that fits, whose path "
                f"holdfast jar --spark {running} prints."
            )
        )


class WrongScalaError(HoldfastError):
    """A Holdfast jar was built for another Scala than the Spark in use."""

    def __init__(self, *, jar: str, line: str, built_for: str, running: str) -> None:
        super().__init__(
            f"{jar} is for Scala {built_for}, and this Spark is built with Scala {running}: use "
            f"the jar holdfast-spark_{line}_{running}, whose path "
            f"holdfast jar --spark {line} --scala {running} prints."
        )


class NoSuchArtifactError(HoldfastError):
    """Maven coordinates of Holdfast are none that it is published by."""

    def __init__(self, *, setting: str, found: str, expected: str | None) -> None:
        super().__init__(
            f"{setting} names {found!r}, and Holdfast is not published by these coordinates: "
            f"write {expected}, or leave it out, and holdfast.configure adds the jar of the "
            "package."
        )


class JarNotFoundError(HoldfastError):
    """A Holdfast jar that the user asked for is not there."""

    def __init__(self, *, jar: str) -> None:
        super().__init__(
            f"spark.jars names {jar}, and there is no such file: correct the path, or leave it "
            "out, and holdfast.configure adds the jar of the package."
        )


class SparkHomeOfAnotherLineError(HoldfastError):
    """SPARK_HOME, or else pyspark itself, has a Spark of another line than pyspark says."""

    def __init__(self, *, home: str, installed: str, line: str, named: bool) -> None:
        super().__init__(
            f"SPARK_HOME is {home}, which is Spark {installed}, and the installed pyspark is of "
            f"Spark {line}: unset SPARK_HOME, or use the pyspark of that Spark."
            if named
            else f"The installed pyspark is of Spark {line}, and the jars in its folder {home} are "
            f"of Spark {installed}: remove that folder, and install pyspark anew."
        )


class SparkHomeNotFoundError(HoldfastError):
    """SPARK_HOME names a folder without a Spark that could be started."""

    def __init__(self, *, home: str) -> None:
        what = repr(home) if home else "empty, which pyspark takes for the current folder"
        super().__init__(
            f"SPARK_HOME is {what}, and there is no Spark: expected a folder with the program "
            "bin/spark-submit. Unset SPARK_HOME, and pyspark starts the Spark that it brings, or "
            "point it at a Spark."
        )


class SparkConnectError(HoldfastError):
    """Something needs the JVM of the driver, which a Spark Connect client does not have."""


class ConfigureOnSparkConnectError(SparkConnectError):
    """A Spark Connect session cannot be configured from its client."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(
            "This is a Spark Connect client, and only the server can load a state store provider: "
            f"start the Spark Connect server with these settings:\n{as_lines(settings)}"
        )


class SessionWithoutHoldfastError(HoldfastError):
    """A Spark session that runs already lacks what only a new one can be given."""

    def __init__(self, missing: Mapping[str, str]) -> None:
        super().__init__(
            "A Spark session runs already and lacks settings that are read only when Spark "
            "starts: call holdfast.configure before the first session is made, or start Spark "
            f"with these settings added:\n{as_lines(missing)}"
        )


class NoRealTimeModeError(HoldfastError):
    """Spark has no real-time mode for queries with state."""

    def __init__(self, *, line: str, first: str) -> None:
        super().__init__(
            f"This is Spark {line}, which has no real-time mode for queries with state: use Spark "
            f"{first} or newer, or leave out real_time_mode."
        )


class ProviderInRealTimeModeError(HoldfastError):
    """A provider class is set where Spark refuses real-time mode for it."""

    def __init__(self, *, setting: str, found: str) -> None:
        super().__init__(
            f"{setting} is set to {found} in spark-defaults.conf, in PYSPARK_SUBMIT_ARGS or in a "
            "session that runs, and Spark refuses real-time mode where it is set: take it out "
            "there. New queries keep their state in Holdfast without it."
        )


class NoActiveSessionError(HoldfastError):
    """No Spark session is active."""

    def __init__(self) -> None:
        super().__init__(
            "There is no active Spark session: make one with "
            "holdfast.configure(SparkSession.builder).getOrCreate() or pass yours."
        )


class JarNotOnClassPathError(HoldfastError):
    """The running JVM does not have the Holdfast jar on its class path."""

    def __init__(self, *, line: str) -> None:
        super().__init__(
            "Spark's JVM runs already, without the Holdfast jar on its class path: restart Python "
            "and call holdfast.configure before anything starts Spark, or start it with "
            f"spark-submit --jars $(holdfast jar --spark {line})."
        )


class StoresInExecutorsError(HoldfastError):
    """The stores of a session are in executors, whose JVMs cannot be asked."""

    def __init__(self, *, master: str) -> None:
        super().__init__(
            f"The state stores of this session are in the executors of {master}, and only those of "
            "the driver can be asked (local mode): read the metrics from the progress of the query "
            "with holdfast.metrics.progress_metrics(query)."
        )


class EnvironmentNotInOrderError(HoldfastError):
    """Something in an environment stops Holdfast from working, which has been told."""

    def __init__(self, *, count: int) -> None:
        found = "one finding stops" if count == 1 else f"{count} findings stop"
        super().__init__(f"Holdfast does not work here: {found} it.")


class SubmitArgumentsError(HoldfastError):
    """The environment variable PYSPARK_SUBMIT_ARGS cannot be read."""

    def __init__(self, *, arguments: str, reason: str) -> None:
        super().__init__(
            f"PYSPARK_SUBMIT_ARGS is {arguments!r}, which cannot be split into arguments "
            f"({reason}): correct or unset it."
        )


class NoPysparkShellError(HoldfastError):
    """PYSPARK_SUBMIT_ARGS does not end with what spark-submit is to run for a Python."""

    def __init__(self, *, arguments: str, instead: str) -> None:
        super().__init__(
            f"PYSPARK_SUBMIT_ARGS is {arguments!r}, and expected is pyspark-shell at its end: "
            "without it Spark does not start, and what stands behind it Spark does not read. Set "
            f"it to {instead!r}."
        )


class NoSuchCodecError(HoldfastError):
    """The setting of the codec of state files names none."""

    def __init__(self, *, setting: str, found: str, known: Iterable[str]) -> None:
        super().__init__(
            f"{setting} is {found!r}, and there is no such codec. Queries that start with it would "
            f"be bound to it by their checkpoints: give {', '.join(known)}, or the name of a "
            "class, or leave it out."
        )


class NoSuchSettingError(HoldfastError):
    """A setting is named as those of Holdfast are, and Holdfast has none of that name."""

    def __init__(self, *, setting: str, instead: Iterable[str]) -> None:
        super().__init__(
            f"{setting} is no setting of Holdfast: write {' or '.join(instead)}, or leave it out. "
            "docs/settings.md has all of them."
        )


class WrongSettingError(HoldfastError):
    """A setting of Holdfast has a value that means nothing."""

    def __init__(self, *, setting: str, found: str, expected: str) -> None:
        super().__init__(f"{setting} is {found!r}: give {expected}, or leave it out.")


class TooSmallLimitError(HoldfastError):
    """The memory limit is so small that no store could work."""

    def __init__(
        self, *, setting: str, found: str, size: str, least: str, meant: Sequence[str]
    ) -> None:
        forgotten = f": its unit was probably forgotten, and {' or '.join(meant)} meant"
        super().__init__(
            f"{setting} is {found!r}, {size}, and state stores need at least {least}"
            f"{forgotten if meant else ''}. Give bytes such as 8g, or a share of the heap such as "
            "40%, or leave it out."
        )


def as_lines(settings: Mapping[str, str]) -> str:
    """Format settings as in spark-defaults.conf, one a line, indented by two spaces."""
    return "\n".join(f"  {key}  {value}" for key, value in settings.items())


if not TYPE_CHECKING:  # for a type checker there is no other name than those

    def __getattr__(name: str) -> type[HoldfastError]:
        for module, names in _ELSEWHERE.items():
            if name in names:
                return getattr(importlib.import_module(module), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
