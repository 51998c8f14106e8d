"""Which files changes by Holdfast have written, so that nobody takes them for the query's.

A change that is complete leaves `written.json` in its folder: the size and the time of each file
that it has put into its place, and when the query had last written anything before. A file that is
still like that is Holdfast's; any other is the query's.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.location import Location

_MARK = "written.json"
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
    files = {paths[entry.path]: _facts(entry) for entry in found if entry.path in paths}
    text = json.dumps({_FILES: files, _QUERY: query_wrote}, indent=1)
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
    for backup, mark in _marks(checkpoint):
        files = mark.get(_FILES)
        for name, facts in files.items() if isinstance(files, dict) else ():
            ours.setdefault((checkpoint / name).path, []).append(facts)
        if mark.get(_QUERY):
            before = _time(str(mark[_QUERY]), backup / _MARK)
            writes.append((before, f"a file that an earlier change has put into {backup}"))
    writes += (
        (entry.modified, entry.path)
        for entry in found
        if entry.modified and _facts(entry) not in ours.get(entry.path, ())
    )
    return max(writes, default=None)


def _marks(checkpoint: Location) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    backups = checkpoint / BACKUPS
    for name in backups.names():
        file = backups / name / _MARK
        if file.exists():
            yield backups / name, parse_json_object(file.read_text(), path=str(file))


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
