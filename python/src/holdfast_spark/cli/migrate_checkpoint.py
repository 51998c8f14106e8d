"""The command `holdfast migrate`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    change_options,
    open_checkpoint,
    print_json,
    progress_bar,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.changes.migration import Migration


@click.command(
    "migrate", cls=CheckpointCommand, result="holdfast_spark.checkpoint.changes.migration:Migration"
)
@click.argument("path")
@click.option(
    "--to",
    type=click.Choice(["holdfast", "hdfs", "rocksdb"]),
    required=True,
    help="The provider to switch to; hdfs is Spark's default one.",
)
@change_options
def migrate(  # noqa: PLR0913, PLR0917 - one for each option
    path: str,
    to: str,
    apply: bool,
    settled: float,
    storage_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Switch the stopped query of the checkpoint at PATH to another state store provider.

    Spark goes on with the provider that the newest offsets file names, whatever the session says.
    This names another one there, after reading every state file to the last record. Holdfast and
    Spark's default provider share their state files, so nothing else changes, and the way back is
    the same. The former offsets file is kept below PATH/holdfast-backup; the local checksum file
    beside it, which would no longer fit, is removed.

    RocksDB has files of its own: from and to it the newest committed version of every store is
    converted, read again and compared row by row, by a local Spark session (pyspark has to be
    installed), in a dry run as well. Older versions stay behind, with all former state files, below
    PATH/holdfast-backup. What keeps its state in column families stays with RocksDB.

    State of checkpoint format 2 that is converted has format 1 afterwards, and so it is converted
    on the way to Spark's default provider too, which has format 1 alone: the session of the query
    has to leave spark.sql.streaming.stateStore.checkpointFormatVersion at 1.

    The query has to be stopped, and stay so until the command ends.
    """
    from holdfast_spark.checkpoint.changes.migration import migrate as migrate_checkpoint

    checkpoint = open_checkpoint(path, storage_options)
    with progress_bar("converting") as on_store:
        done = migrate_checkpoint(
            checkpoint, to, apply=apply, settled=timedelta(seconds=settled), on_store=on_store
        )
    if as_json:
        print_json(done)
    else:
        click.echo(_text(done))


def _text(done: Migration) -> str:
    if done.from_provider == done.to_provider:
        return f"The query is bound to {done.to_provider} already: nothing to do."
    read = f"{done.files:,} state files with {done.records:,} records are sound.\n"
    if done.converted_stores:
        read = (
            f"{done.records:,} rows of {done.converted_stores:,} stores were converted, read again "
            "and found the same.\n"
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
