"""Where a change of a checkpoint keeps what it replaces, and the journal of what it does."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.change_locks import is_at_work
from holdfast_spark.checkpoint.files.json_values import json_or_none, parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location

BACKUPS = "holdfast-backup"
JOURNAL = "journal.jsonl"
# Folder of the new files of a change, in its own.
NEW = "new"

# What a journal has lists of.
_NAMES = ("comes", "replaces", "leaves")
# What a change ever touches, whatever the stores are called.
_PART = re.compile(r"(offsets|commits|state)/(?!(.*/)?\.\.(/|$))[^\0]+", re.DOTALL)

# How a log file begins that keeps every run of the query away while a change is made. No version
# of Spark's logs begins like this, so that Spark refuses it and shows the line.
FENCE_TEXT = "Holdfast is changing this checkpoint"


class UnfinishedChangeError(CheckpointError):
    """A change of a checkpoint is being made, or was cut off and is not undone or completed yet."""


class ChangedMeanwhileError(UnfinishedChangeError):
    """Another command has changed the checkpoint while it was read."""

    def __init__(self, *, path: str, backups: str) -> None:
        super().__init__(
            f"{path} was changed while it was read: expected no other command at work there, found "
            f"one in {backups}. Try again when that has ended."
        )


class ChangeUnderWayError(UnfinishedChangeError):
    """Another command is changing the checkpoint, or may be."""

    def __init__(self, *, path: str, found: str, wait: str) -> None:
        super().__init__(f"Another command is changing {path}: {found}. {wait}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What a change does, written before it does anything; names are paths below the checkpoint.

    Attributes:
        fence: the log file that keeps runs of the query away meanwhile; None where none has to.
        fence_stays: whether it becomes the log file of a batch in the end; else it goes.
        comes: files that come to the checkpoint, in order, or take the place of others.
        replaces: files that are replaced, and checksums that then would not fit; all are copied
            to the backup first.
        leaves: files that go to the backup once the change is decided, in order.
        query_wrote: when the query had last written to the checkpoint before, in ISO 8601; None
            where nobody knows.
    """

    fence: str | None = None
    fence_stays: bool = False
    comes: list[str] = field(default_factory=list)
    replaces: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    query_wrote: str | None = None


def unfinished(checkpoint: Location) -> list[Location]:
    """Return the journals of changes that are neither done nor undone."""
    backups = checkpoint / BACKUPS
    journals = (backups / name / JOURNAL for name in sorted(backups.names()))
    return [journal for journal in journals if journal.exists()]


def require_finished(checkpoint: Location) -> None:
    """Check that no change is being made, and that none was cut off.

    Raises:
        ChangeUnderWayError: one is being made.
        UnfinishedChangeError: one was cut off, or is being made where nobody can tell.
    """
    for journal in unfinished(checkpoint):
        at_work = is_at_work(journal.folder)
        if at_work:
            raise under_way(checkpoint, journal.folder)
        if at_work is None:
            raise UnfinishedChangeError(
                f"{checkpoint} is being changed, or was when that was cut off, says {journal}: if "
                "no other command is at work there, run holdfast repair --apply, which undoes or "
                "completes it."
            )
        raise UnfinishedChangeError(
            f"{checkpoint} was being changed when that was cut off, says {journal}: run holdfast "
            "repair --apply, which undoes or completes it."
        )


def require_none_at_work(checkpoint: Location) -> None:
    """Check that no other command is making a change, where the file system can tell.

    Raises:
        ChangeUnderWayError: one is.
    """
    for journal in unfinished(checkpoint):
        if is_at_work(journal.folder):
            raise under_way(checkpoint, journal.folder)


def under_way(checkpoint: Location, folder: Location) -> ChangeUnderWayError:
    """Return what there is to say of a checkpoint that another command is changing.

    Args:
        checkpoint: where the checkpoint is.
        folder: the folder of the change.
    """
    return ChangeUnderWayError(
        path=str(checkpoint), found=f"it is at work in {folder}", wait="Wait until it has ended"
    )


def remove_backup(folder: Location) -> None:
    """Remove the folder of a change, and the folder of all of them if there is no other.

    Raises:
        UnreadablePathError: the file system refuses.
    """
    folder.remove_tree()
    folder.folder.remove_empty()


def kept_state(checkpoint: Location) -> Location | None:
    """Return the folder of the newest change that keeps former state files; None without one."""
    backups = checkpoint / BACKUPS
    kept = (backups / name for name in sorted(backups.names(), reverse=True))
    return next((each for each in kept if (each / "state").exists()), None)


def was_planned_by_change(checkpoint: Location, batch: int) -> bool:
    """Tell whether a change has planned the batch after the newest committed one.

    Then it has kept the former commit before that batch, and no former plan of the batch itself.
    """
    backups = checkpoint / BACKUPS
    kept = (backups / name for name in backups.names())
    return any(
        (each / "commits" / (batch - 1)).exists() and not (each / "offsets" / batch).exists()
        for each in kept
    )


def journal_text(journal: Journal) -> bytes:
    """Return the content of a journal file: what it is on the first line, then a line for a name.

    So it is read line by line, however many files a checkpoint has.
    """
    names = [[part, name] for part in _NAMES for name in getattr(journal, part)]
    head = {
        "fence": journal.fence,
        "fence_stays": journal.fence_stays,
        "query_wrote": journal.query_wrote,
        "names": len(names),
    }
    return "".join(f"{json.dumps(line)}\n" for line in (head, *names)).encode()


def read_journal(file: Location) -> Journal:
    """Read a journal.

    Raises:
        MalformedFileError: it is damaged.
        UnreadablePathError: the file system refuses it.
    """
    lines = file.lines()
    head = _head(file, lines)
    names: dict[str, list[str]] = {part: [] for part in _NAMES}
    for line in lines:
        part, name = _name(file, line)
        names[part].append(name)
    count = sum(len(each) for each in names.values())
    if count != head.get("names"):
        expected = f"the names of {short(head.get('names'))} files"
        raise MalformedFileError(path=str(file), expected=expected, found=f"those of {count}")
    wrote = head.get("query_wrote")
    return Journal(
        fence=head["fence"],
        fence_stays=bool(head.get("fence_stays")),
        query_wrote=str(wrote) if wrote else None,
        **names,
    )


def _head(file: Location, lines: Iterator[str]) -> dict[str, Any]:
    head = parse_json_object(next(lines, ""), path=str(file))
    fence = head.get("fence") or None
    return {**head, "fence": None if fence is None else _part(file, fence)}


def _name(file: Location, line: str) -> tuple[str, str]:
    """Return which part of a journal a line is of, and the name that it has."""
    match json_or_none(line):
        case ["comes" | "replaces" | "leaves" as part, name]:
            return part, _part(file, name)
    expected = f"one of {', '.join(_NAMES)} and a name on each line"
    raise MalformedFileError(path=str(file), expected=expected, found=short(line))


def _part(file: Location, name: object) -> str:
    if not isinstance(name, str) or not _PART.fullmatch(name):
        expected = "paths of files of the checkpoint"
        raise MalformedFileError(path=str(file), expected=expected, found=short(name))
    return name


def standing_fences(checkpoint: Location) -> set[str]:
    """Return the log files that are none, but keep runs away from a change that was cut off."""
    found = set()
    for file in unfinished(checkpoint):
        with contextlib.suppress(CheckpointError):  # who undoes the change tells of it
            name = _head(file, file.lines())["fence"]
            if name and (checkpoint / name).read_text().startswith(FENCE_TEXT):
                found.add(name)
    return found
