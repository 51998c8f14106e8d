"""Whether `offsets/` and `commits/` can be read, are whole, and say the same.

Spark reads the two newest offsets files and the newest commit file when a query starts
(`MicroBatchExecution.populateStartOffsets`, 4.3). It refuses when one of them cannot be read or the
second newest offsets file is gone; what else contradicts itself it takes as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise

from holdfast_spark._text import batches_text
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.numbers import ranges_text

_RESTORE = "Restore it from a copy"


def check_logs(subject: Subject) -> Iterator[Problem]:
    """Yield what is wrong with the logs."""
    yield from _unreadable(
        subject.location / "offsets", subject.offsets, partial(_without_newest_plan, subject)
    )
    yield from _unreadable(subject.location / "commits", subject.commits, _nothing)
    yield from _commit_version(subject)
    yield from _gaps(subject)
    yield from _ends(subject)
    yield from _repeated(subject)
    yield from _watermarks(subject)


def _unreadable(
    log: Location, entries: Mapping[int, object], advice: Callable[[int], str]
) -> Iterator[Problem]:
    for batch, entry in entries.items():
        if isinstance(entry, CheckpointError):
            yield Problem(location=log / batch, kind="log", error=f"{entry}{advice(batch)}")


def _commit_version(subject: Subject) -> Iterator[Problem]:
    """The newest commit is of version 2 where it names state files, and only there."""
    for batch in subject.named.committed[-1:]:
        commit = subject.readable_commits.get(batch)
        if commit is None or "state" not in subject.location.names():
            continue
        wrong = "v1" if commit.has_state_ids else "v2"
        if commit.version == wrong:
            file = subject.location / "commits" / batch
            expected, names = ("v2", "names") if commit.has_state_ids else ("v1", "names no")
            yield Problem(
                location=file,
                kind="log",
                error=f"{file} begins with {wrong}: expected {expected}, as it {names} state files "
                f"(stateUniqueIds). {_RESTORE}.",
                stops=True,
            )


def _without_newest_plan(subject: Subject, batch: int) -> str:
    """Return what else to do about the offsets of a batch that cannot be read."""
    named = subject.named
    if batch != named.planned[-1]:
        return ""
    if batch - 1 in named.committed[-1:] and batch - 1 in subject.readable_offsets:
        return (
            " Or remove it, and its .crc file if it has one, and Spark plans the batch anew: that "
            "is right where the sink has nothing of it yet, as after a crash that left it empty."
        )
    earlier = [b for b in named.committed if b < batch and b in subject.readable_offsets]
    if earlier:
        return (
            f" Or go back to batch {earlier[-1]} with holdfast savepoint --batch-id {earlier[-1]}."
        )
    return ""


def _nothing(_batch: int) -> str:
    return ""


def _gaps(subject: Subject) -> Iterator[Problem]:
    planned, committed = subject.named.planned, subject.named.committed
    for name, batches in (("offsets", planned), ("commits", committed)):
        for before, after in pairwise(batches):
            if after == before + 1:
                continue
            missing = range(before + 1, after)
            log = subject.location / name
            yield Problem(
                location=log / missing[-1],
                kind="log",
                error=f"{log} has lost the batches {ranges_text([missing])}: expected every batch "
                f"between {batches[0]} and {batches[-1]}. {_RESTORE}.",
                # Of its predecessor Spark takes where the newest batch begins.
                stops=name == "offsets" and missing[-1] == planned[-1] - 1,
            )
    if planned[-1] > 0 and len(planned) == 1:
        yield Problem(
            location=subject.location / "offsets" / (planned[0] - 1),
            kind="log",
            error=f"{subject.location / 'offsets'} has batch {planned[0]} alone: expected the one "
            "before it, too, which tells where it begins. Spark refuses to start. "
            f"{_RESTORE}.",
            stops=True,
        )


def _ends(subject: Subject) -> Iterator[Problem]:
    """Where the two logs end: the newest planned batch is committed, or the one before it is."""
    newest = subject.named.planned[-1]
    commits = subject.location / "commits"
    if not subject.named.committed:
        if newest > 0:
            yield Problem(
                location=commits,
                kind="log",
                error=f"{commits} has no batch, and {newest} is planned: expected the batches "
                f"before it. Spark runs batch {newest} again, committed or not. "
                "Restore the folder from a copy.",
                stops=False,
            )
        return
    last = subject.named.committed[-1]
    if last > newest:
        offsets = subject.location / "offsets"
        lost = range(newest + 1, last + 1)
        plan, be, them = ("plan", "is", "it") if len(lost) == 1 else ("plans", "are", "them")
        yield Problem(
            location=offsets / last,
            kind="log",
            error=f"{offsets} ends with batch {newest}, {commits} with {last}: expected no batch "
            f"to be committed that is not planned. The {plan} of {batches_text(lost)} {be} gone, "
            f"and Spark would run batches a second time. Restore {them} from a copy, or go back to "
            f"batch {newest} with holdfast savepoint --batch-id {newest}.",
            stops=True,
        )
    elif last < newest - 1:
        yield Problem(
            location=commits / (newest - 1),
            kind="log",
            error=f"{commits} ends with batch {last} and {subject.location / 'offsets'} with "
            f"{newest}: expected them to end with the same batch, or one apart. Restore the "
            "commits from a copy.",
            stops=True,
        )


def _repeated(subject: Subject) -> Iterator[Problem]:
    """Neighbours that are the same: a batch has other data, a later watermark or a later time."""
    entries = subject.readable_offsets
    for before, after in subject.neighbours:
        if entries[before] == entries[after] and entries[after].timestamp_ms:
            file = subject.location / "offsets" / after
            yield Problem(
                location=file,
                kind="log",
                error=f"{file} says what {before} says: expected another batch. It is a copy. "
                "Restore the file from a copy of its own, or remove it if its batch is not "
                "committed.",
            )


def _watermarks(subject: Subject) -> Iterator[Problem]:
    """The watermark of a batch is what the commit before it said, and never goes back.

    A batch that repartitions has that of the batch that it repeats, and the empty commits before it
    announce none.
    """
    follows = {after for _, after in subject.neighbours} - subject.repartitions.keys()
    for batch, entry in subject.readable_offsets.items():
        before = subject.readable_commits.get(batch - 1) if batch in follows else None
        if before and before.next_watermark_ms not in (None, entry.watermark_ms):
            yield _watermark(
                subject.location / "offsets" / batch,
                f"the watermark {before.next_watermark_ms}, which the commit of batch {batch - 1} "
                "announces",
                entry.watermark_ms,
            )
        commit = subject.readable_commits.get(batch) if batch not in subject.given_up else None
        announced = commit.next_watermark_ms if commit else None
        if announced is not None and announced < entry.watermark_ms:
            yield _watermark(
                subject.location / "commits" / batch,
                f"at least the watermark of its batch, {entry.watermark_ms}",
                announced,
            )
    yield from _going_back(subject)


def _going_back(subject: Subject) -> Iterator[Problem]:
    entries, log = subject.readable_offsets, subject.location / "offsets"
    for before, after in subject.neighbours:
        if entries[after].watermark_ms < entries[before].watermark_ms:
            yield _watermark(
                log / after,
                f"at least the watermark of batch {before}, {entries[before].watermark_ms}",
                entries[after].watermark_ms,
            )


def _watermark(file: Location, expected: str, found: int) -> Problem:
    return Problem(
        location=file,
        kind="log",
        error=f"{file} contradicts the other batches: expected {expected}, found {found}. With a "
        f"wrong watermark the query drops rows that are not late, or keeps state. {_RESTORE}.",
    )
