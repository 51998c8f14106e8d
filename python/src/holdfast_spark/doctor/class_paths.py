"""Jars of Holdfast on the class paths of a session that do not go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holdfast_spark._artifacts import artifact_of
from holdfast_spark._class_paths import class_path, local_path
from holdfast_spark._setting_names import EXECUTOR_CLASS_PATH
from holdfast_spark.doctor.diagnosis import Finding, stop, warning
from holdfast_spark.errors import WrongScalaError


def class_path_findings(
    settings: Mapping[str, str], jars: Sequence[str], *, line: str, scala: str | None
) -> Iterator[Finding]:
    """Yield what is wrong with jars of Holdfast that would be loaded.

    A jar of another line or Scala among those of the driver is among what `configure` refuses.

    Args:
        settings: what is set.
        jars: those of the driver, by path, URL or coordinates.
        line: the Spark line.
        scala: line of the Scala of that Spark, None where it is unknown.
    """
    of_executors = {
        name: found
        for name in class_path(settings.get(EXECUTOR_CLASS_PATH))
        if (found := artifact_of(name))
    }
    for jar, artifact in of_executors.items():
        if artifact.line != line:
            yield stop(
                "jar",
                f"{EXECUTOR_CLASS_PATH} has {jar}, which is for Spark {artifact.line}, and this is "
                f"Spark {line}: name the jar holdfast-spark_{line} there, or leave it out where "
                "spark.jars brings one.",
            )
        elif scala and artifact.scala != scala:
            error = WrongScalaError(jar=jar, line=line, built_for=artifact.scala, running=scala)
            yield stop("jar", str(error))
    for whose, named in (("driver", jars), ("executors", list(of_executors))):
        several = list(dict.fromkeys(map(local_path, named)))
        if len(several) > 1:
            yield warning(
                "jar",
                f"The class path of the {whose} has {len(several)} jars of Holdfast, and the first "
                f"is used, whichever that is: {', '.join(several)}. Leave one.",
            )
