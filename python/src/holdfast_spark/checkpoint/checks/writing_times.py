"""Whether each delta was written while its own batch ran.

Nothing in a delta says which version it makes. But a batch writes its offsets, then its deltas,
then its commit; a delta whose time lies between the offsets and the commit of another batch has
been exchanged with one of that batch. Where copying has changed the times, they say nothing: then
the batches overlap, or many deltas lie elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from itertools import pairwise

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.state_files import StoreFiles

# Where more than one in so many is out of order, the times are those of copying.
_FEW = 4


def check_writing_times(subject: Subject, stores: Sequence[StoreFiles]) -> Iterator[Problem]:
    """Yield deltas that were written by another batch."""
    spans = _spans(subject)
    if any(end >= start for (_, _, end), (_, start, _) in pairwise(spans)):
        return
    deltas = [
        (file, version - 1, _batch_at(spans, file.modified))
        for store in stores
        for version, file in store.deltas.items()
    ]
    fitting = sum(own == batch for _, own, batch in deltas)
    strangers = [each for each in deltas if each[2] not in (None, each[1])]
    if len(strangers) * _FEW > fitting:
        return
    for file, own, batch in strangers:
        yield Problem(
            location=file.location,
            kind="state",
            error=f"{file.location} is not of version {own + 1}: expected a file that was written "
            f"while batch {own} ran, found one of {file.modified}, while batch {batch} ran. Files "
            "of several versions have been exchanged, or this one has been changed. Restore it "
            "from a copy.",
        )


def _spans(subject: Subject) -> list[tuple[int, datetime, datetime]]:
    """Return batch, time of its offsets and time of its commit, which may be still to come."""
    spans = []
    for batch in subject.named.planned:
        start, end = written(subject, "offsets", batch), written(subject, "commits", batch)
        if batch == subject.next_batch:
            end = datetime.max.replace(tzinfo=timezone.utc)
        if start and end:
            spans.append((batch, start, end))
    return spans


def _batch_at(spans: Sequence[tuple[int, datetime, datetime]], time: datetime | None) -> int | None:
    return next((b for b, start, end in spans if time and start < time < end), None)


def check_commit_times(subject: Subject) -> Iterator[Problem]:
    """Yield commits that are older than the offsets of their batch, where few of them are."""
    times = [
        (batch, start, end)
        for batch in subject.named.committed
        # Offsets that cannot be read have been written over, and say nothing of the commit.
        if batch in subject.readable_offsets
        and (start := written(subject, "offsets", batch))
        and (end := written(subject, "commits", batch))
    ]
    early = [batch for batch, start, end in times if end < start]
    if len(early) * _FEW > len(times):
        return
    for batch in early:
        file = subject.location / "commits" / batch
        yield Problem(
            location=file,
            kind="log",
            error=f"{file} is older than the offsets of its batch: expected a commit that was "
            "written after them. It is a copy of another one, and the batch may not be through. "
            "Restore the file from a copy of its own, or remove it if there was none.",
        )


def written(subject: Subject, log: str, batch: int) -> datetime | None:
    """Return when the file of a batch was written; None without it, or where nobody knows."""
    entry = subject.entries.get(f"{log}/{batch}")
    return entry.modified if entry else None
