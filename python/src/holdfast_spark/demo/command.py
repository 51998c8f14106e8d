"""The command `holdfast demo`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

# Columns of a report that goes to a file or a pipe.
WIDTH = 120

if TYPE_CHECKING:
    from holdfast_spark.demo.own_files import OwnFiles
    from holdfast_spark.demo.result import DemoResult


@click.command(short_help="Try it: a real stream, killed, resumed and checked.")
@click.option(
    "--input",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Stream the JSON, CSV or Parquet files in DIR instead; needs --key and --time.",
)
@click.option(
    "--key", metavar="COLUMN[,...]", help="Columns of --input to count and describe numbers by."
)
@click.option("--time", metavar="COLUMN", help="Column of --input that says when a row happened.")
@click.option(
    "--window", default="1 hour", show_default=True, help="Length of a window with --input."
)
@click.option(
    "--watermark", default="1 day", show_default=True, help="Delay of the watermark with --input."
)
@click.option(
    "--rows", metavar="N", type=click.IntRange(min=1), help="Take the first N flights only."
)
@click.option(
    "--batches",
    metavar="N",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Cut the input into N micro-batches.",
)
@click.option(
    "--work",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Work in DIR and keep everything: input, checkpoint, output, logs.",
)
@click.option("--plain", is_flag=True, help="Show progress as lines, also on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def demo(  # noqa: PLR0913, PLR0917 - one for each option
    folder: Path | None,
    key: str | None,
    time: str | None,
    window: str,
    watermark: str,
    rows: int | None,
    batches: int,
    work: Path | None,
    plain: bool,
    as_json: bool,
) -> None:
    """Stream real data through Holdfast, kill the query, resume it, and check the result.

    All flights that left New York in 2013, some of them sent twice, go through a streaming query
    that deduplicates them and keeps statistics of their delays. In the middle of a batch the
    query's driver is killed; a new one goes on from the checkpoint. In the end the result is
    compared with the same query computed in batch: exit code 0 means that they agree.

    With --input the query runs over files of your own: rows that agree in --time, --key and all
    numeric columns are one event, and the numbers are described per --key and --window.
    """
    from holdfast_spark.demo.errors import DemoUsageError

    if folder and rows:
        raise click.UsageError("--rows is for the flights and not for --input")
    try:
        own = own_files(folder, key=key, time=time, window=window, watermark=watermark)
        result = run_in_work_folder(work, own, rows=rows, batches=batches, plain=plain)
    except DemoUsageError as error:
        raise click.UsageError(str(error)) from error
    show_result(result, as_json=as_json)


def own_files(
    folder: Path | None,
    *,
    key: str | None,
    time: str | None,
    window: str,
    watermark: str,
) -> OwnFiles | None:
    """Return what the user asked for of files of their own, None for the flights.

    Raises:
        DemoUsageError: options are missing or do not go together, or the folder will not do.
    """
    from holdfast_spark.demo.errors import DemoUsageError
    from holdfast_spark.demo.own_files import find_own_files

    if folder is None:
        if key or time:
            raise DemoUsageError("--key and --time are for files of your own: add --input DIR")
        return None
    keys = tuple(name.strip() for name in (key or "").split(",") if name.strip())
    if not keys or not time:
        raise DemoUsageError(
            f"--input {folder} needs --key COLUMN[,...], to count by, and --time COLUMN, "
            "that says when a row happened"
        )
    return find_own_files(folder, time=time, keys=keys, window=window, watermark=watermark)


def run_in_work_folder(
    work: Path | None, own: OwnFiles | None, *, rows: int | None, batches: int, plain: bool
) -> DemoResult:
    """Run the demo with progress on standard error; a temporary folder goes when all is well.

    Raises:
        DemoError: a step failed; its log is left to be read.
    """
    from rich.console import Console

    from holdfast_spark.demo.errors import DemoUsageError
    from holdfast_spark.demo.progress import open_display
    from holdfast_spark.demo.runner import check_environment, run_demo
    from holdfast_spark.demo.work_folder import close_work_folder, open_work_folder
    from holdfast_spark.errors import HoldfastError

    check_environment(own)
    layout, given = open_work_folder(work), work is not None
    try:
        with open_display(Console(stderr=True), plain=plain) as display:
            result = run_demo(layout, display, own=own, rows=rows, batches=batches)
    except (DemoUsageError, KeyboardInterrupt):
        close_work_folder(layout, keep=given)
        raise
    except HoldfastError:
        close_work_folder(layout, keep=True)
        raise
    close_work_folder(layout, keep=given or bool(result.failures))
    return result


def show_result(result: DemoResult, *, as_json: bool) -> None:
    """Print the result to standard output.

    Raises:
        DemoError: the results do not agree.
    """
    from rich.console import Console

    from holdfast_spark.demo.errors import DemoError
    from holdfast_spark.demo.report import print_report

    if as_json:
        click.echo(json.dumps(result.as_json()))
    else:
        print_report(Console(width=None if sys.stdout.isatty() else WIDTH), result)
    if result.failures:
        raise DemoError(f"{'; '.join(result.failures)}; everything is in {result.work}")
