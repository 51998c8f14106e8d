"""The command `holdfast doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from holdfast_spark._text import counted
from holdfast_spark.cli.checkpoint_command import CheckpointCommand, json_option, print_json
from holdfast_spark.errors import EnvironmentNotInOrderError

if TYPE_CHECKING:
    from holdfast_spark.doctor import Diagnosis

_NAMES = 10


@click.command(
    "doctor",
    cls=CheckpointCommand,
    short_help="What this environment has, and what is in the way.",
    result="holdfast_spark.doctor:Diagnosis",
)
@json_option
def doctor(as_json: bool) -> None:
    """Tell what this environment has for Holdfast, what is in the way of it, and what to do.

    Python and those that PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON name, pyspark and who built it,
    SPARK_HOME, Spark Connect, Java, the Spark line and the jar for it; what spark-defaults.conf and
    PYSPARK_SUBMIT_ARGS say of the sessions that are made here, which of these settings contradict
    each other, and what Spark cannot read of the arguments and of spark-env.sh. It starts no Spark
    and runs no script. In a notebook or a job, holdfast_spark.doctor.examine() looks at the session
    that is active.

    Exit code 0 means that nothing stops Holdfast from working here, 1 that something does: all that
    holdfast.configure would refuse, and settings with which sessions or queries fail.
    """
    from holdfast_spark.doctor import examine

    found = examine()
    if as_json:
        print_json(found)
    else:
        print_diagnosis(found)
    if not found.works:
        stops = sum(finding.stops for finding in found.findings)
        raise EnvironmentNotInOrderError(count=stops)


def print_diagnosis(found: Diagnosis) -> None:
    """Print what an environment has, and below it what is not in order."""
    for name, value in _facts(found):
        click.echo(f"{name:<{_NAMES}}{value}")
    width = max(map(len, found.settings), default=0)
    for setting, value in found.settings.items():
        click.echo(f"  {setting:<{width}}  {value}")
    for finding in found.findings:
        click.echo(f"{'stops' if finding.stops else 'warning'}: {finding.error}")
    if found.works:
        warnings = counted(len(found.findings), "warning")
        more = f", with {warnings}" if found.findings else ""
        click.echo(f"Holdfast works here{more}.")


def _facts(found: Diagnosis) -> Iterator[tuple[str, str]]:
    lines = ", ".join(found.lines)
    yield "Holdfast", f"{found.holdfast}, with jars for Spark {lines or 'none'}"
    yield "Python", f"{found.python}, {found.python_path}"
    if pyspark := found.pyspark:
        what = "a client of Spark Connect, " if pyspark.client_only else ""
        yield (
            "pyspark",
            f"{pyspark.version} ({what}{', '.join(pyspark.packages)}), {pyspark.folder}",
        )
    if spark := found.spark:
        scala = f" with Scala {spark.scala}" if spark.scala else ""
        yield "Spark", f"{spark.version or 'of unknown version'}{scala}, {spark.home}"
    if java := found.java:
        yield "Java", f"{java.version}, {java.path}, named by {java.named_by}"
    if found.line:
        yield "jar", f"{found.jar or 'none'}, for Spark {found.line}"
    if found.session:
        yield "session", f"Spark {found.session}"
    if found.pyspark:
        yield "settings", " and ".join(found.settings_from) or "none"
