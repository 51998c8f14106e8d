"""The batches at a checkpoint's end whose state cannot be put together any more.

A restart goes on from the newest batch in `commits/`, or runs the one planned after it again: it
needs that batch's state in every store (`MicroBatchExecution.populateStartOffsets`, Spark 4.3). Of
the logs it needs the newest commit, the offsets of that batch and, where there is one, of the batch
after it, which then is run once more exactly as it was planned. Later batches are planned anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast_spark.checkpoint.changes.stopped import checksum_files
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.expected_stores import stores_without_files
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StoreFiles

BEFORE_THE_FIRST_BATCH = -1
_STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The batches after the newest one that the query can go on from.

    Attributes:
        last_batch: the newest batch whose state every store has; -1 when that is the empty state
            before the first batch; None where the logs do not reach back so far.
        batches: the committed batches after it.
        files: what belongs to them alone, as paths below the checkpoint, in the order in which it
            has to go; the whole folder `state` when the query starts over.
        count: number of these files.
    """

    last_batch: int | None
    batches: tuple[int, ...]
    files: tuple[str, ...]
    count: int


def find_tail(checkpoint: Checkpoint, sound: Sequence[StoreFiles]) -> Tail:
    """Find the batches that the query cannot go on from.

    Args:
        checkpoint: the checkpoint.
        sound: its stores, with only those files that can be read.
    """
    versions = [set(store.versions) for store in sound]
    whole = not any(stores_without_files(checkpoint))
    candidates = [*reversed(checkpoint.committed), BEFORE_THE_FIRST_BATCH]
    last = next(
        (
            batch
            for batch in candidates
            if _can_restart(checkpoint, batch)
            and (batch == BEFORE_THE_FIRST_BATCH or _all_have(versions, batch + 1, whole=whole))
        ),
        None,
    )
    batches = () if last is None else tuple(b for b in checkpoint.committed if b > last)
    files = tuple(_files(checkpoint, last)) if last is not None and batches else ()
    inside = len(checkpoint.state_entries) - 1 if _STATE in files else 0
    return Tail(last_batch=last, batches=batches, files=files, count=len(files) + inside)


def _all_have(versions: Sequence[set[int]], version: int, *, whole: bool) -> bool:
    return whole and all(version in each for each in versions)


def _can_restart(checkpoint: Checkpoint, batch: int) -> bool:
    """Tell whether the logs have what a restart after a batch reads."""
    if batch == BEFORE_THE_FIRST_BATCH:
        return 0 in checkpoint.planned
    newest = batch == checkpoint.planned[-1]
    # For a batch that is the newest in the log, Spark reads the one before it as well.
    read = {batch, batch - 1 if newest and batch else batch + (not newest)}
    return read <= set(checkpoint.planned)


def _files(checkpoint: Checkpoint, last: int) -> Iterator[str]:
    """Yield what goes, the state first: with it gone and the logs there, no query starts."""
    root = checkpoint.location
    if last == BEFORE_THE_FIRST_BATCH and checkpoint.state_entries:
        # With the metadata: the first batch may have had other partitions than the newest one.
        yield _STATE
    else:
        for store in checkpoint.stores:
            for file in (*store.files, *store.others):
                if file.version > last + 1:
                    yield from _with_checksums(root, file.location)
    logs = (("commits", checkpoint.committed, last), ("offsets", checkpoint.planned, last + 1))
    for name, batches, newest in logs:
        for batch in reversed(batches):
            if batch > newest:
                yield from _with_checksums(root, root / name / batch)


def _with_checksums(root: Location, file: Location) -> Iterator[str]:
    for each in (*(c for c in checksum_files(file) if c.exists()), file):
        yield each.path.removeprefix(f"{root.path.rstrip('/')}/")
