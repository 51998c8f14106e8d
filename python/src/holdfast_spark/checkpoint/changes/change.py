"""A change of several files of a checkpoint, made whole or not at all.

New files are written below `new` in a folder of their own beside the checkpoint's, and verified
there. Only then

1. a journal says what will be done, and the fence goes up that keeps every run of the query away,
2. what is to be replaced is copied to the folder,
3. the new files are moved to their places; what they do not replace is still there,
4. it is decided that the change is made,
5. what is no longer needed is moved to the folder, and the fence gives way to the next batch.

The parts (`steps`) begin with marks beside the journal, empty files, so that no file system can
leave half of one. What fails before the decision is undone, and what fails after it is completed;
if the process ends, `finish_unfinished` does either. Until the decision nothing that a run of the
query has, or writes, is taken away, so that it can go on if the change is undone. In a local file
system each part is on disk before the mark of the next one is made, so that a loss of power ends a
change as the end of the process does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from holdfast_spark.checkpoint.changes.fence import Fence
from holdfast_spark.checkpoint.changes.own_files import last_write_of_query
from holdfast_spark.checkpoint.changes.rights import require_replacing
from holdfast_spark.checkpoint.changes.steps import DECIDED, PLACING, ChangeSteps
from holdfast_spark.checkpoint.changes.stopped import checksum_files_and_theirs, entries
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    MetRunError,
    RunningQueryError,
)
from holdfast_spark.checkpoint.files.change_locks import ChangeLock
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import (
    NEW,
    Journal,
    remove_backup,
    under_way,
    unfinished,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.errors import HoldfastError


class Check(Protocol):
    """Checks that nobody else has changed the checkpoint."""

    def __call__(self, *, but: Collection[Location]) -> None:
        """Check it for all files but those."""


@dataclass(slots=True)
class Change:
    """A change, collected first and made at once; for one thread.

    All names are paths below the checkpoint.

    Attributes:
        checkpoint: where the checkpoint is.
        backup: folder of the change, which keeps what goes.
        fence: keeps runs of the query away; None for a change that none of them notices.
        comes: files that come, or take the place of others, in order.
        leaves: files that the checkpoint no longer needs, in order.
    """

    checkpoint: Location
    backup: Location
    fence: Fence | None = None
    comes: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    _lock: ChangeLock | None = field(default=None, init=False, repr=False)

    def new(self, name: str) -> Location:
        """Return where to write what comes by that name."""
        self._take_lock()
        return self.backup / NEW / name

    def add(self, name: str, content: bytes) -> None:
        """Write what comes by a name; the plan of the next batch, if it is the fence's."""
        self.new(name).create(content)
        if not self.fence or name != self.fence.name:
            self.comes.append(name)

    def make(self, require_unchanged: Check) -> None:
        """Make the change.

        Args:
            require_unchanged: checks that nobody else has changed the checkpoint, but for the files
                that it is given.

        Raises:
            RunningQueryError: somebody has changed the checkpoint, which is as it was.
            CheckpointError: the file system refused; the checkpoint is as it was, unless the text
                says otherwise.
        """
        try:
            self._take_lock()
            self._make(require_unchanged)
        finally:
            self._release_lock()

    def _make(self, require_unchanged: Check) -> None:
        steps: ChangeSteps | None = None
        is_fenced = False
        try:
            there = entries(self.checkpoint)
            steps = ChangeSteps(self.checkpoint, self.backup, self._journal(there))
            steps.require_inside()
            steps.write_journal()
            steps.raise_fence(self.fence)
            is_fenced = self.fence is not None
            steps.back_up()
            require_unchanged(but=steps.ours())
            steps.place()
            require_unchanged(but=steps.ours())
            steps.require_ours()
            steps.mark(DECIDED)
        except BaseException as e:
            self._undo_after(e, steps)
            if is_fenced and isinstance(e, RunningQueryError):
                raise MetRunError(e) from e
            raise
        try:
            steps.complete()
        except BaseException as e:
            # What is decided cannot be undone: who is interrupted here completes it first.
            steps.complete_or_say()
            if not isinstance(e, HoldfastError):
                raise

    @contextlib.contextmanager
    def abandoned_on_error(self) -> Iterator[None]:
        """Remove what is written for the change if that fails."""
        try:
            yield
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Remove what was written for a change that is not made, as far as that can be.

        Why it is not made is what the user has to know. What stays is in nobody's way, and `repair`
        removes it (`leftovers`).
        """
        try:
            with contextlib.suppress(HoldfastError):
                remove_backup(self.backup)
        finally:
            self._release_lock()

    def _take_lock(self) -> None:
        """Say, where the file system can, that a command is at work on this change."""
        if self._lock is None:
            self.backup.make_folder()
            self._lock = ChangeLock(self.backup)
            self._lock.take()

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _journal(self, found: Collection[Entry]) -> Journal:
        there = {entry.path for entry in found}
        places = [(name, self.checkpoint / name) for name in self.comes]
        if self.fence:
            places.append((self.fence.name, self.checkpoint / self.fence.name))
        replaces = [
            self.checkpoint.below(each.path)
            for name, place in places
            for each in (place, *checksum_files_and_theirs(place))
            if each.path in there
        ]
        comes = set(self.comes)
        wrote = last_write_of_query(self.checkpoint, found)
        return Journal(
            fence=self.fence.name if self.fence else None,
            fence_stays=bool(self.fence and self.fence.stays),
            comes=self.comes,
            replaces=replaces,
            leaves=[name for name in self.leaves if name not in {*comes, *replaces}],
            query_wrote=wrote[0].isoformat() if wrote else None,
        )

    def _undo_after(self, error: BaseException, steps: ChangeSteps | None) -> None:
        """Undo a change that failed."""
        try:
            if steps and steps.journal_file.exists():
                steps.undo()
            else:
                self.abandon()
        except HoldfastError as e:
            raise CheckpointError(
                f"{error} Undoing what was done failed as well: {e} The checkpoint is incomplete: "
                "do not start the query, and run holdfast repair --apply."
            ) from error


def is_overtaken(checkpoint: Location, journal: Location) -> bool:
    """Tell whether the query has gone on since a change was cut off, which is then left as it is.

    Raises:
        CheckpointError: the file system refuses.
    """
    try:
        return ChangeSteps.of(checkpoint, journal).is_overtaken()
    except MalformedFileError:
        return False


def is_decided(journal: Location) -> bool:
    """Tell whether a change that was cut off will be completed; else it will be undone."""
    return (journal.folder / DECIDED).exists()


def finish_unfinished(checkpoint: Location) -> None:
    """Complete the changes that were cut off when they were decided, and undo the others.

    Those that keep no run away, and that the query has gone on from since, are left as they are.

    Raises:
        ChangeUnderWayError: one was not cut off: another command is at work on it.
        CheckpointError: a journal is damaged, or the file system refuses, as one does that cannot
            replace a file.
    """
    journals = unfinished(checkpoint)
    if journals:
        require_replacing(checkpoint)
    for journal in reversed(journals):
        lock = ChangeLock(journal.folder)
        try:
            if lock.take() is False:
                raise under_way(checkpoint, journal.folder)
            _finish(checkpoint, journal)
        finally:
            lock.release()


def _finish(checkpoint: Location, journal: Location) -> None:
    if not journal.exists():
        return  # as another command has finished it meanwhile
    try:
        steps = ChangeSteps.of(checkpoint, journal)
    except MalformedFileError:
        # Cut off while the journal was written, which is before all else.
        if (journal.folder / PLACING).exists():
            raise
        remove_backup(journal.folder)
        return
    if steps.is_overtaken():
        steps.leave()
    elif steps.is_decided:
        steps.complete()
    else:
        steps.undo()
