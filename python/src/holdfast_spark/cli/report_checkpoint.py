"""The command `holdfast report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    json_option,
    open_checkpoint,
    open_location,
    print_json,
    progress_bar,
    require_outside,
    storage_option,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.files.location import Location


@click.command(
    "report",
    cls=CheckpointCommand,
    short_help="A page with plots: growth, deltas, skew, hot keys.",
    result="holdfast_spark.report:Report",
)
@click.argument("path")
@click.option("-o", "--output", metavar="FILE", help="Write the page to FILE, a path or a URL.")
@storage_option
@json_option
def report(path: str, output: str | None, storage_options: tuple[str, ...], as_json: bool) -> None:
    """Write a page with plots about the checkpoint at PATH.

    Rows and bytes by version, changes, delta sizes, snapshots and the deltas behind them,
    partitions, and the keys that change most, for each store of each operator; and at the head what
    holdfast inspect tells. The page is one HTML file that needs nothing but itself, for a screen of
    any size and for print. Its plots need the extra `report` of this package.

    Every delta file is read, and of snapshots those that the oldest deltas go on from. The query
    may run meanwhile.

    With --json the same figures are printed; --output may then be left out.
    """
    from holdfast_spark.report import make_report, write_page

    if not output and not as_json:
        raise click.UsageError("report needs --output FILE, or --json")
    if output and output.endswith(".json"):
        raise click.UsageError(
            f"--output takes a page of HTML, and {output} is to be JSON: name a file such as "
            "report.html, or have the figures printed with --json alone"
        )
    page = _place(output, storage_options) if output else None
    checkpoint = open_checkpoint(path, storage_options)
    require_outside(checkpoint, page)
    with progress_bar("reading") as on_file:
        found = make_report(checkpoint, on_file=on_file)
    if page:
        write_page(found, page)
    if as_json:
        print_json(found)
    else:
        click.echo(f"Wrote {output}.")


def _place(output: str, storage_options: tuple[str, ...]) -> Location:
    """Return where the page is to be, having made sure as far as one can that it can be written."""
    from holdfast_spark.report import require_extra, require_place

    require_extra()
    file = open_location(output, storage_options)
    require_place(file)
    return file
