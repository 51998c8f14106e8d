"""Which folder in `sources/` each line of an offsets file belongs to.

Spark makes a folder for each source, in the order in which the plan has them, and a line for each
place that a source is read in (`MicroBatchExecution.logicalPlan`, 4.3). A stream that is united, or
joined, with other columns of itself is one source in two places: it has two lines, always the same,
and one folder. Two sources may have gone on in step, too, and one of them have lost its folder:
nothing in a checkpoint tells which it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checks.source_offsets import LOG_OFFSET
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.json_values import json_or_none
from holdfast_spark.checkpoint.files.log_entries import NO_OFFSET
from holdfast_spark.checkpoint.files.numbers import whole_number

# More ways to tell places from each other than any query has.
_MOST_WAYS = 1_000


class Source(NamedTuple):
    """A source of the newest batch.

    Attributes:
        name: its name in the offsets, or its place.
        offset: what it is to be read to, as text.
    """

    name: str
    offset: str


def sources_by_folder(subject: Subject) -> Mapping[str, Source]:
    """Return the sources of the newest batch by their folders; none if it cannot be read.

    Of those places that are one source, if the user has said that there are some, the first alone.
    """
    newest = _newest(subject)
    repeated = _taken_for_one(subject)
    folders = _folders(list(_lines(subject).values()), repeated)
    return {
        str(folder) if name.isdigit() else name: Source(name, offset)
        for place, ((name, offset), folder) in enumerate(zip(newest.items(), folders, strict=True))
        if place not in repeated
    }


def taken_for_one(subject: Subject) -> Iterator[str]:
    """Yield a note of the places that are taken for one source, because the user has said so."""
    if repeated := _taken_for_one(subject):
        whose = counted(len(repeated), "line of the offsets says", "lines of the offsets say")
        yield (
            f"In each batch {whose} what an earlier one does (line {', '.join(map(str, repeated))} "
            "of those of sources, from 0), and there is no folder for it in sources: taken for a "
            "source that the query reads in several places."
        )


def repeated_places(subject: Subject) -> tuple[int, ...]:
    """Return the places that may be further ones of a source; none where each has a folder.

    Where several would do, those with which file sources have the batch that they have come to.
    """
    lines = _lines(subject)
    seen = list(lines.values())
    again = [place for place, line in enumerate(seen) if _is_read(line) and line in seen[:place]]
    if not again or not all(name.isdigit() for name in lines):
        return ()
    numbers = map(whole_number, (subject.location / "sources").names())
    folders = 1 + max((number for number in numbers if number is not None), default=-1)
    lacking = len(seen) - folders
    if not folders or not 0 < lacking <= len(again):
        return ()
    ways = list(islice(combinations(again, lacking), _MOST_WAYS))
    return next((way for way in ways if _fits(subject, seen, way)), ways[0])


def _taken_for_one(subject: Subject) -> tuple[int, ...]:
    return repeated_places(subject) if subject.shared_sources else ()


def _newest(subject: Subject) -> Mapping[str, str]:
    newest = subject.readable_offsets.get(subject.named.planned[-1])
    return newest.sources if newest else {}


def _lines(subject: Subject) -> Mapping[str, tuple[str | None, ...]]:
    """Return what each source of the newest batch is to be read to, in every batch."""
    batches = subject.readable_offsets.values()
    return {name: tuple(b.sources.get(name) for b in batches) for name in _newest(subject)}


def _is_read(line: Sequence[str | None]) -> bool:
    return line[-1] not in (None, NO_OFFSET)


def _folders(lines: Sequence[object], repeated: Collection[int]) -> list[int]:
    """Return the number of the folder of each line."""
    folders: list[int] = []
    for place, line in enumerate(lines):
        if place in repeated:
            folders.append(folders[lines.index(line)])
        else:
            folders.append(1 + max(folders, default=-1))
    return folders


def _fits(subject: Subject, lines: Sequence[Sequence[str | None]], way: Collection[int]) -> bool:
    for folder, line in zip(_folders(lines, way), lines, strict=True):
        offset = json_or_none(line[-1] or NO_OFFSET)
        if isinstance(offset, dict) and LOG_OFFSET in offset:
            file = f"sources/{folder}/{offset[LOG_OFFSET]}"
            if file not in subject.entries and f"{file}.compact" not in subject.entries:
                return False
    return True
