"""The rows of a state store, chosen by partition, key and number."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import pyarrow as pa

from holdfast_spark._arguments import (
    COUNT,
    FLAG,
    TEXT,
    TEXTS,
    or_none,
    require_arguments,
    whole,
)
from holdfast_spark.checkpoint.checkpoint import JOIN_SIDE, SCHEMA, Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, MissingSchemaError, UnansweredError
from holdfast_spark.checkpoint.family_choice import FamilyChoice
from holdfast_spark.checkpoint.family_rows import read_family
from holdfast_spark.checkpoint.files.journals import require_finished
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import describe
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE
from holdfast_spark.checkpoint.rows.key_filter import matching
from holdfast_spark.errors import WrongArgumentError

JoinSide = Literal["left", "right"]


def read_rows(  # noqa: PLR0913 - one for each option of the command
    checkpoint: Checkpoint,
    *,
    operator_id: int = 0,
    store_name: str = DEFAULT_STORE,
    join_side: JoinSide | None = None,
    state_var_name: str | None = None,
    column_family: str | None = None,
    read_registered_timers: bool = False,
    batch_id: int | None = None,
    partition: int | None = None,
    keys: Sequence[str] = (),
    limit: int | None = None,
    schema: ColumnFamily | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read rows of a state store.

    The memory in use is that of some megabytes of rows, and of the changes in the delta files
    behind a snapshot.

    Args:
        checkpoint: the checkpoint. Its query may run meanwhile.
        operator_id: the operator.
        store_name: the store; operators with several have them named.
        join_side: `left` or `right`, for the rows that a stream-stream join keeps of that side,
            instead of a store.
        state_var_name: the rows of a state variable of `transformWithState`.
        column_family: the rows of a column family, as they are.
        read_registered_timers: the timers that such an operator has registered.
        batch_id: the state after this batch, -1 for the empty one before the first; the newest
            committed one for None.
        partition: one partition only.
        keys: conditions that all have to hold, `FIELD=VALUE` each, a field of a struct in the key
            being `struct.field`; `null` is for no value. Dates and times are ISO 8601, in UTC
            where Spark has an instant.
        limit: at most so many rows.
        schema: the schema of the rows of a store, made by `schema_from_ddl`, which is taken as it
            is given; None for that in its schema file, or, where there is none, as before Spark
            3.1, for one that the bytes tell (`rows.guess`).

    Yields:
        Rows in no particular order: columns `partition_id`, `key` and `value`, as those of Spark's
        `statestore` source, which has other columns than `value` for lists, maps and timers
        (`family_rows`). If there are no rows, none of them once.

    Raises:
        UnfinishedChangeError: a change of the checkpoint was cut off.
        CheckpointError: what is asked for is not there, or is damaged.
        KeyFilterError: a condition does not fit the keys.
        WrongArgumentError: `limit` is less than 0, several kinds of rows are asked for, a store is
            named for a side of a join, a schema is given for other rows than a store's, or
            something else than a checkpoint is given.
    """
    Checkpoint.require(checkpoint, by="checkpoint.read_rows")
    require_finished(checkpoint.location)
    require_limit(limit, by="checkpoint.read_rows")
    require_arguments(
        "checkpoint.read_rows",
        operator_id=(operator_id, COUNT),
        store_name=(store_name, TEXT),
        join_side=(join_side, or_none(JOIN_SIDE)),
        state_var_name=(state_var_name, or_none(TEXT)),
        column_family=(column_family, or_none(TEXT)),
        read_registered_timers=(read_registered_timers, FLAG),
        batch_id=(batch_id, or_none(whole())),
        partition=(partition, or_none(COUNT)),
        keys=(keys, TEXTS),
        schema=(schema, or_none(SCHEMA)),
    )
    keys = [keys] if isinstance(keys, str) else keys
    choice = FamilyChoice(
        state_var_name=state_var_name,
        column_family=column_family,
        timers=read_registered_timers,
    )
    kind = dataclasses.replace(choice, join_side=join_side)
    kind.require_one(by="checkpoint.read_rows")
    if join_side and store_name != DEFAULT_STORE:
        raise WrongArgumentError(
            function="checkpoint.read_rows",
            expected="no store_name beside join_side",
            found=store_name,
        )
    if schema and kind:
        raise WrongArgumentError(
            function="checkpoint.read_rows",
            expected=f"no schema beside {kind.given[0]}",
            found=schema,
        )
    if choice or _is_in_families(checkpoint, operator_id, store_name):
        choice = dataclasses.replace(choice, join_side=join_side)
        rows = read_family(
            checkpoint,
            choice,
            operator_id=operator_id,
            store_name=store_name,
            batch_id=batch_id,
            partition=partition,
        )
    elif join_side:
        rows = checkpoint.read_join_side(
            join_side, operator_id=operator_id, batch_id=batch_id, partition=partition
        )
    else:
        rows = checkpoint.read(
            operator_id=operator_id,
            store_name=store_name,
            batch_id=batch_id,
            partition=partition,
            schema=schema,
        )
    return _limited((matching(piece, keys) for piece in rows), limit)


def unlike_schema_file(
    checkpoint: Checkpoint, schema: ColumnFamily, *, operator_id: int, store_name: str
) -> str | None:
    """Return where a schema that is given has other types than that of the store, in a sentence.

    Rows are of one width whatever is in them, so that a wrong schema reads most of them.

    Args:
        checkpoint: the checkpoint.
        schema: the schema that is given.
        operator_id: the operator.
        store_name: the store.

    Returns:
        None where the types are the same, whatever the columns are called, and where there is no
        schema file that can be read.
    """
    try:
        found = checkpoint.row_schema(operator_id, store_name=store_name)
        file = checkpoint.schema_file(operator_id, store_name=store_name)
    except (CheckpointError, UnansweredError):
        return None
    for part, mine, its in (
        ("key", schema.key, found.key),
        ("value", schema.value, found.value),
    ):
        given, written = (", ".join(describe(f.type) for f in each.fields) for each in (mine, its))
        if given != written:
            return (
                f"The types of the {part} are given as ({given}), and {file} says ({written}): "
                "unless that is the schema of other rows, what is shown is not what they hold."
            )
    return None


def without_schema_file(checkpoint: Checkpoint, *, operator_id: int, store_name: str) -> str | None:
    """Return that a store has no schema file, in a sentence; None where it has, or is not there.

    Args:
        checkpoint: the checkpoint.
        operator_id: the operator.
        store_name: the store.
    """
    try:
        checkpoint.stores_of(operator_id, store_name=store_name)
        checkpoint.row_schema(operator_id, store_name=store_name)
    except MissingSchemaError as error:
        return f"{error} Here columns have numbers, and the types that the bytes of rows tell."
    except (CheckpointError, UnansweredError):
        return None
    return None


def _is_in_families(checkpoint: Checkpoint, operator_id: int, store_name: str) -> bool:
    checkpoint.require_readable()
    return checkpoint.in_families(operator_id, store_name=store_name)


def _limited(pieces: Iterable[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """Yield pieces of rows until there are `limit` rows; all for None."""
    left = limit
    for piece in pieces:
        if left is None:
            yield piece
            continue
        yield piece.slice(0, left)
        left -= min(left, len(piece))
        if not left:
            return


def require_limit(limit: int | None, *, by: str) -> None:
    """Check a number of rows at most.

    Args:
        limit: the number, None for all.
        by: the function that was given it, such as `checkpoint.diff`.

    Raises:
        WrongArgumentError: it is less than 0, or no number.
    """
    if not or_none(COUNT).fits(limit):
        raise WrongArgumentError(function=by, expected="a limit of 0 rows or more", found=limit)
