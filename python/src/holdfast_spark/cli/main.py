"""Parses the command line, runs a command and turns errors into sentences and exit codes."""

import sys
import traceback

import click

from holdfast_spark import __version__
from holdfast_spark._artifacts import artifact_of
from holdfast_spark._jars import (
    installed_spark_version,
    jar_path,
    jar_paths,
    spark_line,
    too_old_for,
)
from holdfast_spark._text import cause_text
from holdfast_spark.cli.diff_versions import diff
from holdfast_spark.cli.examine_environment import doctor
from holdfast_spark.cli.inspect_checkpoint import inspect
from holdfast_spark.cli.migrate_checkpoint import migrate
from holdfast_spark.cli.output import escape_what_is_not_encoded, print_result
from holdfast_spark.cli.plan_capacity import plan
from holdfast_spark.cli.repair_checkpoint import repair
from holdfast_spark.cli.repartition_checkpoint import repartition
from holdfast_spark.cli.report_checkpoint import report
from holdfast_spark.cli.savepoint_checkpoint import savepoint
from holdfast_spark.cli.show_rows import show
from holdfast_spark.cli.termination import undone_by_sigterm
from holdfast_spark.cli.verify_checkpoint import verify
from holdfast_spark.demo.command import demo
from holdfast_spark.errors import HoldfastError, PySparkNotInstalledError, TooOldSparkError

FAILED = 1


class ReportingGroup(click.Group):
    """A group of commands whose errors are reported in one sentence, with exit code 1.

    click itself reports wrong usage, with exit code 2. `--verbose` adds the traceback.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click gives it
        """Return the names of the commands in the order that they were added in."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that the user named."""
        escape_what_is_not_encoded()
        try:
            with undone_by_sigterm():
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            # Who reads the output has seen enough; click ends without a word.
            raise
        except Exception as e:  # noqa: BLE001 - whatever fails, the user gets a sentence
            if ctx.params["verbose"]:
                traceback.print_exc()
            click.echo(f"Error: {_sentence(e)}", err=True)
            sys.exit(FAILED)


def _sentence(error: Exception) -> str:
    if isinstance(error, HoldfastError):
        return str(error)
    kind, cause = type(error).__name__, cause_text(error)
    said = kind if cause == kind else f"{kind}: {cause}"
    return f"{said} (holdfast --verbose shows where it comes from)"


@click.group(cls=ReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="holdfast", message="%(prog)s %(version)s")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of an error.")
def main(verbose: bool) -> None:
    """Holdfast, a state store for Spark Structured Streaming.

    The commands about checkpoints take what the query has as checkpointLocation: a local path, or a
    URL of a file system that fsspec knows, such as s3://bucket/path. They need no Spark. Those that
    change a checkpoint say what they would do, and do it with --apply.
    """


@main.command(short_help="Path of the jar for a Spark line.")
@click.option("--spark", "line", metavar="LINE", help="Spark line, such as 4.2, or its version.")
@click.option("--scala", metavar="VERSION", help="Scala of that Spark, such as 2.13.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def jar(line: str | None, scala: str | None, as_json: bool) -> None:
    """Print the path of the jar for a Spark line.

    Without --spark it is the line of the installed pyspark. Spark 3.5 is built with Scala 2.12 and
    2.13. Without --scala it is that of the installed pyspark if this is of the line, or else 2.12,
    which the pyspark of PyPI has.
    """
    was_named = line is not None
    try:
        version = line or installed_spark_version()
    except PySparkNotInstalledError as e:
        instead = f"name the line with --spark, one of {', '.join(jar_paths())}"
        raise PySparkNotInstalledError(instead=instead) from e
    line = spark_line(version)
    path = jar_path(line, scala=scala, was_named=was_named)
    if oldest := too_old_for(path, version):
        raise TooOldSparkError(version=version, oldest=oldest)
    artifact = artifact_of(str(path))
    found = {"line": line, "scala": artifact.scala if artifact else None, "path": str(path)}
    print_result(found, text=str(path), as_json=as_json)


for command in (
    *(doctor, demo, inspect, show, verify, diff, report),
    *(repair, migrate, repartition, savepoint, plan),
):
    main.add_command(command)
