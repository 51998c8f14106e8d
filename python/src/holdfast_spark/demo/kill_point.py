"""Where a query stands in the midst of a batch, as its checkpoint tells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import NotACheckpointError


@dataclass(frozen=True, slots=True, kw_only=True)
class KillPoint:
    """Where a killed query stood.

    Attributes:
        batch: the newest batch that it had planned.
        committed: whether that batch was through.
        stores_written: state stores that have written the batch's state.
        state_stores: all state stores of the query.
    """

    batch: int
    committed: bool
    stores_written: int
    state_stores: int


def find_kill_point(folder: Path) -> KillPoint | None:
    """Return where the query of a checkpoint stood when it ended; None if it planned no batch."""
    try:
        checkpoint = Checkpoint.open(str(folder))
    except NotACheckpointError:
        return None
    batch = checkpoint.planned[-1]
    versions = [{file.version for file in store.files} for store in checkpoint.stores]
    stores = sum(store.partitions for operator in checkpoint.operators for store in operator.stores)
    return KillPoint(
        batch=batch,
        committed=batch in checkpoint.committed,
        stores_written=sum(batch + 1 in written for written in versions),
        # Before Spark 4.0 nothing but the folders tells of them.
        state_stores=max(stores, len(checkpoint.stores)),
    )


def has_begun_to_write(folder: Path, batch: int) -> bool:
    """Return whether any state store has written the state after `batch`, its version + 1.

    Cheap enough to be asked all the time, and unmoved by files that come and go meanwhile.
    """
    return any(folder.glob(f"state/[0-9]*/[0-9]*/**/{batch + 1}.delta"))
