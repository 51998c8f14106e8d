"""Whether batches, their deltas and their commits were written one after the other.

Nothing in a delta says which version it makes. But a batch writes its offsets, then its deltas,
then its commit; a delta whose time lies between the offsets and the commit of another batch may
have been exchanged with one of that batch. Times are no proof, since whoever copies or restores a
file may change them, and clocks differ: what they tell is worth a look, and breaks nothing. Where
the batches overlap, or many files are out of order, they tell nothing.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from itertools import pairwise

from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.state_files import StoreFiles

# Where more than one in so many is out of order, the times are those of copying.
_FEW = 4


def odd_delta_times(subject: Subject, stores: Sequence[StoreFiles]) -> Iterator[str]:
    """Yield a sentence for each delta that seems to be of another batch."""
    spans = _spans(subject)
    if any(end >= start for (_, _, end), (_, start, _) in pairwise(spans)):
        return
    deltas = [
        (number, file, version - 1, _batch_at(spans, file.modified))
        for number, store in enumerate(stores)
        for version, file in store.deltas.items()
    ]
    fitting = sum(own == batch for _, _, own, batch in deltas)
    strangers = [each for each in deltas if each[3] not in (None, each[2])]
    # Two files of a store, each of the time of the other, are out of order by one exchange.
    exchanges = {(number, frozenset((own, batch))) for number, _, own, batch in strangers}
    if len(exchanges) * _FEW > fitting:
        return
    for _, file, own, batch in strangers:
        yield (
            f"{file.location} may not be of version {own + 1}: expected a file that was written "
            f"while batch {own} ran, found one of {file.modified}, while batch {batch} ran. If it "
            "has not been copied or restored since, files of several versions have been exchanged, "
            "and the state is not right: restore them from a copy."
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
    """Return the batch that ran at a time; of spans one after the other."""
    if time is None:
        return None
    place = bisect.bisect_left(spans, time, key=lambda span: span[1]) - 1
    if place < 0:
        return None
    batch, _, end = spans[place]
    return batch if time < end else None


def odd_commit_times(subject: Subject) -> Iterator[str]:
    """Yield a sentence for each commit older than the offsets of its batch, where few are."""
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
        yield (
            f"{subject.location / 'commits' / batch} is older than the offsets of its batch: "
            "expected a commit that was written after them. If the offsets have not been copied or "
            "restored since, it is a copy of another commit, and the batch may not be through: "
            "restore it from a copy of its own, or remove it if there was none."
        )


def odd_batch_times(subject: Subject) -> Iterator[str]:
    """Yield a sentence for each batch that was planned before the one before it, by its time."""
    entries = subject.readable_offsets
    for before, after in subject.neighbours:
        earlier, later = entries[before].timestamp_ms, entries[after].timestamp_ms
        if later and later < earlier:
            file = subject.location / "offsets" / after
            yield (
                f"{file} is of an earlier time than the batch before it: expected at least "
                f"{earlier} for batchTimestampMs, found {later}. If no clock was set back, it is "
                "another batch's, or damaged: restore it from a copy."
            )


def written(subject: Subject, log: str, batch: int) -> datetime | None:
    """Return when the file of a batch was written; None without it, or where nobody knows."""
    entry = subject.entries.get(f"{log}/{batch}")
    return entry.modified if entry else None
