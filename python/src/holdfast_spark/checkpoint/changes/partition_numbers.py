"""The partition numbers that the batches of a checkpoint are pinned to, where they differ.

Spark can repartition a stopped query as well, and tells an unfinished repartitioning by the numbers
of two batches: no change may make them alike while the state is spread over the former one.
"""

from __future__ import annotations

import contextlib
from functools import partial

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS
from holdfast_spark.checkpoint.unfinished_repartition import unfinished_repartition


class UnfinishedRepartitionError(CheckpointError):
    """Spark has begun to repartition the query, and has not finished it."""


class OtherPartitionsError(CheckpointError):
    """The state of an earlier batch is spread over another number of partitions."""


def require_no_repartition(checkpoint: Checkpoint) -> None:
    """Check that no planned batch has another partition number than the newest committed one.

    Raises:
        UnfinishedRepartitionError: one has.
    """
    found = unfinished_repartition(
        checkpoint.planned, checkpoint.committed, partial(_number, checkpoint)
    )
    if found:
        raise UnfinishedRepartitionError(
            f"{checkpoint.location} is being repartitioned by Spark: expected {found.before} "
            f"partitions in the planned batch {found.batch_id}, as in the newest committed batch "
            f"{found.committed}, found {found.after}. Finish that with the Spark that has begun "
            f"it, or undo it: if the state of {counted(found.before, 'partition')} is still whole, "
            f"move {checkpoint.location / 'offsets' / found.batch_id} away. Then start again."
        )


def require_same_partitions(checkpoint: Checkpoint, back_to: int) -> None:
    """Check that the partition number has not changed since a batch that a query goes back to.

    Args:
        checkpoint: the checkpoint.
        back_to: that batch; -1 for before the first one, when there is no state that could lie in
            other partitions.

    Raises:
        OtherPartitionsError: it has.
    """
    if back_to < 0:
        return
    newest = checkpoint.newest_committed
    now = _number(checkpoint, newest)
    for batch in reversed(checkpoint.planned):
        then = _number(checkpoint, batch)
        if back_to <= batch < newest and now and then and then != now:
            raise OtherPartitionsError(
                f"{checkpoint.location} cannot go back to after batch {back_to}: its state is in "
                f"{counted(now, 'partition')} since then, and was in {then} at batch {batch}. "
                "Restore the checkpoint from a copy, or from a backup of the change."
            )


def partition_setting(checkpoint: Checkpoint) -> dict[str, str]:
    """Return the number that the state has, where the newest batch does not pin any.

    Spark takes a planned batch without a number for a part of an unfinished repartition, and fails
    (4.3). A query without state needs none.

    Raises:
        CheckpointError: the metadata of an operator cannot be read.
    """
    if checkpoint.settings.shuffle_partitions:
        return {}
    said = [kind.partitions for operator in checkpoint.operators for kind in operator.stores]
    there = [store.partition_id + 1 for store in checkpoint.stores]
    number = max(said or there, default=0)
    return {SHUFFLE_PARTITIONS: str(number)} if number else {}


def _number(checkpoint: Checkpoint, batch: int) -> int | None:
    """Return the number that a batch pins; None where it has none, or cannot be read."""
    with contextlib.suppress(CheckpointError):
        return checkpoint.batch(batch).settings.shuffle_partitions
    return None
