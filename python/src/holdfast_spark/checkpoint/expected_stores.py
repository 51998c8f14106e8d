"""The stores that a query has to have, by its logs and the metadata of its operators."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.logs import read_state_ids
from holdfast_spark.checkpoint.files.operators import Operator, StoreMetadata
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.rows.partitioning import Placement, UnknownPlacementError


def stores_without_files(checkpoint: Checkpoint) -> Iterator[StoreFiles]:
    """Yield the stores that have lost all their files.

    A store commits every batch, also one without rows for it, so that each has files. An operator
    without a key, such as a limit, is in partition 0 alone, whatever its metadata says.

    Raises:
        CheckpointError: the metadata of an operator cannot be read.
    """
    there = {(store.operator_id, store.partition_id, store.name) for store in checkpoint.stores}
    for operator in checkpoint.operators:
        for kind in operator.stores:
            for partition in range(_partitions(checkpoint, operator, kind)):
                if (operator.operator_id, partition, kind.name) not in there:
                    yield StoreFiles(
                        operator_id=operator.operator_id,
                        partition_id=partition,
                        name=kind.name,
                        files=(),
                    )


def operators_without_files(checkpoint: Checkpoint) -> list[int]:
    """Return the operators that have lost all that lay in `state/<operator>`.

    Spark numbers operators from 0, and in checkpoint format 2 the newest commit names them all.

    Raises:
        CheckpointError: the newest commit cannot be read.
    """
    there = {operator.operator_id for operator in checkpoint.operators}
    named: set[int] = set()
    if checkpoint.committed:
        commit = checkpoint.location / "commits" / checkpoint.committed[-1]
        named = set(read_state_ids(commit)) if commit.exists() else set()
    return sorted({*range(max(there, default=-1)), *named} - there)


def without_state(checkpoint: Checkpoint) -> str | None:
    """Return what there is to say where batches are committed and there is no state at all.

    Only the query itself tells whether it needs any: the settings that its batches pin are the same
    with stateful operators and without.
    """
    if checkpoint.operators or not checkpoint.committed:
        return None
    watermark = checkpoint.newest_readable.watermark_ms
    hint = "; it has a watermark, as queries with such operators often have" if watermark else ""
    return (
        f"{checkpoint.location} holds no state: that is right only for a query without stateful "
        f"operators{hint}. Of any other the folder state is lost: restore it from a copy."
    )


def live_stores(checkpoint: Checkpoint) -> tuple[StoreFiles, ...]:
    """Return the stores without those that a repartitioning to fewer partitions left behind.

    Their partition is none of the number that the newest batch pins, which Spark obeys, whatever
    the metadata of the operator says, and they have no file of the version that it starts from.
    """
    pinned = checkpoint.settings.shuffle_partitions
    if pinned is None or not checkpoint.committed:
        return checkpoint.stores
    version = checkpoint.committed[-1] + 1
    return tuple(
        store
        for store in checkpoint.stores
        if store.partition_id < pinned or version in {*store.deltas, *store.snapshots}
    )


def _partitions(checkpoint: Checkpoint, operator: Operator, kind: StoreMetadata) -> int:
    try:
        key = checkpoint.row_schema(operator.operator_id, store_name=kind.name).key
        placement = Placement(operator, store_name=kind.name, key=key)
    except UnknownPlacementError:
        return _pinned(checkpoint, kind)
    except CheckpointError:
        return 1  # without a schema, all that is known is that there is a partition 0
    return 1 if placement.is_single else _pinned(checkpoint, kind)


def _pinned(checkpoint: Checkpoint, kind: StoreMetadata) -> int:
    """Return what Spark goes by; version 1 of the metadata stays as it was at the beginning."""
    return checkpoint.settings.shuffle_partitions or kind.partitions
