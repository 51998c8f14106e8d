"""Damaged state of a stopped query: snapshots written anew, batches that are lost given up."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from holdfast_spark.checkpoint.changes.change import Change, undo_unfinished
from holdfast_spark.checkpoint.changes.stopped import StoppedQuery, checksum_files
from holdfast_spark.checkpoint.changes.tail import Tail, find_tail
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.journals import unfinished
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.encoding import encode, writing_snapshot
from holdfast_spark.checkpoint.rows.records import read_records
from holdfast_spark.checkpoint.verification import verify_checkpoint

Action = Literal["rebuild", "set aside", "leave", "drop", "undo", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairStep:
    """What is done about a damaged file.

    Attributes:
        path: the file.
        action: `rebuild`, from an older snapshot and deltas; `set aside`, where a newer snapshot
            makes the snapshot superfluous, or its batch is not committed; `leave`, where a newer
            snapshot makes the delta superfluous; `drop`, with the batches that are given up;
            `undo`, for a change by Holdfast that was cut off; or `none`, where nothing is sound
            enough.
        error: what is wrong with it, in a sentence.
    """

    path: str
    action: Action
    error: str


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
        dropped_files: files that belong to these batches alone, and go.
        applied: whether it is done; false in a dry run, and where there is nothing to do.
        backup: the folder that keeps the files that were replaced or went; null where nothing was
            changed.
    """

    path: str
    steps: tuple[RepairStep, ...]
    newest_batch: int | None
    last_batch: int | None
    drops_tail: bool
    dropped_files: int
    applied: bool
    backup: str | None

    @property
    def complete(self) -> bool:
        """Whether the query can go on after the repair, and nothing damaged is in its way."""
        goes_on = self.newest_batch in (None, self.last_batch) or self.drops_tail
        return goes_on and all(step.action != "none" for step in self.steps)


def repair(
    checkpoint: Checkpoint,
    *,
    drop_tail: bool = False,
    apply: bool = False,
    settled: timedelta = timedelta(0),
) -> Repair:
    """Rebuild the damaged snapshots of a stopped query, and give up batches that are lost.

    Reads all state files to find the damaged ones. A snapshot is rebuilt when an older one, or
    none, and the deltas behind it lead to its version; it is set aside when a newer snapshot serves
    the query. What a damaged delta held is nowhere else: if the state after the newest committed
    batch needs it, or a missing file, the query can only be taken back, to the newest batch whose
    state all stores of all operators have. Then everything of later batches goes from `state`,
    `commits` and `offsets`, but for the offsets of the batch that is next.

    New snapshots are written beside the checkpoint and read again before anything changes. All that
    goes or is replaced is kept below `holdfast-backup`. If anything fails, the checkpoint is as it
    was. A change by Holdfast that was cut off is undone first, and alone.

    Args:
        checkpoint: the checkpoint, opened just now.
        drop_tail: give up the batches whose state cannot be put together. Spark then runs the next
            one again as it was planned, and plans those after it anew: their output is written a
            second time, and the sources have to have their data still.
        apply: do it; without, look only.
        settled: the query counts as stopped when nothing has changed for so long.

    Raises:
        RunningQueryError: the query seems to be running.
        UnsupportedProviderError: its state is not in delta and snapshot files.
        CheckpointError: the checkpoint cannot be read or written.
    """
    stopped = StoppedQuery(checkpoint, settled=settled)
    if unfinished(checkpoint.location):
        return _undo(checkpoint, stopped, apply=apply)
    broken = {file.path: file.error for file in verify_checkpoint(checkpoint).damaged}
    sound = [_only_sound(store, broken) for store in checkpoint.stores]
    tail = find_tail(checkpoint, sound)
    drops = drop_tail and bool(tail.batches)
    plan = _Plan(checkpoint, sound, broken, tail, drops=drops)
    steps = tuple(plan.steps())
    apply = apply and (drops or any(step.action in ("rebuild", "set aside") for step in steps))
    if apply:
        _make(plan, Change(checkpoint.location, stopped.backup), stopped)
    return Repair(
        path=str(checkpoint.location),
        steps=steps,
        newest_batch=checkpoint.committed[-1] if checkpoint.committed else None,
        last_batch=tail.last_batch,
        drops_tail=drops,
        dropped_files=tail.count if drops else 0,
        applied=apply,
        backup=str(stopped.backup) if apply else None,
    )


def _undo(checkpoint: Checkpoint, stopped: StoppedQuery, *, apply: bool) -> Repair:
    """Undo the changes that were cut off."""
    steps = tuple(
        RepairStep(
            path=str(journal),
            action="undo",
            error=f"{journal} tells of a change that was cut off: expected none, found a part of "
            "it done. Undo it with holdfast repair --apply, and start anew.",
        )
        for journal in unfinished(checkpoint.location)
    )
    if apply:
        stopped.require_unchanged()
        undo_unfinished(checkpoint.location)
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
    )


def _only_sound(store: StoreFiles, broken: dict[str, str]) -> StoreFiles:
    files = tuple(file for file in store.files if str(file.location) not in broken)
    return dataclasses.replace(store, files=files)


class _Plan:
    """What is done about each damaged file."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        sound: Sequence[StoreFiles],
        broken: dict[str, str],
        tail: Tail,
        *,
        drops: bool,
    ) -> None:
        self.checkpoint = checkpoint
        self.tail = tail
        self.drops = drops
        self._sound = sound
        self._broken = broken
        self._newest = (checkpoint.committed[-1] if checkpoint.committed else -1) + 1
        kept = tail.last_batch if drops else None
        self._needed = self._newest if kept is None else kept + 1

    def steps(self) -> Iterator[RepairStep]:
        """Yield what is done about each damaged file."""
        named = set()
        for file, action, _ in self.changes():
            path = str(file.location)
            named.add(path)
            yield RepairStep(path=path, action=action, error=self._broken[path])
        # Of other files, such as schemas, there is nothing to make them of.
        for path in self._broken.keys() - named:
            yield RepairStep(path=path, action="none", error=self._broken[path])

    def changes(self) -> Iterator[tuple[StateFile, Action, StoreFiles]]:
        """Yield the damaged files, what is done about each, and what is sound of its store."""
        for store, sound in zip(self.checkpoint.stores, self._sound, strict=True):
            for file in (*store.files, *store.others):
                if str(file.location) in self._broken:
                    yield file, self._action(file, store, sound), sound

    def _action(self, file: StateFile, store: StoreFiles, sound: StoreFiles) -> Action:
        if self.drops and file.version > self._needed:
            return "drop"
        if file in store.others:
            return "leave"
        if file.version > self._newest:
            return "set aside"
        if file.kind == "snapshot" and file.version in sound.versions:
            return "rebuild"
        newer = any(file.version <= version <= self._needed for version in sound.snapshots)
        if newer and self._needed in sound.versions:
            return "set aside" if file.kind == "snapshot" else "leave"
        return "none"


def _make(plan: _Plan, change: Change, stopped: StoppedQuery) -> None:
    root = f"{plan.checkpoint.location.path.rstrip('/')}/"
    try:
        for file, action, sound in plan.changes():
            if action in ("rebuild", "set aside"):
                there = (*(c for c in checksum_files(file.location) if c.exists()), file.location)
                change.goes += [each.path.removeprefix(root) for each in there]
            if action == "rebuild":
                change.comes.append(file.location.path.removeprefix(root))
                _rebuild(file, sound, plan.checkpoint, change)
        if plan.drops:
            change.goes += plan.tail.files
        stopped.require_unchanged()
    except BaseException:
        change.abandon()
        raise
    change.make()


def _rebuild(file: StateFile, sound: StoreFiles, checkpoint: Checkpoint, change: Change) -> None:
    """Write a snapshot of what is sound, and read it again."""
    settings, new = checkpoint.settings, change.new(change.comes[-1])
    codec, row_checksums = settings.codec, settings.row_checksums
    with writing_snapshot(new, settings) as writer:
        for _, records in replay(
            sound.chain(file.version), codec=codec, row_checksums=row_checksums
        ):
            writer.write(encode(records, row_checksums=row_checksums)[0])
    written = dataclasses.replace(file, location=new)
    for _ in read_records(written, codec=codec, row_checksums=row_checksums):
        pass
