"""A change of several files of a checkpoint, made whole or not at all.

New files are written below `new` in a folder of their own beside the checkpoint's, and verified
there. Only then

1. a journal says what will be done, and the fence goes up that keeps every run of the query away,
2. what is to be replaced is copied to the folder,
3. the new files are moved to their places; what they do not replace is still there,
4. it is decided that the change is made,
5. what is no longer needed is moved to the folder, and the fence gives way to the next batch.

The parts begin with marks beside the journal, empty files, so that no file system can leave half of
one. What fails before the decision is undone, and what fails after it is completed; if the process
ends, `finish_unfinished` does either. Until the decision nothing that a run of the query has, or
writes, is taken away, so that it can go on if the change is undone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from holdfast_spark.checkpoint.changes.fence import Fence
from holdfast_spark.checkpoint.changes.stopped import checksum_files, entries
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    RunningQueryError,
)
from holdfast_spark.checkpoint.files.journals import (
    FENCE_TEXT,
    JOURNAL,
    Journal,
    read_journal,
    unfinished,
)
from holdfast_spark.checkpoint.files.location import Entry, Location

_NEW = "new"
_PLACING, _DECIDED, _UNDONE = "placing", "decided", "undone"


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

    def new(self, name: str) -> Location:
        """Return where to write what comes by that name."""
        return self.backup / _NEW / name

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
        steps: _Steps | None = None
        try:
            there = {entry.path for entry in entries(self.checkpoint)}
            steps = _Steps(self.checkpoint, self.backup, self._journal(there))
            steps.write_journal()
            steps.raise_fence(self.fence)
            steps.back_up()
            require_unchanged(but=steps.ours())
            steps.place()
            require_unchanged(but=steps.ours())
            steps.require_ours()
            steps.mark(_DECIDED)
        except BaseException as e:
            self._undo_after(e, steps)
            raise
        try:
            steps.complete()
        except CheckpointError:
            steps.complete_or_say()

    @contextlib.contextmanager
    def abandoned_on_error(self) -> Iterator[None]:
        """Remove what is written for the change if that fails."""
        try:
            yield
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Remove what was written for a change that is not made."""
        self.backup.remove_tree()

    def _journal(self, there: Collection[str]) -> Journal:
        places = [(name, self.checkpoint / name) for name in self.comes]
        if self.fence:
            places.append((self.fence.name, self.checkpoint / self.fence.name))
        root = f"{self.checkpoint.path.rstrip('/')}/"
        replaces = [
            each.path.removeprefix(root)
            for name, place in places
            for each in (place, *checksum_files(place))
            if each.path in there
        ]
        comes = set(self.comes)
        return Journal(
            fence=self.fence.name if self.fence else None,
            fence_stays=bool(self.fence and self.fence.stays),
            comes=self.comes,
            replaces=replaces,
            leaves=[name for name in self.leaves if name not in {*comes, *replaces}],
        )

    def _undo_after(self, error: BaseException, steps: _Steps | None) -> None:
        """Undo a change that failed."""
        try:
            if steps and steps.journal_file.exists():
                steps.undo()
            else:
                self.abandon()
        except CheckpointError as e:
            raise CheckpointError(
                f"{error} Undoing what was done failed as well: {e} The checkpoint is incomplete: "
                "do not start the query, and run holdfast repair --apply."
            ) from error


class _Steps:
    """The steps of a change, each of which may have been cut off before."""

    def __init__(self, checkpoint: Location, backup: Location, journal: Journal) -> None:
        self._checkpoint = checkpoint
        self._backup = backup
        self._journal = journal
        self._written: dict[str, Entry] = {}
        self._stopped: list[Location] = []

    @classmethod
    def of(cls, checkpoint: Location, journal: Location) -> _Steps:
        return cls(checkpoint, journal.folder, read_journal(journal))

    @property
    def journal_file(self) -> Location:
        return self._backup / JOURNAL

    @property
    def is_decided(self) -> bool:
        return (self._backup / _DECIDED).exists()

    def mark(self, part: str) -> None:
        (self._backup / part).replace(b"")

    def write_journal(self) -> None:
        self._backup.make_folder()
        text = json.dumps(dataclasses.asdict(self._journal), indent=1)
        self.journal_file.replace(text.encode())

    def raise_fence(self, fence: Fence | None) -> None:
        if not fence:
            return
        place = self._checkpoint / fence.name
        if not place.claim(fence.text(self._backup), by=self._backup / "fence"):
            raise RunningQueryError(
                path=str(self._checkpoint),
                changed=f"{place} has come meanwhile",
                wait="start again",
            )

    def back_up(self) -> None:
        """Copy what will be replaced."""
        for name in self._journal.replaces:
            (self._checkpoint / name).copy(self._backup / name)

    def place(self) -> None:
        """Move the new files to their places."""
        self.mark(_PLACING)
        new = f"{(self._backup / _NEW).path}/"
        self._written = {
            entry.path.removeprefix(new): entry for entry in (self._backup / _NEW).files()
        }
        replaces = set(self._journal.replaces)
        model = self._checkpoint / self._newest_log()
        for name in self._journal.comes:
            place = self._checkpoint / name
            self._remove_checksums(place)
            content = self._backup / _NEW / name
            content.take_mode_of(place if name in replaces else model)
            content.move(place)
        self._stop_writers()

    def require_ours(self) -> None:
        """Check that nobody has written what was placed, or removed the fence.

        Raises:
            RunningQueryError: somebody has.
        """
        there = {entry.path: entry for entry in entries(self._checkpoint)}
        for name in self._journal.comes:
            wanted, found = self._written[name], there.get((self._checkpoint / name).path)
            same = found and found.size_bytes == wanted.size_bytes
            # Elsewhere a move is a copy, with a time of its own.
            if same and found and self._checkpoint.is_local:
                same = found.modified == wanted.modified
            if not same:
                raise self._meddled(self._checkpoint / name)
        if self._journal.fence and not self._fence_stands():
            raise self._meddled(self._checkpoint / self._journal.fence)

    def ours(self) -> list[Location]:
        """Return the files that this change has put where others do not write."""
        names = [*self._journal.comes, *self._journal.replaces]
        if self._journal.fence:
            names.append(self._journal.fence)
        return [*(self._checkpoint / name for name in names), *self._stopped]

    def complete(self) -> None:
        """Do what is left of a change that is decided."""
        fence = self._journal.fence
        if not fence or self._fence_stands():
            for name in self._journal.leaves:
                file = self._checkpoint / name
                if file.exists():
                    file.move(self._backup / name)
            self._remove_empty_folders()
            if fence:
                self._lower_fence(self._checkpoint / fence)
        self._end()

    def complete_or_say(self) -> None:
        """Try that again, since what is decided cannot be undone."""
        try:
            self.complete()
        except CheckpointError as e:
            raise CheckpointError(
                f"The change of {self._checkpoint} is decided, but not complete: {e} Run holdfast "
                "repair --apply, which completes it, before you start the query."
            ) from e

    def undo(self) -> None:
        """Undo what was done of a change that is not decided."""
        if not (self._backup / _UNDONE).exists():
            if (self._backup / _PLACING).exists():
                self._bring_back()
            # What stands there from here on is no longer of this change.
            self.mark(_UNDONE)
        if self._journal.fence and self._fence_stands():
            (self._checkpoint / self._journal.fence).remove()
        self.journal_file.remove()
        self._backup.remove_tree()

    def _bring_back(self) -> None:
        replaces = set(self._journal.replaces)
        for name in self._journal.comes:
            if name not in replaces:
                (self._checkpoint / name).remove()
        for name in self._journal.replaces:
            kept = self._backup / name
            if kept.exists():
                kept.move(self._checkpoint / name)

    def _fence_stands(self) -> bool:
        """Tell whether the fence is there, whole or half replaced by the next batch."""
        place = self._checkpoint / str(self._journal.fence)
        if not place.exists():
            return False
        content = place.read_bytes()
        stamp = self._backup.path.rpartition("/")[2]
        if content.startswith(FENCE_TEXT.encode()) and stamp.encode() in content:
            return True
        final = self._backup / _NEW / str(self._journal.fence)
        if not self._journal.fence_stays or not final.exists():
            return False
        wanted = final.read_bytes()
        return content != wanted and wanted.startswith(content)

    def _lower_fence(self, fence: Location) -> None:
        if not self._journal.fence_stays:
            fence.remove()
            return
        self._remove_checksums(fence)
        content = self._backup / _NEW / str(self._journal.fence)
        content.take_mode_of(self._checkpoint / self._newest_log())
        content.move(fence)

    def _stop_writers(self) -> None:
        """Take away what maintenance is about to rename to a snapshot beside those placed.

        It writes a snapshot to a hidden file beside its place, which takes minutes for a large one;
        the renaming then fails (`RenameBasedFSDataOutputStream`, Spark 4.3).
        """
        names = (name for name in self._journal.comes if name.startswith("state/"))
        folders = {(self._checkpoint / name).folder.path for name in names}
        for entry in (self._checkpoint / "state").files():
            file = Location(self._checkpoint.fs, entry.path)
            hidden = entry.name.startswith(".") and entry.name.endswith(".tmp")
            if hidden and file.folder.path in folders:
                self._stopped.append(file)
                file.move(self._backup / "stopped" / str(len(self._stopped)))

    def _remove_checksums(self, place: Location) -> None:
        prefix = f"{self._checkpoint.path.rstrip('/')}/"
        for checksum in checksum_files(place):
            if checksum.path.removeprefix(prefix) in self._journal.replaces:
                checksum.remove()

    def _remove_empty_folders(self) -> None:
        folders = {name.rpartition("/")[0] for name in self._journal.leaves}
        parents = {folder.rpartition("/")[0] for folder in folders}
        for folder in sorted(folders | parents, key=len, reverse=True):
            if folder.count("/") > 1:  # below the folder of an operator
                (self._checkpoint / folder).remove_empty()

    def _newest_log(self) -> str:
        """Return a file whose mode and owner new files get."""
        names = (self._checkpoint / "offsets").names()
        fence = (self._journal.fence or "").removeprefix("offsets/")
        return f"offsets/{max((n for n in names if n.isdecimal() and n != fence), key=int)}"

    def _meddled(self, file: Location) -> RunningQueryError:
        return RunningQueryError(
            path=str(self._checkpoint), changed=f"{file} has changed meanwhile", wait="start again"
        )

    def _end(self) -> None:
        for part in (_NEW, "stopped"):
            (self._backup / part).remove_tree()
        self.journal_file.remove()
        for mark in (_PLACING, _DECIDED):
            (self._backup / mark).remove()


def is_decided(journal: Location) -> bool:
    """Tell whether a change that was cut off will be completed; else it will be undone."""
    return (journal.folder / _DECIDED).exists()


def finish_unfinished(checkpoint: Location) -> None:
    """Complete the changes that were cut off when they were decided, and undo the others.

    Raises:
        CheckpointError: a journal is damaged, or the file system refuses.
    """
    for journal in reversed(unfinished(checkpoint)):
        try:
            steps = _Steps.of(checkpoint, journal)
        except MalformedFileError:
            # Cut off while the journal was written, which is before all else.
            if (journal.folder / _PLACING).exists():
                raise
            journal.folder.remove_tree()
            continue
        if steps.is_decided:
            steps.complete()
        else:
            steps.undo()
