"""A local disk that may lose power: what it would not have yet, and what was done too early.

A disk has the content of a file when the file was synced, and the names in a folder when that was.
Until then it may have any of them. Python's audit hooks tell of each change before it is made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from holdfast_spark.checkpoint.changes.steps import DECIDED, PLACING
from holdfast_spark.checkpoint.files.journals import BACKUPS, JOURNAL, NEW

_MARKS = {JOURNAL, PLACING, DECIDED, "undone"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Disk:
    """Follows the changes of a checkpoint, and says which came before what they build on.

    Args:
        checkpoint: its folder.

    Attributes:
        early: the changes that came too early, each with what the disk did not have.
        synced: how many files and folders were synced.
    """

    active: Disk | None = None

    def __init__(self, checkpoint: Path) -> None:
        self.early: list[str] = []
        self.synced = 0
        self._checkpoint = checkpoint
        self._contents: set[Path] = set()
        self._names: set[Path] = set()

    def follow(self, monkeypatch: pytest.MonkeyPatch, command: Callable[[], object]) -> None:
        """Run a command."""
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", self._sync)
            patch.setattr(Disk, "active", self)
            command()

    @property
    def lacking(self) -> set[Path]:
        """What the disk may not have of the checkpoint now, but for what a backup keeps in vain."""
        found = {path for path in self._contents | self._names if path.suffix != ".tmp"}
        return {path for path in found if BACKUPS not in path.parts or path.name == JOURNAL}

    def opened(self, path: Path) -> None:
        if self._checkpoint in path.parents:
            self._contents.add(path)
            self.made(path)

    def made(self, path: Path) -> None:
        if self._checkpoint in path.parents and not path.exists():
            self._names.add(path)

    def linked(self, target: Path) -> None:
        self._require(target, f"{target} came")
        self._names.add(target)

    def renamed(self, source: Path, target: Path) -> None:
        self._require(target, f"{target} came")
        if source in self._contents:
            self._contents.discard(source)
            self._contents.add(target)
            self.early.append(f"{target} came before its content was on disk")
        self._names |= {source, target}

    def removed(self, path: Path) -> None:
        self._require(path, f"{path} went")
        self._contents.discard(path)
        self._names.add(path)

    def _require(self, path: Path, what: str) -> None:
        """Note what the disk lacks of that which comes before the change of a name."""
        backups = self._checkpoint / BACKUPS
        if backups in path.parents:
            (stamp, *_) = path.relative_to(backups).parts
            # Without a journal nothing is left to be done; and what it keeps is moved at any time.
            if path.name not in _MARKS or not (
                path.name == JOURNAL or (backups / stamp / JOURNAL).exists()
            ):
                return
            needed = self._names | self._contents
        else:
            found = self._names | self._contents
            needed = {each for each in found if backups in {each, *each.parents}}
        lacking = {each for each in needed if not self._is_idle(each, before=path.name)}
        self.early += [f"{what} before {each} was on disk" for each in sorted(lacking)]

    def _is_idle(self, path: Path, before: str) -> bool:
        """Whether it does not matter then what the disk has of a place."""
        backups = self._checkpoint / BACKUPS
        if backups not in {path, *path.parents}:
            return False
        names = path.relative_to(backups).parts[1:]
        if not names:  # the folder of the change, and that of all changes
            return before == JOURNAL
        # New files are of use from the decision on, those that are not at their place by then.
        if names[0] == NEW:
            return path not in self._contents and (before != DECIDED or not path.is_file())
        if names[0] == "fence":  # which only its place is made from
            return path not in self._contents
        if names[0] == "stopped" or path.suffix == ".tmp":
            return True
        # What has left the backup may be there once more.
        return not path.exists() and path.name not in _MARKS

    def _sync(self, descriptor: int) -> None:
        self.synced += 1
        found = os.fstat(descriptor)

        def is_it(path: Path) -> bool:
            return path.exists() and os.path.samestat(path.stat(), found)

        self._contents = {path for path in self._contents if not is_it(path)}
        folders = {path.parent for path in self._names}
        done = {folder for folder in folders if is_it(folder)}
        self._names = {path for path in self._names if path.parent not in done}


def _opened(disk: Disk, path: Any, _: object, flags: object) -> None:  # noqa: ANN401 - or a number
    if not isinstance(path, int) and isinstance(flags, int) and flags & _WRITING:
        disk.opened(Path(os.fsdecode(path)))


def _renamed(disk: Disk, source: Path, target: Path, *_: int) -> None:
    disk.renamed(Path(source), Path(target))


def _linked(disk: Disk, _source: Path, target: Path, *_: int) -> None:
    disk.linked(Path(target))


def _made(disk: Disk, path: Path, *_: int) -> None:
    disk.made(Path(path))


def _removed(disk: Disk, path: Path, folder: int) -> None:
    if folder < 0:  # a tree is removed by names in its folders
        disk.removed(Path(path))


_EVENTS: Mapping[str, Callable[..., None]] = {
    "open": _opened,
    "os.rename": _renamed,
    "os.link": _linked,
    "os.mkdir": _made,
    "os.remove": _removed,
}


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    disk = Disk.active
    if disk is not None and event in _EVENTS:
        _EVENTS[event](disk, *arguments)


sys.addaudithook(_hook)
