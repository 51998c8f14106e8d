"""How the state after two batches differs: counts, and the first rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from holdfast_spark._arguments import COUNT, FLAG, TEXT, or_none, require_arguments, whole
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.difference import Side, compare
from holdfast_spark.checkpoint.family_choice import FamilyChoice
from holdfast_spark.checkpoint.family_difference import compare_families
from holdfast_spark.checkpoint.files.journals import require_finished
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE
from holdfast_spark.checkpoint.row_reading import require_limit
from holdfast_spark.checkpoint.rows.json_text import json_rows

ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """How two states differ.

    Attributes:
        path: the checkpoint of the first state.
        other_path: that of the second one.
        from_batch: the first state is that after this batch; -1 is before the first one.
        to_batch: the second state is that after this batch.
        operator_id: number of the stateful operator.
        operator_name: Spark's name of it.
        store_name: name of the store.
        added: rows that only the second has.
        changed: rows that both have, with different values.
        removed: rows that only the first has.
        rows: the first of them, as many as `--limit` says: objects with `change`, which is `added`,
            `changed` or `removed`, `partition_id`, `key`, `before` and `after`, rendered as by
            `holdfast show`. Of a store with column families they have `column_family`, too, and
            the values of a list are one.
    """

    path: str
    other_path: str
    from_batch: int
    to_batch: int
    operator_id: int
    operator_name: str
    store_name: str
    added: int
    changed: int
    removed: int
    rows: tuple[dict[str, Any], ...]


def diff(  # noqa: PLR0913 - one for each option of the command
    checkpoint: Checkpoint,
    other: Checkpoint | None = None,
    *,
    from_batch: int | None = None,
    to_batch: int | None = None,
    operator_id: int = 0,
    store_name: str = DEFAULT_STORE,
    state_var_name: str | None = None,
    column_family: str | None = None,
    read_registered_timers: bool = False,
    limit: int | None = ROWS,
) -> Diff:
    """Compare the state of a store after two batches of a checkpoint, or of two checkpoints.

    The memory in use is that of one partition's rows on one side, and of the rows that differ.

    Args:
        checkpoint: the checkpoint of the first state.
        other: that of the second one; the same for None.
        from_batch: batch of the first state, -1 for the empty one before the first. For None the
            newest committed one, or the one before the second state's where there is no other
            checkpoint.
        to_batch: batch of the second state, -1 for the empty one before the first; the newest
            committed one for None.
        operator_id: the operator, the same on both sides.
        store_name: the store.
        state_var_name: this state variable of `transformWithState` alone.
        column_family: this column family alone; all of a store for None.
        read_registered_timers: its registered timers alone.
        limit: at most so many rows are told, all for None; all are counted.

    Raises:
        UnfinishedChangeError: a change of a checkpoint was cut off.
        IncomparableError: schemas or partitions are not the same.
        CheckpointError: what is asked for is not there, or is damaged.
    """
    Checkpoint.require(checkpoint, by="checkpoint.diff")
    second = checkpoint if other is None else other
    Checkpoint.require(second, by="checkpoint.diff")
    require_arguments(
        "checkpoint.diff",
        from_batch=(from_batch, or_none(whole())),
        to_batch=(to_batch, or_none(whole())),
        operator_id=(operator_id, COUNT),
        store_name=(store_name, TEXT),
        state_var_name=(state_var_name, or_none(TEXT)),
        column_family=(column_family, or_none(TEXT)),
        read_registered_timers=(read_registered_timers, FLAG),
    )
    require_limit(limit, by="checkpoint.diff")
    choice = FamilyChoice(
        state_var_name=state_var_name,
        column_family=column_family,
        timers=read_registered_timers,
    )
    choice.require_one(by="checkpoint.diff")
    for each in (checkpoint, second):
        require_finished(each.location)
    if to_batch is None:
        to_batch = second.newest_committed
    if from_batch is None:
        from_batch = checkpoint.newest_committed if other else to_batch - 1
    counts: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    sides = (
        Side(checkpoint=checkpoint, batch_id=from_batch),
        Side(checkpoint=second, batch_id=to_batch),
    )
    checkpoint.require_readable()
    if choice or checkpoint.in_families(operator_id, store_name=store_name):
        differences = compare_families(
            *sides, choice=choice, operator_id=operator_id, store_name=store_name
        )
    else:
        differences = compare(*sides, operator_id=operator_id, store_name=store_name)
    for found in differences:
        counts[found.change] += len(found.keys)
        left = None if limit is None else limit - len(rows)
        rows += json_rows(found.rows().slice(0, left))
    return Diff(
        path=str(checkpoint.location),
        other_path=str(second.location),
        from_batch=from_batch,
        to_batch=to_batch,
        operator_id=operator_id,
        operator_name=checkpoint.operator(operator_id).name,
        store_name=store_name,
        added=counts["added"],
        changed=counts["changed"],
        removed=counts["removed"],
        rows=tuple(rows),
    )
