"""Jars of Holdfast on the class paths of a session that do not go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holdfast_spark._class_paths import class_path, local_path
from holdfast_spark._jars import line_of_artifact, scala_of_artifact
from holdfast_spark._setting_names import EXECUTOR_CLASS_PATH
from holdfast_spark.doctor.diagnosis import Finding, stop, warning


def class_path_findings(
    settings: Mapping[str, str], jars: Sequence[str], *, line: str, scala: str | None
) -> Iterator[Finding]:
    """Yield what is wrong with jars of Holdfast that would be loaded.

    A jar of another line among those of the driver is among what `configure` refuses.

    Args:
        settings: what is set.
        jars: those of the driver, by path, URL or coordinates.
        line: the Spark line.
        scala: line of the Scala of that Spark, None where it is unknown.
    """
    of_executors = [
        name for name in class_path(settings.get(EXECUTOR_CLASS_PATH)) if line_of_artifact(name)
    ]
    for jar in of_executors:
        if (built_for := line_of_artifact(jar)) != line:
            yield stop(
                "jar",
                f"{EXECUTOR_CLASS_PATH} has {jar}, which is for Spark {built_for}, and this is "
                f"Spark {line}: name the jar holdfast-spark_{line} there, or leave it out where "
                "spark.jars brings one.",
            )
    for jar in dict.fromkeys([*jars, *of_executors]):
        built_with = scala_of_artifact(jar)
        if scala and line_of_artifact(jar) == line and built_with != scala:
            yield stop(
                "jar",
                f"{jar} is for Scala {built_with}, and this Spark is built with Scala {scala}: use "
                f"the jar holdfast-spark_{line}_{scala}.",
            )
    for whose, found in (("driver", jars), ("executors", of_executors)):
        several = list(dict.fromkeys(map(local_path, found)))
        if len(several) > 1:
            yield warning(
                "jar",
                f"The class path of the {whose} has {len(several)} jars of Holdfast, and the first "
                f"is used, whichever that is: {', '.join(several)}. Leave one.",
            )
