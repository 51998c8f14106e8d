"""The command `holdfast repair`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    change_options,
    open_checkpoint,
    print_json,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.changes.repair import Repair


@click.command(
    "repair", cls=CheckpointCommand, result="holdfast_spark.checkpoint.changes.repair:Repair"
)
@click.argument("path")
@click.option(
    "--drop-tail",
    is_flag=True,
    help="Give up the batches whose state cannot be put together.",
)
@change_options
def repair(  # noqa: PLR0913, PLR0917 - one for each option
    path: str,
    drop_tail: bool,
    apply: bool,
    settled: float,
    storage_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Repair damaged state in the checkpoint at PATH, whose query has to be stopped.

    A damaged snapshot is written again from an older one and the deltas behind it, or set aside
    where a newer snapshot makes it superfluous. What a damaged or missing delta held is nowhere
    else: where the query needs it, --drop-tail takes the query back to the newest batch whose
    state all stores of all operators still have. What later batches left in state, commits and
    offsets goes; the offsets of the next batch stay. On restart Spark runs that batch again with
    the same input, and plans those after it anew, perhaps cut otherwise.

    So with --drop-tail the output of the given-up batches is written again. A sink that replaces
    rows by key ends up right. One that skips the ids of batches it has seen, as file sinks and
    Delta do, also skips new data under these ids: restore such a query from a savepoint instead.
    The sources have to have the data of these batches still.

    All that changes is kept below PATH/holdfast-backup. If anything fails, the checkpoint is as it
    was, and a change by Holdfast that was cut off is undone. Exit code 0 means that the query can
    go on, or could with --apply.
    """
    from holdfast_spark.checkpoint.changes.repair import repair as repair_checkpoint
    from holdfast_spark.checkpoint.errors import CheckpointError

    checkpoint = open_checkpoint(path, storage_options)
    done = repair_checkpoint(
        checkpoint, drop_tail=drop_tail, apply=apply, settled=timedelta(seconds=settled)
    )
    if as_json:
        print_json(done)
    else:
        click.echo(_text(done))
    if not done.complete:
        raise CheckpointError(_hopeless(done))


def _text(done: Repair) -> str:
    lines = [f"{step.action}: {step.error}" for step in done.steps]
    if done.drops_tail and done.newest_batch is not None:
        verb = "is back" if done.applied else "would go back"
        lines.append(
            f"The query {verb} {_after(done.last_batch)}; its newest committed batch was "
            f"{done.newest_batch}. {done.dropped_files:,} files of later batches "
            f"{'are in the backup' if done.applied else 'would go'}."
        )
    elif not lines:
        return "Nothing is damaged." if done.complete else "No file is damaged."
    lines.append(f"The former files are in {done.backup}." if done.backup else _unchanged(done))
    return "\n".join(lines)


def _unchanged(done: Repair) -> str:
    return "What was cut off is undone." if done.applied else "Nothing was changed."


def _after(batch: int | None) -> str:
    return "to before its first batch" if batch == -1 else f"to after batch {batch}"


def _hopeless(done: Repair) -> str:
    if done.last_batch is None:
        return (
            f"The state of {done.path} after batch {done.newest_batch} cannot be put together, nor "
            "after any other one that the logs reach back to: restore the checkpoint from a copy."
        )
    if done.last_batch != done.newest_batch and not done.drops_tail:
        return (
            f"The state of {done.path} after batch {done.newest_batch} cannot be put together: "
            f"restore it from a copy, or give --drop-tail to go back {_after(done.last_batch)}."
        )
    hopeless = [step.error for step in done.steps if step.action == "none"]
    return f"{hopeless[0]} It is one of {len(hopeless)} damaged files that cannot be repaired."
