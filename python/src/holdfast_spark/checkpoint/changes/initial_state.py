"""The state that a query may have begun with, which is gone when it goes back to its beginning.

`initialState` of `flatMapGroupsWithState`, `mapGroupsWithState` and `transformWithState` comes into
the state in batch 0 alone (`FlatMapGroupsWithStateExec` and `TransformWithStateExec`, Spark 4.3),
and the numbers of batches go on when a query goes back. Nothing in a checkpoint says whether there
was one.
"""

from __future__ import annotations

from holdfast_spark.checkpoint.changes.fence import BEFORE_THE_FIRST_BATCH
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.operators import UNKNOWN_OPERATOR, Operator

_NAMES = ("flatMapGroupsWithState", "transformWithState")
# The fields of its values, in both versions of its state.
_FIELDS = frozenset(("groupState", "timeoutTimestamp"))


class InitialStateError(CheckpointError):
    """A query cannot go back to before its first batch, since it may have had state there."""


def require_no_initial_state(checkpoint: Checkpoint, back_to: int) -> None:
    """Check that a query does not lose the state that it began with.

    Args:
        checkpoint: the checkpoint.
        back_to: the batch that it goes back to; -1 for before the first one.

    Raises:
        InitialStateError: it goes back to before the first one, and may have begun with state.
    """
    if back_to != BEFORE_THE_FIRST_BATCH:
        return
    for operator in checkpoint.operators:
        if _may_have_one(checkpoint, operator):
            raise InitialStateError(
                f"{checkpoint.location} cannot go back to before its first batch: expected no "
                f"operator that can begin with an initialState, found operator "
                f"{operator.operator_id} ({operator.name}), and Spark would not apply its one "
                "again. Restore the checkpoint from a copy, or start the query with a new one."
            )


def _may_have_one(checkpoint: Checkpoint, operator: Operator) -> bool:
    if operator.name != UNKNOWN_OPERATOR:
        return operator.name.startswith(_NAMES)
    try:
        value = checkpoint.row_schema(operator.operator_id).value
    except CheckpointError:
        return False  # Spark before 3.1, or a join: there was no initial state
    return any(field.name in _FIELDS for field in value.fields)
