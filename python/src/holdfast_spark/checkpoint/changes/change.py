"""A change of several files of a checkpoint, made whole or not at all.

New files are written beside the checkpoint's, below `new` in a folder of their own, and verified
there. Only then

1. what is to be replaced is copied from the checkpoint into the folder, and what is to go is moved,
2. the new files are moved to their places.

Each part begins with a journal that names it. If anything fails, what was done is undone; if that
fails too, or the process ends, `undo_unfinished` does it from the journal. What went stays in the
folder as a backup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import JOURNAL, unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import parse_json_object

_NEW = "new"
_CLEARING, _FILLING = "clearing", "filling"


class UnfinishedChangeError(CheckpointError):
    """A change of a checkpoint was cut off, and is not undone yet."""


@dataclass(slots=True)
class Change:
    """A change, collected first and made at once; for one thread.

    All names are paths below the checkpoint.

    Attributes:
        checkpoint: where the checkpoint is.
        backup: folder of the change, which keeps what goes.
        goes: files and folders that leave the checkpoint, in order.
        replaced: files whose place never is empty, in order.
        comes: files and folders that come, in order, of which some may be where another was before.
    """

    checkpoint: Location
    backup: Location
    goes: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    comes: list[str] = field(default_factory=list)

    def new(self, name: str) -> Location:
        """Return where to write what comes or replaces by that name."""
        return self.backup / _NEW / name

    def make(self) -> None:
        """Make the change.

        Raises:
            CheckpointError: the file system refused; the checkpoint is as it was, unless the text
                says otherwise.
        """
        try:
            self._write_journal(_CLEARING)
            for name in self.replaced:
                (self.backup / name).create((self.checkpoint / name).read_bytes())
            for name in self.goes:
                (self.checkpoint / name).move(self.backup / name)
            self._write_journal(_FILLING)
            for name in (*self.replaced, *self.comes):
                self.new(name).move(self.checkpoint / name)
            self._journal.remove()
        except BaseException as e:
            self._undo_after(e)
            raise

    def abandon(self) -> None:
        """Remove what was written for a change that is not made.

        If it was begun and could not be undone, all stays as it is: the folder has what went.
        """
        if not self._journal.exists():
            self.backup.remove_tree()

    def undo(self, part: str) -> None:
        """Undo what was done of a change that was cut off in a part, or while that was undone."""
        if part == _FILLING:
            for name in self.comes:
                (self.checkpoint / name).remove_tree()
            for name in self.replaced:
                if (self.backup / name).exists():
                    (self.backup / name).move(self.checkpoint / name)
            # Room for the journal, on a disk that may be full.
            (self.backup / _NEW).remove_tree()
            # What comes back from here on must not be taken for what came.
            self._write_journal(_CLEARING)
        for name in reversed(self.goes):
            _bring_back(self.backup / name, self.checkpoint / name)
        self.backup.remove_tree()

    @property
    def _journal(self) -> Location:
        return self.backup / JOURNAL

    def _write_journal(self, part: str) -> None:
        lists = {"goes": self.goes, "replaced": self.replaced, "comes": self.comes}
        text = json.dumps({"part": part, **lists}, indent=1)
        self.backup.make_folder()
        self._journal.replace(text.encode())

    def _undo_after(self, error: BaseException) -> None:
        """Undo a change that failed."""
        try:
            if self._journal.exists():
                change, part = _read(self.checkpoint, self.backup)
                change.undo(part)
            else:
                self.abandon()
        except CheckpointError as e:
            raise CheckpointError(
                f"{error} Undoing what was done failed as well: {e} The checkpoint is incomplete: "
                "do not start the query, and run holdfast repair --apply."
            ) from error


def require_finished(checkpoint: Location) -> None:
    """Check that no change was cut off.

    Raises:
        UnfinishedChangeError: one was.
    """
    for journal in unfinished(checkpoint):
        raise UnfinishedChangeError(
            f"{checkpoint} was being changed when that was cut off, says {journal}: run holdfast "
            "repair --apply, which undoes it."
        )


def undo_unfinished(checkpoint: Location) -> None:
    """Undo the changes that were cut off; the checkpoint is as it was before them.

    Raises:
        CheckpointError: a journal is damaged, or the file system refuses.
    """
    for journal in reversed(unfinished(checkpoint)):
        backup = Location(journal.fs, journal.path.rpartition("/")[0])
        change, part = _read(checkpoint, backup)
        change.undo(part)


def _read(checkpoint: Location, backup: Location) -> tuple[Change, str]:
    journal = backup / JOURNAL
    read = parse_json_object(journal.read_text(), path=str(journal))
    lists = (list(map(str, read.get(name, ()))) for name in ("goes", "replaced", "comes"))
    return Change(checkpoint, backup, *lists), str(read.get("part"))


def _bring_back(kept: Location, place: Location) -> None:
    """Move back what went, also where only a part of it did."""
    if not kept.exists():
        return
    if not place.exists():
        kept.move(place)
        return
    for moved, original in _pairs(kept, place):
        if original.exists():
            moved.remove()
        else:
            moved.move(original)


def _pairs(kept: Location, place: Location) -> Iterator[tuple[Location, Location]]:
    for entry in kept.files():
        name = entry.path[len(kept.path) :]
        yield Location(kept.fs, entry.path), Location(place.fs, f"{place.path}{name}")
