"""The command `holdfast migrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast_spark._text import counted
from holdfast_spark.cli.checkpoint_command import (
    HAS_TO_BE_STOPPED,
    ChangeOptions,
    CheckpointCommand,
    change_options,
    open_to_change,
    print_change,
    progress_bar,
    warn_of,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.changes.migration import Migration


@click.command(
    "migrate",
    cls=CheckpointCommand,
    short_help="Another state store provider, both ways.",
    result="holdfast_spark.checkpoint.changes.migration:Migration",
    more_help=HAS_TO_BE_STOPPED,
)
@click.argument("path")
@click.option(
    "--to",
    type=click.Choice(["holdfast", "hdfs", "rocksdb"]),
    required=True,
    help="The provider to switch to; hdfs is Spark's default one.",
)
@click.option(
    "--from",
    "bound_to",
    metavar="CLASS",
    help="The class that the query is bound to, if it is none of these: it does not exist, or "
    "keeps its state in Spark's delta and snapshot files.",
)
@change_options
def migrate(
    path: str,
    to: str,
    bound_to: str | None,
    options: ChangeOptions,
) -> None:
    """Switch the stopped query of the checkpoint at PATH to another state store provider.

    Spark goes on with the provider that the newest offsets file names, whatever the session says.
    This names another one there, after reading every state file to the last record. Holdfast and
    Spark's default provider share their state files, so these stay as they are, and the way back is
    the same. The former logs are kept below PATH/holdfast-backup; local checksum files beside them,
    which would no longer fit, go there too.

    RocksDB has files of its own: from and to it the newest committed version of every store is
    converted, read again and compared row by row, by a local Spark session (pyspark has to be
    installed, 4.2 or newer to write RocksDB's), in a dry run as well. Older versions stay behind,
    with all former state files, below PATH/holdfast-backup. State in column families, that of
    transformWithState, is converted between RocksDB and Holdfast by pyspark 4.2 or newer; Spark's
    default provider has no column families.

    State of checkpoint format 2 that is converted has format 1 afterwards, and so it is converted
    on the way to Spark's default provider too, which has format 1 alone: the session of the query
    has to leave spark.sql.streaming.stateStore.checkpointFormatVersion at 1.

    A query that was started with the name of a class that does not exist stays bound to it: give
    --from with that name.
    """
    from holdfast_spark.checkpoint.changes.migration import migrate as migrate_checkpoint

    checkpoint = open_to_change(path, options.storage_options)
    with progress_bar("converting") as on_store:
        done = migrate_checkpoint(
            checkpoint,
            to,
            bound_to=bound_to,
            apply=options.apply,
            stopped=options.stopped,
            settled=options.settled,
            on_store=on_store,
        )
    warn_of(done.lost)
    print_change(done, _text(done), options)


def _text(done: Migration) -> str:
    if done.from_provider == done.to_provider:
        return f"The query is bound to {done.to_provider} already: nothing to do."
    files = counted(done.files, "state file")
    read = f"{files} with {counted(done.records, 'record')} were read and found sound.\n"
    if done.converted_stores:
        read = (
            f"{counted(done.records, 'row')} of {counted(done.converted_stores, 'store')} were "
            "converted, read again and found the same.\n"
            "What is converted has checkpoint format 1: leave "
            "spark.sql.streaming.stateStore.checkpointFormatVersion at 1.\n"
        )
    if done.applied:
        return (
            f"{read}The query was bound to {done.from_provider}\nand is now bound to "
            f"{done.to_provider}.\nWhat was replaced is in {done.backup}."
        )
    return (
        f"{read}The query is bound to {done.from_provider}.\nWith --apply, {done.offsets_file} "
        f"would name {done.to_provider}.\nNothing was changed."
    )
