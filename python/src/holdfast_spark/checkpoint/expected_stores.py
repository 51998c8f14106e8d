"""The stores that a query has to have, by its logs and the metadata of its operators."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.column_families import why_in_column_families
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.lineage import JOIN_STORES
from holdfast_spark.checkpoint.files.logs import read_state_ids
from holdfast_spark.checkpoint.files.numbers import gaps
from holdfast_spark.checkpoint.files.operators import Operator, StoreMetadata
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.rows.partitioning import Placement, UnknownPlacementError

_MOST_OPERATORS = 1_000
# Partitions times stores of all operators.
MOST_STORES = 200_000


def needs_state(checkpoint: Checkpoint) -> bool:
    """Tell whether there has to be state: not while the first batch is still to be run.

    One that has failed leaves what it came to: files of some partitions, and of the operators
    before the one that failed.
    """
    return bool(checkpoint.committed or checkpoint.planned[-1])


def stores_without_files(checkpoint: Checkpoint) -> Iterator[StoreFiles]:
    """Yield the stores that have lost all their files.

    A store commits every batch, also one without rows for it, so that each has files. An operator
    without a key, such as a limit, is in partition 0 alone, whatever its metadata says. Of one that
    has no metadata, as before Spark 4.0, those that are there tell which there have to be.

    Raises:
        CheckpointError: the metadata of an operator cannot be read.
    """
    there = {(store.operator_id, store.partition_id, store.name) for store in checkpoint.stores}
    for operator in checkpoint.operators:
        wanted = {
            kind.name: _partitions(checkpoint, operator, kind) for kind in operator.stores
        } or _by_those_that_are_there(checkpoint, operator.operator_id)
        for name, partitions in wanted.items():
            for partition in range(partitions):
                if (operator.operator_id, partition, name) not in there:
                    yield StoreFiles(
                        operator_id=operator.operator_id,
                        partition_id=partition,
                        name=name,
                        files=(),
                    )


def all_stores_without_files(checkpoint: Checkpoint) -> list[StoreFiles]:
    """Return the stores that have lost all their files, to be made anew.

    Raises:
        MalformedFileError: they are more than any query has.
        CheckpointError: the metadata of an operator cannot be read.
    """
    lost = list(islice(stores_without_files(checkpoint), MOST_STORES + 1))
    if len(lost) > MOST_STORES:
        raise MalformedFileError(
            path=str(checkpoint.location / "offsets" / checkpoint.planned[-1]),
            expected="a number of partitions that the folders below state bear out",
            found=f"more than {MOST_STORES:,} stores without a file",
        )
    return lost


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
    # Of gaps wider than any query is, the first ones tell as much.
    before = (n for gap in gaps(there, 0, max(there, default=-1)) for n in gap)
    return sorted({*islice(before, _MOST_OPERATORS), *(named - there)})


def why_empty(checkpoint: Checkpoint, operator_id: int) -> str:
    """Return what there is to say of an operator's folder that has no file."""
    return (
        f"{checkpoint.location / 'state' / operator_id} is empty: expected the state of operator "
        f"{operator_id}, or no folder of that number where the query has no such operator. Restore "
        "it from a copy."
    )


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


def _by_those_that_are_there(checkpoint: Checkpoint, operator_id: int) -> dict[str, int]:
    """Return the partitions of each store of an operator without metadata, as far as can be known.

    Which has one partition alone, or lost all others, nothing tells.
    """
    ours = [store for store in checkpoint.live_stores if store.operator_id == operator_id]
    names = {store.name for store in ours}
    if not names.isdisjoint(JOIN_STORES):
        names |= {*JOIN_STORES}
    most = max((store.partition_id for store in ours), default=0) + 1
    partitions = max(checkpoint.settings.shuffle_partitions or 0, most) if most > 1 else 1
    return dict.fromkeys(sorted(names), partitions)


def _partitions(checkpoint: Checkpoint, operator: Operator, kind: StoreMetadata) -> int:
    if why_in_column_families(operator, checkpoint.settings):
        return _pinned(checkpoint, kind)
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
