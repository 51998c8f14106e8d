"""Whether the state has as many partitions as the newest batch pins.

Spark makes that many tasks for a stateful operator, whatever the metadata of the operator or the
folders below `state/` say (`IncrementalExecution`, 4.3): of too few, rows are left out of sight; of
too many, a task looks for state that nobody has written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS
from holdfast_spark.checkpoint.files.state_files import StoreFiles


def check_partitions(
    subject: Subject, checkpoint: Checkpoint, stores: Sequence[StoreFiles]
) -> Iterator[Problem]:
    """Yield where the number that the newest batch pins is not that of an operator's partitions."""
    pinned = checkpoint.settings.shuffle_partitions
    if pinned is None:
        return
    there: dict[int, set[int]] = defaultdict(set)
    for store in stores:
        if subject.next_batch in {*store.deltas, *store.snapshots}:
            there[store.operator_id].add(store.partition_id)
    for operator_id, partitions in there.items():
        found = max(partitions) + 1
        lacks = 1 < found < pinned and found in _noted(checkpoint, operator_id)
        if found > pinned or lacks:
            file = subject.location / "offsets" / checkpoint.planned[-1]
            yield Problem(
                location=file,
                kind="log",
                error=f"{file} pins {pinned} for {SHUFFLE_PARTITIONS}, which Spark obeys: expected "
                f"{found}, the number of partitions that the state of operator {operator_id} has. "
                "Restore the file from a copy.",
                stops=True,
            )


def _noted(checkpoint: Checkpoint, operator_id: int) -> set[int]:
    try:
        return {kind.partitions for kind in checkpoint.operator(operator_id).stores}
    except CheckpointError:
        return set()  # which has its own check
