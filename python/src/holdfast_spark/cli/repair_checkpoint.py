"""The command `holdfast repair`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast_spark._text import counted, without_advice
from holdfast_spark.cli.checkpoint_command import (
    SHARED_SOURCES,
    ChangeOptions,
    CheckpointCommand,
    change_options,
    open_to_change,
    print_change,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.changes.repair import Repair
    from holdfast_spark.checkpoint.changes.repair_plan import RepairStep

# What is said of files that stay as they are.
_NOT_CHANGES = ("leave", "none")
# What people read instead of what the JSON has.
_SAID = {"none": "not repairable"}
_SAID_WHEN_DONE = {
    **_SAID,
    "rebuild": "rebuilt",
    "leave": "left",
    "drop": "dropped",
    "undo": "undone",
    "complete": "completed",
}


# What checks of logs advise, where batches cannot be given up.
_SAVEPOINT = "holdfast savepoint --batch-id "


@click.command(
    "repair",
    cls=CheckpointCommand,
    short_help="Snapshots rebuilt, lost batches given up when told.",
    result="holdfast_spark.checkpoint.changes.repair:Repair",
)
@click.argument("path")
@click.option(
    "--drop-tail",
    is_flag=True,
    help="Give up the batches whose state cannot be put together.",
)
@click.option(
    SHARED_SOURCES,
    is_flag=True,
    help="The query reads a source in several places, as holdfast verify says of it.",
)
@change_options
def repair(
    path: str,
    drop_tail: bool,
    shared_sources: bool,
    options: ChangeOptions,
) -> None:
    """Repair damaged state in the checkpoint at PATH, whose query has to be stopped.

    A damaged snapshot is written again from an older one and the deltas behind it, or set aside
    where a newer snapshot makes it superfluous. The rows stay the same, so that a query that runs
    nevertheless is none the worse for it. Checksums that are left of a file of the logs, beside
    which Spark cannot write that file anew, are set aside, too.

    So is a snapshot that can be read and is not what the deltas before it lead to, where it differs
    from its checksums, has the rows of another version or the bytes of another file, or where the
    deltas lead on to a newer snapshot. Otherwise it may be one of the deltas that is wrong: then
    neither is taken for right, and --drop-tail goes back to before both.

    What a damaged or missing delta held is nowhere else: where the query needs it, --drop-tail
    takes the query back to the newest batch whose state all stores of all operators still have.
    That state is written as that of the next batch, and the next batch is planned with the input of
    the first one that is given up; Spark plans those after it anew, perhaps cut otherwise. A run of
    the query that goes on nevertheless fails at its next batch. While a batch is planned and not
    committed, a run may be in the middle of it, and the command refuses unless --stopped is given.

    So with --drop-tail the output of the given-up batches is written again, under numbers of
    batches that the sink has not seen. A sink that replaces rows by key ends up right; one that
    appends has these rows twice. The sources have to have the data of these batches still. It does
    not go back over a change of the partition number, nor to before the first batch where an
    operator, of flatMapGroupsWithState, mapGroupsWithState or transformWithState, may have begun
    with an initialState, which Spark applies in batch 0 alone.

    Where somebody has set the query back by hand, by the newest files of offsets and commits, the
    state of the batches after that lies there still, as if their plans were lost. --drop-tail sets
    it aside.

    All that changes is kept below PATH/holdfast-backup. If anything fails, the checkpoint is as it
    was. A change by Holdfast that was cut off is undone, or completed if all its files had been in
    place; the new files of one that had not begun are removed. Exit code 0 means that the query can
    go on, or could with --apply.
    """
    from holdfast_spark.checkpoint.changes.repair import repair as repair_checkpoint
    from holdfast_spark.checkpoint.errors import CheckpointError

    checkpoint = open_to_change(path, options.storage_options)
    done = repair_checkpoint(
        checkpoint,
        drop_tail=drop_tail,
        shared_sources=shared_sources,
        apply=options.apply,
        stopped=options.stopped,
        settled=options.settled,
    )
    print_change(done, _text(done), options)
    if not done.complete:
        raise CheckpointError(_hopeless(done))


def _text(done: Repair) -> str:
    said = _SAID_WHEN_DONE if done.applied else _SAID
    lines = [f"{said.get(step.action, step.action)}: {_finding(step)}" for step in done.steps]
    if done.drops_tail and done.newest_batch is not None:
        verb = "is back" if done.applied else "would go back"
        lines.append(
            f"The query {verb} {_after(done.last_batch)}; its newest committed batch was "
            f"{done.newest_batch}. {_former(done)}."
        )
    elif not lines:
        return "Nothing is damaged." if done.complete else "No file is damaged."
    lines.append(f"The former files are in {done.backup}." if done.backup else _unchanged(done))
    return "\n".join(lines)


def _finding(step: RepairStep) -> str:
    """Return what is wrong with a file, without what is said elsewhere to do about it."""
    return without_advice(step.error, path=step.path)[0]


def _advice(step: RepairStep) -> str:
    """Return what to do about a file, or that it is to be restored where nothing is said."""
    return without_advice(step.error, path=step.path)[1] or "Restore it from a copy."


def _former(done: Repair) -> str:
    if done.applied:
        files = counted(done.dropped_files, "former state file is", "former state files are")
        return f"{files} in the backup"
    return f"{counted(done.dropped_files, 'state file')} would go to a backup"


def _unchanged(done: Repair) -> str:
    from holdfast_spark.checkpoint.files.journals import JOURNAL

    if not done.applied:
        would = done.drops_tail or any(
            step.action not in _NOT_CHANGES or step.path.endswith(f"/{JOURNAL}")
            for step in done.steps
        )
        return "Nothing was changed: --apply does it." if would else "Nothing was changed."
    actions = {step.action for step in done.steps}
    if "complete" in actions:
        return "What was cut off is complete."
    undone = "What was cut off is undone."
    return undone if "undo" in actions else "What was cut off is left as far as it had come."


def _after(batch: int | None) -> str:
    return "to before its first batch" if batch == -1 else f"to after batch {batch}"


def _hopeless(done: Repair) -> str:
    logs = [step for step in done.steps if step.action == "none" and "/offsets/" in step.path]
    for step in logs:
        _, command, batch = step.error.partition(_SAVEPOINT)
        if command:
            return (
                f"{step.path} cannot be repaired: restore it from a copy, or go back to an earlier "
                f"batch with {command}{batch}"
            )
    for step in done.steps:
        if step.error.startswith("Cannot list "):
            return f"{step.path} cannot be repaired: put the folder in the place of the link."
    if done.last_batch is None and done.newest_batch is not None:
        return (
            f"The state of {done.path} after batch {done.newest_batch} cannot be put together, nor "
            "after any other one that the logs reach back to: restore the checkpoint from a copy."
        )
    if done.newest_batch not in (None, done.last_batch) and not done.drops_tail:
        return (
            f"The state of {done.path} after batch {done.newest_batch} cannot be put together "
            "(holdfast verify names what lacks): restore it from a copy, or give --drop-tail to go "
            f"back {_after(done.last_batch)}."
        )
    left = [step for step in done.steps if step.action == "none"]
    first, *others = [step.path for step in left]
    if not others:
        advice = _advice(logs[0]) if logs else "Restore it from a copy."
        if SHARED_SOURCES in left[0].error:
            advice = (
                f"Restore it from a copy, or give {SHARED_SOURCES} if the query reads one source "
                "in several places."
            )
        return f"{first} cannot be repaired. {advice}"
    more = counted(len(others), "more damaged file", "more damaged files")
    return f"{first} and {more} cannot be repaired: restore them from a copy."
