"""Which of the column families of a store is meant, by names that Spark has for them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import pyarrow as pa

from holdfast_spark._operator_names import is_join, plain_name
from holdfast_spark._text import options_text
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    NoSuchStoreError,
    NotAJoinError,
    UnansweredError,
)
from holdfast_spark.checkpoint.files.state_variables import (
    KEY_TO_TIMESTAMP,
    LIST,
    MAP,
    TIMER,
    StateVariable,
    state_variables,
)
from holdfast_spark.errors import WrongArgumentError

JOIN_SIDE = "JoinSide"
# Families of joins in state format 3, and in format 4.
_BY_INDEX, _BY_TIME = "-keyWithIndexToValue", "-keyWithTsToValues"


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyChoice:
    """A column family of a store, by one of its names; by none for a store without families.

    Attributes:
        state_var_name: name of a state variable of `transformWithState`.
        column_family: name of the family itself.
        timers: the timers that are registered.
        join_side: `left` or `right`, for the rows that a join keeps of a side.
    """

    state_var_name: str | None = None
    column_family: str | None = None
    timers: bool = False
    join_side: str | None = None

    def __bool__(self) -> bool:
        return bool(self.given)

    @property
    def given(self) -> list[str]:
        """The parameters of functions that choose it."""
        return [name for name, value in self._named.items() if value is not None]

    @property
    def _named(self) -> dict[str, object]:
        return {
            "state_var_name": self.state_var_name,
            "column_family": self.column_family,
            "read_registered_timers": self.timers or None,
            "join_side": self.join_side,
        }

    def require_one(self, *, by: str) -> None:
        """Check that at most one of the names is given.

        Raises:
            WrongArgumentError: there are more.
        """
        first, *others = self.given or ("",)
        if others:
            raise WrongArgumentError(
                function=by,
                expected=f"no {others[0]} beside {first}",
                found=self._named[others[0]],
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenFamily:
    """A column family, and how its rows are shown.

    Attributes:
        name: its name.
        type: type of the state variable that it is of, or `JOIN_SIDE`; None for the rows as they
            are.
    """

    name: str
    type: str | None

    def shown(self, partition: pa.Array, key: pa.Array, value: pa.Array) -> pa.RecordBatch:
        """Return rows with the columns that Spark's `statestore` source has, flattened."""
        columns = {"partition_id": partition, "key": key, "value": value}
        if self.type == LIST:
            columns = {"partition_id": partition, "key": key, "list_element": value}
        elif self.type == MAP and _has(key, "key", "userKey"):
            columns = {
                "partition_id": partition,
                "key": _field(key, "key"),
                "user_map_key": _field(key, "userKey"),
                "user_map_value": value,
            }
        elif self.type == TIMER and _has(key, "key", "expiryTimestampMs"):
            columns = {
                "partition_id": partition,
                "key": _field(key, "key"),
                "expiration_timestamp_ms": _field(key, "expiryTimestampMs"),
            }
        elif self.type == JOIN_SIDE:
            # The index or the time of a row in its key, and whether it has matched yet.
            hidden = int(value.type.num_fields > 0 and value.type.field(-1).name == "matched")
            columns |= {"key": _without(key, 1), "value": _without(value, hidden)}
        return pa.RecordBatch.from_pydict(columns)


def chosen_family(
    checkpoint: Checkpoint, choice: FamilyChoice, *, operator_id: int, store_name: str
) -> ChosenFamily:
    """Return the family that is meant.

    Raises:
        NoSuchStoreError: the operator has no such variable, its stores no families, or none is
            chosen of them.
        CheckpointError: the metadata of the operator cannot be read.
    """
    path = str(checkpoint.location / "state" / operator_id)
    variables = variables_of(checkpoint, operator_id)
    if not checkpoint.in_families(operator_id, store_name=store_name):
        raise NoSuchStoreError(
            what="column families",
            name=f"in the store {store_name}",
            path=path,
            known=(),
            advice=f"Its rows are of one kind: leave {options_text(*choice.given)} out.",
        )
    if choice.join_side is not None:
        return _side(checkpoint, choice.join_side, operator_id, store_name)
    if choice.column_family is not None:
        return ChosenFamily(name=choice.column_family, type=None)
    wanted = choice.state_var_name
    if choice.timers:
        timers = [variable.name for variable in variables if variable.is_timer]
        if timers:
            name = f"{timers[0].removesuffix(KEY_TO_TIMESTAMP)}{KEY_TO_TIMESTAMP}"
            return ChosenFamily(name=name, type=TIMER)
    found = next((variable for variable in variables if variable.name == wanted), None)
    if found:
        return ChosenFamily(name=found.name, type=found.type)
    if not choice:
        raise NoSuchStoreError(
            what="rows outside of column families",
            name=f"in the store {store_name}",
            path=path,
            known=family_names(checkpoint, operator_id, store_name),
            advice=f"Choose {_larger_choice(checkpoint, operator_id, variables)}one of these with "
            f"{options_text('column_family')}.",
        )
    raise NoSuchStoreError(
        what="timers" if choice.timers else "state variable",
        name="that are registered" if choice.timers else wanted,
        path=path,
        known=[str(variable) for variable in variables if not variable.is_timer],
        advice=None
        if variables
        else "Only transformWithState has such: choose a column family with "
        f"{options_text('column_family')}.",
    )


def _larger_choice(
    checkpoint: Checkpoint, operator_id: int, variables: tuple[StateVariable, ...]
) -> str:
    """Return what of the operator may be chosen rather than a family of its store, in words."""
    if is_join(checkpoint.operator(operator_id).name):
        return f"a side with {options_text('join_side')}, or "
    if any(not variable.is_timer for variable in variables):
        return f"a state variable with {options_text('state_var_name')}, or "
    return ""


def _side(checkpoint: Checkpoint, side: str, operator_id: int, store_name: str) -> ChosenFamily:
    operator = checkpoint.operator(operator_id)
    if not is_join(operator.name):
        raise NotAJoinError(
            path=str(checkpoint.location), operator_id=operator_id, name=plain_name(operator.name)
        )
    known = family_names(checkpoint, operator_id, store_name)
    by_time = f"{side}{_BY_TIME}"
    return ChosenFamily(name=by_time if by_time in known else f"{side}{_BY_INDEX}", type=JOIN_SIDE)


def variables_of(checkpoint: Checkpoint, operator_id: int) -> tuple[StateVariable, ...]:
    """Return the state variables of an operator.

    Raises:
        NoSuchStoreError: there is no such operator.
        MalformedFileError: its metadata is damaged.
    """
    folder = checkpoint.location / "state" / operator_id / "_metadata"
    return state_variables(checkpoint.operator(operator_id), path=str(folder))


def family_names(checkpoint: Checkpoint, operator_id: int, store_name: str) -> tuple[str, ...]:
    """Return the families that the schema file of a store names; none where it cannot be read."""
    with contextlib.suppress(CheckpointError, UnansweredError):
        families = checkpoint.schema(operator_id, store_name=store_name).column_families
        return tuple(families)
    return ()


def _without(array: pa.StructArray, count: int) -> pa.StructArray:
    """Return structs without their last fields."""
    kept = range(array.type.num_fields - count)
    fields = [array.type.field(place) for place in kept]
    return pa.StructArray.from_arrays([array.field(place) for place in kept], fields=fields)


def _has(key: pa.StructArray, *names: str) -> bool:
    return all(key.type.get_field_index(name) >= 0 for name in names)


def _field(key: pa.StructArray, name: str) -> pa.Array:
    return key.field(key.type.get_field_index(name))
