"""The stores that a query has to have, by the metadata of its operators."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
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


def _partitions(checkpoint: Checkpoint, operator: Operator, kind: StoreMetadata) -> int:
    try:
        key = checkpoint.row_schema(operator.operator_id, store_name=kind.name).key
        placement = Placement(operator, store_name=kind.name, key=key)
    except UnknownPlacementError:
        return kind.partitions
    except CheckpointError:
        return 1  # without a schema, all that is known is that there is a partition 0
    return 1 if placement.is_single else kind.partitions
