"""Whether the start of a rate source, `sources/<n>/0`, fits the offsets.

The file has `v1` and the milliseconds at which the source began; an offset counts the seconds since
then (`RateStreamMicroBatchStream`, Spark 4.3). So no batch is planned before the seconds of its
offset have passed, and a batch with new data is planned just then. One without new data, such as
that planned by a change of the checkpoint, has the time at which it was planned, and an offset of
any time before. Sources with numbers for offsets and no such folder, as those in memory, keep
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.shared_sources import sources_by_folder
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.json_values import json_or_none
from holdfast_spark.checkpoint.files.location import Location

_START = re.compile(r"v1\n(\d{1,18})")
# Between the moment that an offset is of and the one that Spark writes down for its batch.
_SLACK_SECONDS = 30


def check_rate_sources(subject: Subject) -> Iterator[Problem]:
    """Yield starts that cannot be read, or lie elsewhere than the offsets say."""
    newest = subject.named.planned[-1]
    for place, (source, offset) in sources_by_folder(subject).items():
        if f"sources/{place}/0" not in subject.entries or not isinstance(json_or_none(offset), int):
            continue
        file = subject.location / "sources" / place / 0
        content = file.read_text()
        start = _START.fullmatch(content)
        misfit = _misfit(subject, source, int(start[1])) if start else newest
        if misfit is not None:
            yield _problem(subject, file, content, source, misfit)


def _misfit(subject: Subject, source: str, start_ms: int) -> int | None:
    """Return the newest batch whose time does not fit the start; None where all do."""
    offsets = subject.readable_offsets
    newest = subject.named.planned[-1]
    if _seconds_since(subject, source, newest, start_ms) < -_SLACK_SECONDS:
        return newest
    moved = (
        after
        for before, after in reversed(list(pairwise(offsets)))
        if offsets[before].sources.get(source) != offsets[after].sources.get(source)
    )
    batch = next(moved, None)
    if batch is None or not isinstance(json_or_none(offsets[batch].sources.get(source, "")), int):
        return None
    fits = abs(_seconds_since(subject, source, batch, start_ms)) <= _SLACK_SECONDS
    return None if fits else batch


def _seconds_since(subject: Subject, source: str, batch: int, start_ms: int) -> float:
    """Return how long after the moment of its offset a batch was planned."""
    entry = subject.readable_offsets[batch]
    return (entry.timestamp_ms - start_ms) / 1000 - int(entry.sources[source])


def _problem(subject: Subject, file: Location, content: str, source: str, batch: int) -> Problem:
    seconds = subject.readable_offsets[batch].sources[source]
    return Problem(
        location=file,
        kind="source",
        error=f"{file} is damaged: expected v1 and the milliseconds at which the source began, "
        f"{seconds} seconds before batch {batch}, found {content[:40]!r}. Restore the file from a "
        "copy.",
        stops=True,
    )
