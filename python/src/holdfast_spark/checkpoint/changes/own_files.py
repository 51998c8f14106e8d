"""Which files changes by Holdfast have written, so that nobody takes them for the query's.

A change that is complete leaves `written.jsonl` in its folder: when the query had last written
anything before, and then a line for each file that it has put into its place, with its size and its
time. So it is read line by line, however many files there are. A file that is still like that is
Holdfast's; any other is the query's.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.json_values import json_or_none, parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location

_MARK = "written.jsonl"
_FILES, _QUERY = "files", "query"


def mark_own_files(
    checkpoint: Location,
    backup: Location,
    names: Collection[str],
    found: Iterable[Entry],
    query_wrote: str | None,
) -> None:
    """Leave the mark of a change in its folder.

    Args:
        checkpoint: where the checkpoint is.
        backup: the folder of the change.
        names: the files that it has written, as paths below the checkpoint.
        found: the files of the checkpoint as they are now.
        query_wrote: when the query had last written anything before; None where nobody knows.
    """
    paths = {(checkpoint / name).path: name for name in names}
    files = [[paths[entry.path], *_facts(entry)] for entry in found if entry.path in paths]
    head = {_FILES: len(files), _QUERY: query_wrote}
    text = "".join(f"{json.dumps(line)}\n" for line in (head, *files))
    (backup / _MARK).replace(text.encode())


def last_write_of_query(
    checkpoint: Location, found: Iterable[Entry]
) -> tuple[datetime, str] | None:
    """Return when the query last wrote to its checkpoint, and which file, in words.

    Args:
        checkpoint: where the checkpoint is.
        found: the files that a query adds to.

    Returns:
        None where nothing tells of a write by the query.

    Raises:
        MalformedFileError: the mark of a change is damaged.
    """
    ours: dict[str, list[Any]] = {}
    writes: list[tuple[datetime, str]] = []
    for backup in _marked(checkpoint):
        lines = (backup / _MARK).lines()
        query_wrote = _add(lines, backup / _MARK, checkpoint, ours)
        if query_wrote:
            writes.append((query_wrote, f"a file that an earlier change has put into {backup}"))
    writes += (
        (entry.modified, entry.path)
        for entry in found
        if entry.modified and _facts(entry) not in ours.get(entry.path, ())
    )
    return max(writes, default=None)


def _marked(checkpoint: Location) -> list[Location]:
    """Return the folders of changes that have a mark."""
    folders = (checkpoint / BACKUPS / name for name in (checkpoint / BACKUPS).names())
    return [folder for folder in folders if (folder / _MARK).exists()]


def _add(
    lines: Iterator[str], mark: Location, checkpoint: Location, ours: dict[str, list[Any]]
) -> datetime | None:
    """Add the files of a mark by their path; return when the query had last written before."""
    head = parse_json_object(next(lines, ""), path=str(mark))
    count = 0
    for line in lines:
        name, *facts = _file(line, mark)
        count += 1
        ours.setdefault((checkpoint / name).path, []).append(facts)
    if count != head.get(_FILES):
        expected = f"the facts of {short(head.get(_FILES))} files"
        raise MalformedFileError(path=str(mark), expected=expected, found=f"those of {count}")
    return _time(str(head[_QUERY]), mark) if head.get(_QUERY) else None


def _file(line: str, mark: Location) -> tuple[str, int, str | None]:
    match json_or_none(line):
        case [str(name), int(size), str() | None as time]:
            return name, size, time
    expected = "a name, a size and a time on each line"
    raise MalformedFileError(path=str(mark), expected=expected, found=short(line))


def _time(text: str, file: Location) -> datetime:
    with contextlib.suppress(ValueError):
        time = datetime.fromisoformat(text)
        if time.tzinfo:
            return time
    raise MalformedFileError(
        path=str(file), expected="a time with its zone in query", found=repr(text[:60])
    )


def _facts(entry: Entry) -> list[Any]:
    return [entry.size_bytes, entry.modified.isoformat() if entry.modified else None]
