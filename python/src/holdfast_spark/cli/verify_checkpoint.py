"""The command `holdfast verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    json_option,
    open_checkpoint,
    print_json,
    progress_bar,
    storage_option,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.verification import Verification


@click.command(
    "verify", cls=CheckpointCommand, result="holdfast_spark.checkpoint.verification:Verification"
)
@click.argument("path")
@storage_option
@json_option
def verify(path: str, storage_options: tuple[str, ...], as_json: bool) -> None:
    """Read every state file of the checkpoint at PATH, to the last record.

    Decompresses every file, checks every record, its checksum where it has one and its row by the
    schema, and finds out which versions can be put together from the sound files. Names each broken
    file. Exit code 0 means that nothing is broken and that every store has the version that the
    query goes on from.
    """
    from holdfast_spark.checkpoint.errors import CheckpointError
    from holdfast_spark.checkpoint.verification import verify_checkpoint

    checkpoint = open_checkpoint(path, storage_options)
    with progress_bar("verifying") as on_file:
        found = verify_checkpoint(checkpoint, on_file=on_file)
    if as_json:
        print_json(found)
    else:
        print_verification(found)
    if not found.sound:
        raise CheckpointError(
            f"{found.path} is damaged: {len(found.broken)} of {found.files} files are broken, and "
            f"{sum(not store.recoverable for store in found.stores)} of {len(found.stores)} stores "
            "lack the version that the query goes on from."
        )


def print_verification(found: Verification) -> None:
    """Print what is broken and what can be recovered."""
    for file in found.broken:
        click.echo(f"broken: {file.error}")
    for store in found.stores:
        if not store.recoverable or found.broken:
            mark = "" if store.recoverable else f", but not {store.needed_version}, which is needed"
            name = f"{store.operator_id}/{store.partition_id}/{store.name}"
            click.echo(f"store {name}: versions {store.versions or 'none'}{mark}")
    click.echo(f"{found.files:,} files with {found.records:,} records were read.")
