"""The batches at a checkpoint's end whose state cannot be put together any more.

To go back to a batch takes its state in every store, its commit, its offsets, and those of the
batch after it, which is then run once more exactly as it was planned. Later batches are planned
anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast_spark.checkpoint.changes.fence import BEFORE_THE_FIRST_BATCH
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.expected_stores import stores_without_files
from holdfast_spark.checkpoint.files.operators import DESCRIPTIONS
from holdfast_spark.checkpoint.files.state_files import StoreFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The batches after the newest one that the query can go on from.

    Attributes:
        last_batch: the newest batch whose state every store has; -1 when that is the empty state
            before the first batch; None where the logs do not reach back so far.
        batches: the committed batches after it.
        files: the state files, with their checksums, which then are no longer needed, as paths
            below the checkpoint.
    """

    last_batch: int | None
    batches: tuple[int, ...]
    files: tuple[str, ...]


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
    files = tuple(_files(checkpoint)) if batches else ()
    return Tail(last_batch=last, batches=batches, files=files)


def _all_have(versions: Sequence[set[int]], version: int, *, whole: bool) -> bool:
    return whole and all(version in each for each in versions)


def _can_restart(checkpoint: Checkpoint, batch: int) -> bool:
    """Tell whether the logs have what it takes to go back to a batch, or on from the newest."""
    if batch == BEFORE_THE_FIRST_BATCH:
        return 0 in checkpoint.planned
    newest = batch == checkpoint.planned[-1]
    # For a batch that is the newest in the log, Spark reads the one before it as well
    # (`MicroBatchExecution.populateStartOffsets`, 4.3).
    read = {batch, batch - 1 if newest and batch else batch + (not newest)}
    return read <= set(checkpoint.planned)


def _files(checkpoint: Checkpoint) -> Iterator[str]:
    for entry in checkpoint.state_entries:
        name = checkpoint.location.below(entry.path)
        if DESCRIPTIONS.isdisjoint(name.split("/")):
            yield name
