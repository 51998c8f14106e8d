"""The command `holdfast savepoint`."""

from __future__ import annotations

import click

from holdfast_spark._text import counted
from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    json_option,
    number_option,
    open_location,
    open_to_change,
    print_json,
    progress_bar,
    storage_option,
    warn_of,
)


@click.command(
    "savepoint",
    cls=CheckpointCommand,
    short_help="A consistent copy at a batch.",
    result="holdfast_spark.checkpoint.changes.savepoint:Savepoint",
)
@click.argument("path")
@click.argument("target")
@number_option(
    "--batch-id",
    help="The batch to end with; the newest committed one by default.",
)
@storage_option
@json_option
def savepoint(
    path: str,
    target: str,
    batch_id: int | None,
    storage_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Copy the checkpoint at PATH, as it was after a batch, to the empty folder TARGET.

    The copy has what the query needs to go on with the next batch, and no more: of each store one
    snapshot and the deltas behind it. The query may run meanwhile. Every state file of the copy is
    read to the last record, after its snapshots were held against the deltas before them, as
    verify does: of state that is not right no copy is made.
    """
    from holdfast_spark.checkpoint.changes.savepoint import make_savepoint

    checkpoint = open_to_change(path, storage_options)
    folder = open_location(target, storage_options)
    with progress_bar("copying") as on_file:
        done = make_savepoint(checkpoint, folder, batch_id=batch_id, on_file=on_file)
    warn_of(done.lost)
    if as_json:
        print_json(done)
    else:
        click.echo(
            f"{done.path} has the state after batch {done.batch_id}: "
            f"{counted(done.files, 'file')}, {counted(done.bytes, 'byte')}, "
            f"{counted(done.records, 'record')}."
        )
