"""The steps of a change of a checkpoint, in its folder and in the checkpoint; `change` says which.

Each may have been cut off before, at any file, and does then what is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast_spark.checkpoint.changes.fence import Fence
from holdfast_spark.checkpoint.changes.on_disk import sync_folders
from holdfast_spark.checkpoint.changes.own_files import last_write_of_query, mark_own_files
from holdfast_spark.checkpoint.changes.stopped import checksum_files_and_theirs, entries
from holdfast_spark.checkpoint.errors import CheckpointError, RunningQueryError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import (
    FENCE_TEXT,
    JOURNAL,
    NEW,
    Journal,
    journal_text,
    read_journal,
    remove_backup,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import batch_ids
from holdfast_spark.checkpoint.files.numbers import whole_number
from holdfast_spark.errors import HoldfastError

# Marks of how far a change has come.
PLACING, DECIDED = "placing", "decided"
_UNDONE = "undone"


class ChangeSteps:
    """The steps of one change; for one thread.

    Args:
        checkpoint: where the checkpoint is.
        backup: the folder of the change.
        journal: what the change does.
    """

    def __init__(self, checkpoint: Location, backup: Location, journal: Journal) -> None:
        self._checkpoint = checkpoint
        self._backup = backup
        self._journal = journal
        self._replaces = frozenset(journal.replaces)
        self._written: dict[str, Entry] = {}
        self._stopped: list[Location] = []

    @classmethod
    def of(cls, checkpoint: Location, journal: Location) -> ChangeSteps:
        """Return the steps of a change that was cut off.

        Raises:
            MalformedFileError: its journal is damaged.
        """
        steps = cls(checkpoint, journal.folder, read_journal(journal))
        steps.require_inside()
        return steps

    def require_inside(self) -> None:
        """Check that no file of the change lies elsewhere than in the checkpoint.

        Raises:
            UnreadablePathError: a link or a name leads out of it.
        """
        fence = [self._journal.fence] if self._journal.fence else []
        for names in (fence, self._journal.comes, self._journal.replaces, self._journal.leaves):
            for name in names:
                (self._checkpoint / name).require_inside("change")
                (self._backup / name).require_inside("change")

    @property
    def journal_file(self) -> Location:
        """Where the journal is, while the change is neither done nor undone."""
        return self._backup / JOURNAL

    @property
    def is_decided(self) -> bool:
        """Whether the change is to be completed; else to be undone."""
        return (self._backup / DECIDED).exists()

    def is_overtaken(self) -> bool:
        """Tell whether the query has gone on since the change began, as far as the times tell.

        Nothing keeps it from that where the change has no fence.
        """
        if self._journal.fence:
            return False
        ours = {(self._checkpoint / name).path for name in self._journal.comes}
        found = [entry for entry in entries(self._checkpoint) if entry.path not in ours]
        wrote = last_write_of_query(self._checkpoint, found)
        return wrote is not None and wrote[0].isoformat() > (self._journal.query_wrote or "")

    def leave(self) -> None:
        """End a change as far as it has come; each of its files is right without the others."""
        self._end()

    def mark(self, part: str) -> None:
        """Leave the mark with which a part begins."""
        (self._backup / part).replace(b"")

    def write_journal(self) -> None:
        """Say what will be done."""
        self._backup.make_folder()
        self.journal_file.replace(journal_text(self._journal))
        sync_folders(self._checkpoint, [self.journal_file])

    def raise_fence(self, fence: Fence | None) -> None:
        """Put up the fence, if the change has one.

        Raises:
            RunningQueryError: a run has begun that batch meanwhile.
        """
        if not fence:
            return
        place = self._checkpoint / fence.name
        if not place.claim(fence.text(self._backup), by=self._backup / "fence"):
            raise RunningQueryError(
                path=str(self._checkpoint),
                changed=f"{place} has come meanwhile",
                wait="try again",
            )

    def back_up(self) -> None:
        """Copy what will be replaced."""
        for name in self._journal.replaces:
            (self._checkpoint / name).copy(self._backup / name)
        self._sync(self._backup, self._journal.replaces)

    def place(self) -> None:
        """Move the new files to their places."""
        self.mark(PLACING)
        new = f"{(self._backup / NEW).path}/"
        self._written = {
            entry.path.removeprefix(new): entry for entry in (self._backup / NEW).files()
        }
        model = self._checkpoint / self._newest_log()
        for name in self._journal.comes:
            place = self._checkpoint / name
            self._remove_checksums(place)
            content = self._backup / NEW / name
            content.take_mode_of(place if name in self._replaces else model)
            # As that of a new partition, which the query writes to: somebody else may run it.
            place.folder.make_folder_as_above()
            content.move(place)
        self._stop_writers()
        self._sync(self._checkpoint, self._journal.comes)
        if self._journal.fence:
            # What it gives way to is not moved before the change is decided.
            self._sync(self._backup / NEW, [self._journal.fence])

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
        if not fence or self._fence_stands() or self._plan_is_missing():
            for name in self._journal.leaves:
                file = self._checkpoint / name
                if file.is_there():
                    file.move(self._backup / name)
            for root in (self._backup, self._checkpoint):
                self._sync(root, self._journal.leaves)
            self._remove_empty_folders(self._journal.leaves)
            if fence:
                self._lower_fence(self._checkpoint / fence)
                self._sync(self._checkpoint, [fence])
        self._end()

    def complete_or_say(self) -> None:
        """Try that again, since what is decided cannot be undone."""
        try:
            self.complete()
        except HoldfastError as e:
            raise CheckpointError(
                f"The change of {self._checkpoint} is decided, but not complete: {e} Run holdfast "
                "repair --apply, which completes it, before you start the query."
            ) from e

    def undo(self) -> None:
        """Undo what was done of a change that is not decided, or whose decision failed."""
        self._unmark(DECIDED)
        if not (self._backup / _UNDONE).exists():
            if (self._backup / PLACING).exists():
                self._bring_back()
            # What stands there from here on is no longer of this change.
            self.mark(_UNDONE)
        if self._journal.fence and self._fence_stands():
            (self._checkpoint / self._journal.fence).remove()
            self._sync(self._checkpoint, [self._journal.fence])
        # Whoever is cut off here leaves the journal, which tells that there is more to remove; but
        # not the mark that would bring back what is brought back already.
        self._unmark(PLACING)
        for name in self._backup.names():
            if name != JOURNAL:
                (self._backup / name).remove_tree()
        remove_backup(self._backup)

    def _bring_back(self) -> None:
        for name in self._journal.comes:
            if name not in self._replaces:
                (self._checkpoint / name).remove()
        for name in self._journal.replaces:
            kept = self._backup / name
            if kept.exists():
                kept.move(self._checkpoint / name)
        self._sync(self._checkpoint, [*self._journal.comes, *self._replaces])
        self._remove_empty_folders(n for n in self._journal.comes if n not in self._replaces)

    def _fence_stands(self) -> bool:
        """Tell whether the fence is there, whole or half replaced by the next batch."""
        place = self._checkpoint / str(self._journal.fence)
        if not place.exists():
            return False
        content = place.read_bytes()
        stamp = self._backup.path.rpartition("/")[2]
        if content.startswith(FENCE_TEXT.encode()) and stamp.encode() in content:
            return True
        final = self._backup / NEW / str(self._journal.fence)
        if not self._journal.fence_stays or not final.exists():
            return False
        wanted = final.read_bytes()
        return content != wanted and wanted.startswith(content)

    def _plan_is_missing(self) -> bool:
        """Tell whether the plan that takes the fence's place is nowhere but among the new files.

        So it is where the file system replaces no file in one step, and was cut off in between.
        """
        fence = str(self._journal.fence)
        if not self._journal.fence_stays or not (self._backup / NEW / fence).exists():
            return False
        log, _, batch = fence.rpartition("/")
        return all(each < int(batch) for each in batch_ids(self._checkpoint / log))

    def _lower_fence(self, fence: Location) -> None:
        if not self._journal.fence_stays:
            fence.remove()
            return
        self._remove_checksums(fence)
        content = self._backup / NEW / str(self._journal.fence)
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
            file = self._checkpoint.at(entry.path)
            hidden = entry.name.startswith(".") and entry.name.endswith(".tmp")
            if hidden and file.folder.path in folders:
                self._stopped.append(file)
                file.move(self._backup / "stopped" / str(len(self._stopped)))

    def _remove_checksums(self, place: Location) -> None:
        for checksum in checksum_files_and_theirs(place):
            if self._checkpoint.below(checksum.path) in self._replaces:
                checksum.remove()

    def _remove_empty_folders(self, names: Iterable[str]) -> None:
        """Remove the folders of an operator that are empty without these files."""
        folders = {name.rpartition("/")[0] for name in names}
        parents = {folder.rpartition("/")[0] for folder in folders}
        for folder in sorted(folders | parents, key=len, reverse=True):
            if folder.count("/") > 1:  # below the folder of an operator
                (self._checkpoint / folder).remove_empty()

    def _newest_log(self) -> str:
        """Return a file whose mode and owner new files get."""
        names = (self._checkpoint / "offsets").names()
        fence = (self._journal.fence or "").removeprefix("offsets/")
        numbers = [n for name in names if name != fence and (n := whole_number(name)) is not None]
        return f"offsets/{max(numbers)}"

    def _meddled(self, file: Location) -> RunningQueryError:
        return RunningQueryError(
            path=str(self._checkpoint), changed=f"{file} has changed meanwhile", wait="try again"
        )

    def _end(self) -> None:
        mark_own_files(
            self._checkpoint,
            self._backup,
            [*self._journal.comes, *filter(None, [self._journal.fence])],
            entries(self._checkpoint),
            self._journal.query_wrote,
        )
        for part in (NEW, "stopped"):
            (self._backup / part).remove_tree()
        self._unmark(JOURNAL)
        for mark in (PLACING, DECIDED):
            (self._backup / mark).remove()

    def _unmark(self, name: str) -> None:
        """Remove a mark, or the journal, before anything that comes after it is done."""
        (self._backup / name).remove()
        self._sync(self._backup, [name])

    def _sync(self, root: Location, names: Iterable[str]) -> None:
        sync_folders(root, [root / name for name in names])
