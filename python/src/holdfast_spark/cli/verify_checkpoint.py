"""The command `holdfast verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from holdfast_spark._text import counted
from holdfast_spark.cli.checkpoint_command import (
    SHARED_SOURCES,
    CheckpointCommand,
    json_option,
    open_checkpoint,
    print_json,
    progress_bar,
    storage_option,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.checks.verified import BrokenFile, Verification


@click.command(
    "verify",
    cls=CheckpointCommand,
    short_help="Whether the query goes on, and which file is broken.",
    result="holdfast_spark.checkpoint.checks.verified:Verification",
)
@click.argument("path")
@click.option(
    SHARED_SOURCES,
    is_flag=True,
    help="The query reads a source in several places.",
)
@storage_option
@json_option
def verify(
    path: str, shared_sources: bool, storage_options: tuple[str, ...], as_json: bool
) -> None:
    """Tell whether the query goes on from the checkpoint at PATH, with the right state.

    Reads what Spark reads when a query starts again, and all else: the logs, the metadata and what
    sources keep, to the last line; every record of every state file, its checksum where it has one,
    its row by the schema, its partition by the hash of the key. Finds files that are gone, that
    contradict each other or their checksums, or that are of another version or partition. Names
    each with what to do, and the batch that the query goes on with.

    The query may run meanwhile: old files that it removes are not missed. Of a checkpoint that
    another command is changing nothing is said but that.

    A link out of the checkpoint is not followed, and stops the query: nothing is said of what lies
    there. Where state is gone without a trace, only a note says so, since nothing tells then that
    the query had any: ids of state files in its commits, a folder state, former state files and a
    batch without new data do.

    A stream that is united or joined with itself may be one source in several places: it has a line
    for each in the offsets, always the same, and one folder in sources. Two sources of which one
    has lost its folder look the same, so that the command takes it for lost, unless it is told of
    --shared-sources.

    State that only its own provider reads, as that of RocksDB, is not judged, and a note says so;
    all else is. What file times alone tell is a note as well.

    Exit code 0 means that nothing is broken, 1 that something is, also where the query goes on
    without it; goes_on in the JSON tells these apart.
    """
    from holdfast_spark.checkpoint.checks.lost_deltas import told_together
    from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
    from holdfast_spark.checkpoint.errors import CheckpointError

    checkpoint = open_checkpoint(path, storage_options)
    with progress_bar("verifying") as on_file:
        found = verify_checkpoint(checkpoint, shared_sources=shared_sources, on_file=on_file)
    told = told_together(found)
    needed = {file.path for file in (*found.broken, *told) if file.stops}
    if as_json:
        print_json(found)
    else:
        _print(found, told, needed)
    if not found.sound:
        raise CheckpointError(_damage(found, told, needed))


def _damage(found: Verification, told: Sequence[BrokenFile], needed_files: Collection[str]) -> str:
    files = len({file.path for file in told})
    broken = counted(files, "file is", "files are")
    stops = len({file.path for file in told if file.path in needed_files})
    needed = f"{stops:,} of them" if stops else "none of them"
    if stops == files == 1:
        needed = "it"
    lacking = sum(not store.recoverable for store in found.stores)
    stores = counted(len(found.stores), "store lacks", "stores lack")
    text = f"{found.path} is damaged: {broken} broken or gone, and the query needs {needed}"
    if lacking:
        text += f"; {lacking:,} of {stores} the version that it goes on from"
    elif stops and all(SHARED_SOURCES in file.error for file in told if file.path in needed_files):
        text += f", unless it reads one source in several places ({SHARED_SOURCES})"
    return f"{text}."


def _print(found: Verification, told: Sequence[BrokenFile], needed: Collection[str]) -> None:
    """Print what is broken, what can be recovered, and how the query goes on."""
    advices = Counter(file.error_and_advice[1] for file in told)
    for file in told:
        error, advice = file.error_and_advice
        said = error if advices[advice] > 1 else file.error
        click.echo(f"{'broken' if file.path in needed else 'broken, but not needed'}: {said}")
    for advice, files in advices.items():
        if advice and files > 1:
            click.echo(f"for {files:,} of them: {advice}")
    for store in found.stores:
        if not store.recoverable or any(file.kind.startswith("state") for file in found.broken):
            mark = "" if store.recoverable else f", but not {store.needed_version}, which is needed"
            name = f"{store.operator_id}/{store.partition_id}/{store.name}"
            versions = f"versions {store.versions}" if store.versions else "no version"
            click.echo(f"store {name}: {versions}{mark}")
    for note in found.notes:
        click.echo(f"note: {note}")
    again = ", which is planned already" if found.reruns else ""
    if found.goes_on and not found.judges_state:
        click.echo(f"By all but its state, the query goes on with batch {found.next_batch}{again}.")
    elif found.goes_on:
        click.echo(f"The query goes on with batch {found.next_batch}{again}.")
    else:
        click.echo(f"The query does not go on with the right state at batch {found.next_batch}.")
    read = counted(found.files, "state file")
    click.echo(f"Read: {read} with {counted(found.records, 'record')}.")
