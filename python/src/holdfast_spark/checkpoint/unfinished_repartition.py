"""A repartitioning by Spark that was begun and is not finished.

Spark repartitions a stopped query by a batch without data: it plans the batch with another
`spark.sql.shuffle.partitions`, spreads the state, and commits the batch. In between it refuses to
start the query (`STREAMING_UNFINISHED_REPARTITION_DETECTED`, 4.3), which it tells by the numbers of
the planned batch and of the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRepartition:
    """A planned batch with another number of partitions than the newest committed one.

    Attributes:
        batch_id: the planned batch.
        committed: the newest committed batch.
        before: number of partitions that the committed batch is pinned to.
        after: the number of the planned one.
    """

    batch_id: int
    committed: int
    before: int
    after: int


def unfinished_repartition(
    planned: Sequence[int], committed: Sequence[int], partitions: Callable[[int], int | None]
) -> UnfinishedRepartition | None:
    """Return the repartitioning that Spark has begun and not finished; None where there is none.

    Args:
        planned: the batches in `offsets/`, ascending.
        committed: the batches in `commits/`, ascending.
        partitions: tells the number that a planned batch pins; None where it has none, or cannot be
            read.
    """
    if not committed:
        return None
    newest = committed[-1]
    before = partitions(newest)
    for batch in planned:
        after = partitions(batch) if batch > newest else None
        if before and after and before != after:
            return UnfinishedRepartition(
                batch_id=batch, committed=newest, before=before, after=after
            )
    return None
