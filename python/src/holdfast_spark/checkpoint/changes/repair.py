"""Damaged state of a stopped query: snapshots written anew, batches that are lost given up."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import timedelta

from holdfast_spark._arguments import DURATION, FLAG, require_arguments
from holdfast_spark._settled import SETTLED
from holdfast_spark.checkpoint.changes.change import (
    Change,
    finish_unfinished,
    is_decided,
    is_overtaken,
)
from holdfast_spark.checkpoint.changes.diagnosis import Diagnosis
from holdfast_spark.checkpoint.changes.going_back import go_back, write_snapshot
from holdfast_spark.checkpoint.changes.initial_state import require_no_initial_state
from holdfast_spark.checkpoint.changes.leftovers import leftovers, remove_leftovers
from holdfast_spark.checkpoint.changes.partition_numbers import (
    require_no_repartition,
    require_same_partitions,
)
from holdfast_spark.checkpoint.changes.repair_plan import Action, RepairPlan, RepairStep
from holdfast_spark.checkpoint.changes.stopped import StoppedQuery, checksum_files_and_theirs
from holdfast_spark.checkpoint.changes.under_way import why_under_way
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.snapshots import require_right
from holdfast_spark.checkpoint.checks.state import in_families
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.checks.verification import verify
from holdfast_spark.checkpoint.files.journals import unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.others import beside_others


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A repair, planned or done.

    Attributes:
        path: where the checkpoint is.
        steps: the damaged files, and what is done about each.
        newest_batch: the newest committed batch; null when none is.
        last_batch: the newest batch that the query can go on from, with the state of all its
            stores; -1 when that is the empty state before its first batch; null when there is none.
        drops_tail: whether the batches after `last_batch` are given up.
        dropped_files: former state files, which go when batches are given up.
        applied: whether it is done; false in a dry run, and where there is nothing to do.
        backup: the folder that keeps the files that were replaced or went; null where nothing was
            changed.
        in_the_way: why the change would be refused now, a sentence each; empty where nothing is in
            its way, and where it is done.
    """

    path: str
    steps: tuple[RepairStep, ...]
    newest_batch: int | None
    last_batch: int | None
    drops_tail: bool
    dropped_files: int
    applied: bool
    backup: str | None
    in_the_way: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the query can go on after the repair, and nothing damaged is in its way."""
        goes_on = self.newest_batch in (None, self.last_batch) or self.drops_tail
        return goes_on and all(step.action != "none" for step in self.steps)


def repair(  # noqa: PLR0913 - each is an option of the command
    checkpoint: Checkpoint,
    *,
    drop_tail: bool = False,
    shared_sources: bool = False,
    apply: bool = False,
    stopped: bool = False,
    settled: timedelta = SETTLED,
) -> Repair:
    """Rebuild the damaged snapshots of a stopped query, and give up batches that are lost.

    Reads all state files to find the damaged ones. A snapshot is rebuilt when an older one, or
    none, and the deltas behind it lead to its version; it is set aside when a newer snapshot serves
    the query. Either leaves the same rows, so that a query that runs is none the worse for it.
    The same is done about one that can be read and is shown to be of another version
    (`checks.contradictions`); where it may be a delta that is, neither is taken for right.

    What a damaged delta held is nowhere else: if the state after the newest committed batch needs
    it, or a missing file, the query can only be taken back, to the newest batch whose state all
    stores of all operators have. That state is then written as a snapshot of the version that the
    next batch goes on from, and the next batch gets the data of the one that was planned after it.
    So numbers of batches go on, and a run of the query that goes on nevertheless fails at its next
    batch (`fence`).

    New snapshots are written beside the checkpoint and read again before anything changes. All that
    goes or is replaced is kept below `holdfast-backup`. If anything fails, the checkpoint is as it
    was. A change by Holdfast that was cut off is undone or completed first, and alone; what is left
    of one that was cut off before it began is removed.

    Args:
        checkpoint: the checkpoint, opened just now.
        drop_tail: give up the batches whose state cannot be put together. Spark then runs the first
            of them again as it was planned, and plans those after it anew: their output is written
            a second time, and the sources have to have their data still. Where the logs were set
            back by hand, the state of batches that they do not have any more is set aside.
        shared_sources: the query is known to read a source in several places (`verify_checkpoint`).
        apply: do it; without, look only.
        stopped: the query is known to run nowhere, so that a batch that is planned and not
            committed can be given up too.
        settled: refuse to change anything when the query has written within this time, as the
            command does, and leave alone what a change has written within it; `timedelta(0)` where
            the query, and every change, is known to be stopped.

    Raises:
        ChangeUnderWayError: another command is changing the checkpoint, or may be and `apply` is
            given.
        ChangedMeanwhileError: one has changed it while it was read.
        RunningQueryError: the query seems to be running, or may be in the middle of a batch that
            would be given up, and `apply` is given.
        UnfinishedRepartitionError: Spark has begun to repartition the query.
        OtherPartitionsError: the state was in another number of partitions at the batch that the
            query would go back to.
        InitialStateError: the query would go back to before its first batch, and may have had an
            initial state there.
        ContradictedStateError: what a snapshot would be made of is not what older files lead to.
        UnsupportedProviderError: its state is not in delta and snapshot files.
        NewerFileError: a newer Holdfast has written a state file; nothing is changed.
        CheckpointError: the checkpoint cannot be read or written.
    """
    Checkpoint.require(checkpoint, by="checkpoint.repair")
    require_arguments(
        "checkpoint.repair",
        drop_tail=(drop_tail, FLAG),
        shared_sources=(shared_sources, FLAG),
        apply=(apply, FLAG),
        stopped=(stopped, FLAG),
        settled=(settled, DURATION),
    )
    return beside_others(
        checkpoint,
        lambda found: _repair(
            found,
            drop_tail=drop_tail,
            shared_sources=shared_sources,
            apply=apply,
            stopped=stopped,
            settled=settled,
        ),
        apply=apply,
    )


def _repair(  # noqa: PLR0913 - as `repair` has them
    checkpoint: Checkpoint,
    *,
    drop_tail: bool,
    shared_sources: bool,
    apply: bool,
    stopped: bool,
    settled: timedelta,
) -> Repair:
    abandoned = leftovers(checkpoint.location, settled=settled)
    removals = tuple(_leftover_step(folder) for folder in abandoned)
    if unfinished(checkpoint.location):
        done = _finish(checkpoint, settled=settled, apply=apply)
        if apply:
            remove_leftovers(abandoned, settled=settled)
        return dataclasses.replace(done, steps=(*done.steps, *removals))
    require_no_repartition(checkpoint)
    subject = Subject(checkpoint, shared_sources=shared_sources, set_back=drop_tail)
    if subject.linked_folders:
        return _not_followed(subject)
    query = StoppedQuery(checkpoint, settled=settled, apply=apply)
    diagnosis = Diagnosis.of(subject)
    if apply and diagnosis.checkpoint is not checkpoint:  # which others have changed
        query.require_unchanged()
    checkpoint = diagnosis.checkpoint
    tail = diagnosis.tail
    drops = drop_tail and bool(tail.batches)
    if drops and tail.last_batch is not None:
        require_same_partitions(checkpoint, tail.last_batch)
        require_no_initial_state(checkpoint, tail.last_batch)
    plan = RepairPlan(diagnosis, drops=drops)
    steps = (*removals, *plan.steps())
    changes = drops or any(step.action in ("rebuild", "set aside") for step in steps)
    if changes:
        query.require_settled()
        query.require_writable("state", *plan.logs())
    fence = query.fence(stopped=stopped) if drops else None
    if apply:
        remove_leftovers(abandoned, settled=settled)
    if apply and changes:
        change = Change(checkpoint.location, query.backup, fence)
        with change.abandoned_on_error():
            _collect(plan, change)
            if fence:
                go_back(checkpoint, diagnosis.sound, tail, change, fence)
        change.make(query.require_unchanged)
    return Repair(
        path=str(checkpoint.location),
        steps=steps,
        newest_batch=checkpoint.committed[-1] if checkpoint.committed else None,
        last_batch=tail.last_batch,
        drops_tail=drops,
        dropped_files=len(tail.files) if drops else 0,
        applied=apply and (changes or bool(abandoned)),
        backup=str(query.backup) if apply and changes else None,
        in_the_way=query.in_the_way,
    )


def _not_followed(subject: Subject) -> Repair:
    """Return what is wrong where folders are links that nobody follows: nothing is changed."""
    checkpoint, found = subject.named, verify(subject)
    return Repair(
        path=str(checkpoint.location),
        steps=tuple(
            RepairStep(path=file.path, action="none", error=file.error)
            for file in found.told
            if file.stops
        ),
        newest_batch=checkpoint.committed[-1] if checkpoint.committed else None,
        last_batch=None,
        drops_tail=False,
        dropped_files=0,
        applied=False,
        backup=None,
    )


def _finish(checkpoint: Checkpoint, *, settled: timedelta, apply: bool) -> Repair:
    """Undo or complete the changes that were cut off."""
    in_the_way = tuple(why_under_way(checkpoint.location, settled=settled, apply=apply))
    journals = unfinished(checkpoint.location)
    steps = tuple(_unfinished_step(checkpoint, journal) for journal in journals)
    if apply:
        finish_unfinished(checkpoint.location)
    newest = checkpoint.committed[-1] if checkpoint.committed else None
    return Repair(
        path=str(checkpoint.location),
        steps=steps,
        newest_batch=newest,
        last_batch=newest,
        drops_tail=False,
        dropped_files=0,
        applied=apply,
        backup=None,
        in_the_way=in_the_way,
    )


def _unfinished_step(checkpoint: Checkpoint, journal: Location) -> RepairStep:
    action: Action = "undo"
    found, does = "a part of it done", "undo it"
    if is_decided(journal):
        found, action, does = "all of its new files in place", "complete", "complete it"
    if is_overtaken(checkpoint.location, journal):
        found, action = f"{found}, and the query has gone on since", "leave"
        does = "leave it as far as it has come"
    return RepairStep(
        path=str(journal),
        action=action,
        error=f"{journal} tells of a change that was cut off: expected none, found {found}. Run "
        f"holdfast repair --apply, which will {does}.",
    )


def _leftover_step(folder: Location) -> RepairStep:
    return RepairStep(
        path=str(folder),
        action="undo",
        error=f"{folder} is left of a change that was cut off before it began: expected no folder, "
        "found new files. Run holdfast repair --apply, which will remove it.",
    )


def _collect(plan: RepairPlan, change: Change) -> None:
    """Add to a change what is done about each damaged file."""
    checkpoint = plan.diagnosis.checkpoint
    root = checkpoint.location
    change.leaves += [root.below(path) for path in plan.diagnosis.left_checksums]
    for file, action, sound in plan.changes():
        if action == "set aside":
            there = (
                *(c for c in checksum_files_and_theirs(file.location) if c.exists()),
                file.location,
            )
            change.leaves += [root.below(each.path) for each in there]
        if action == "rebuild":
            change.comes.append(root.below(file.location.path))
            _rebuild(file, sound, checkpoint, change)


def _rebuild(file: StateFile, sound: StoreFiles, checkpoint: Checkpoint, change: Change) -> None:
    """Write a snapshot of what is sound, and read it again."""
    require_right(checkpoint, sound, file.version)
    write_snapshot(
        change.new(change.comes[-1]),
        sound.chain(file.version),
        checkpoint.settings,
        in_families=in_families(checkpoint, sound),
    )
