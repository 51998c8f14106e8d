"""The stores of an operator that is described by its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast_spark._arguments import COUNT, LENGTHS, NUMBER, TEXT, instance, require_arguments
from holdfast_spark._operator_names import (
    AGGREGATION,
    GROUPS,
    GROUPS_IN_PANDAS,
    JOIN,
    LIMIT,
    PLAIN_NAMES,
    TRANSFORM,
    WITH_MANY_ROWS,
    WITHOUT_VALUE,
    spark_name,
)
from holdfast_spark._text import named
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.operators import StoreSchema, stores_of
from holdfast_spark.capacity.row_size import RowSizer
from holdfast_spark.capacity.workload import Workload
from holdfast_spark.checkpoint.files.ddl import parse_ddl
from holdfast_spark.errors import HoldfastError


class DescriptionError(HoldfastError):
    """What is said about an operator does not fit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """An operator, its schema and how much there is of it.

    Attributes:
        operator: what people call it, such as `aggregation` or `join`, or Spark's name of it, such
            as `stateStoreSave`.
        key: what it groups, deduplicates or joins by, in DDL; empty for a limit and for an
            aggregation of all rows, which have one row for the whole query.
        value: what it keeps for a key, in DDL: the results of an aggregation, the state of a group,
            the rows of a join's left side; empty for operators that keep nothing else.
        right_value: rows of a join's right side, in DDL; like the left one if empty.
        keys: keys in the state.
        changes: rows that a batch puts, into each side of a join.
        removals: rows that a batch removes, as by a watermark, from each side of a join.
        rows_per_key: rows that each side of a join keeps for a key, sessions of a key, or values
            that its state variables have.
        lengths: average bytes of strings and binaries and elements of arrays and maps, by the
            name of the field; those in structs, arrays and maps are `struct.field`,
            `array.element`, `map.key` and `map.value`.
    """

    operator: str
    key: str
    value: str
    right_value: str = ""
    keys: int
    changes: int
    removals: int = 0
    rows_per_key: float = 1.0
    lengths: Mapping[str, int] = field(default_factory=dict)


def workload_of(description: Description) -> Workload:
    """Return the stores of an operator that is described.

    Raises:
        WrongArgumentError: it is no description, or one of something else than text and numbers.
        DdlError: a schema is not written as DDL has it.
        DescriptionError: the operator is not known, a value is missing or superfluous, or no field
            has the name of a length.
    """
    _require_description(description)
    operator = _known(description.operator)
    _check_values(description, operator)
    values = tuple(parse_ddl(ddl) for ddl in (description.value, description.right_value) if ddl)
    sizer = RowSizer(description.lengths)
    stores = stores_of(operator, parse_ddl(description.key), values)
    loads = tuple(_load(store, sizer, description) for store in stores)
    if sizer.unused:
        raise DescriptionError(
            f"No field of variable length is named {', '.join(sorted(sizer.unused))}: the schemas "
            f"have {', '.join(_variable(description, sizer)) or 'none'}."
        )
    lengths = (
        f"{path} is taken to have {length} on average: --length {path}=N says otherwise."
        for path, length in sizer.assumed.items()
    )
    return Workload(
        operator=operator,
        loads=loads,
        partitions=None if description.key.strip() else 1,
        assumptions=(*lengths, *_assumptions(operator)),
    )


def _require_description(description: Description) -> None:
    by = "capacity.workload_of"
    require_arguments(by, description=(description, instance("a Description", Description)))
    require_arguments(
        by,
        operator=(description.operator, TEXT),
        key=(description.key, TEXT),
        value=(description.value, TEXT),
        right_value=(description.right_value, TEXT),
        keys=(description.keys, COUNT),
        changes=(description.changes, COUNT),
        removals=(description.removals, COUNT),
        rows_per_key=(description.rows_per_key, NUMBER),
        lengths=(description.lengths, LENGTHS),
    )


def _assumptions(operator: str) -> Iterator[str]:
    if operator in (GROUPS, GROUPS_IN_PANDAS):
        yield "Groups have a timeout: without one a row has 8 bytes less."
    if operator == TRANSFORM:
        yield "All state variables have values as large as the one that is given."


def _known(name: str) -> str:
    """Return the name that checkpoints have of an operator."""
    found = spark_name(name)
    if not found:
        raise DescriptionError(
            f"{named(name)} is no stateful operator that is known: expected one of "
            f"{', '.join(PLAIN_NAMES.values())}, or Spark's name of one."
        )
    return found


def _check_values(description: Description, operator: str) -> None:
    name = PLAIN_NAMES[operator]
    if operator in WITHOUT_VALUE and description.value:
        raise DescriptionError(f"{name} keeps no value of the query's: leave it out.")
    if operator not in WITHOUT_VALUE and not description.value:
        raise DescriptionError(f"{name} keeps a value for each key: say which.")
    if operator != JOIN and description.right_value:
        raise DescriptionError(f"{name} has no right side: only {PLAIN_NAMES[JOIN]} has one.")
    if operator == LIMIT and (description.key or description.keys != 1):
        raise DescriptionError(f"{name} keeps one row for the whole query: give no key.")
    if not description.key.strip() and operator not in (LIMIT, AGGREGATION):
        raise DescriptionError(f"{name} has a key, and none is given: say which columns.")
    if not description.key.strip() and operator == AGGREGATION and description.keys != 1:
        raise DescriptionError(
            f"{name} without a key keeps one row for the whole query: give a key, or 1 as the "
            "number of keys."
        )
    if operator not in WITH_MANY_ROWS and description.rows_per_key != 1:
        raise DescriptionError(f"{name} keeps one row for each key: only {_many_rows()} have more.")


def _many_rows() -> str:
    return ", ".join(PLAIN_NAMES[name] for name in WITH_MANY_ROWS)


def _variable(description: Description, sizer: RowSizer) -> Iterator[str]:
    yield from sorted({*sizer.assumed, *description.lengths} - sizer.unused)


def _load(store: StoreSchema, sizer: RowSizer, description: Description) -> StoreLoad:
    per_key = description.rows_per_key
    rows = description.keys * (1.0 if store.per_key else per_key)
    # The last row that goes takes the key's own row along.
    removed = description.removals / (max(per_key, 1.0) if store.per_key else 1.0)
    changes = min(description.changes, rows) if store.overwrites else description.changes
    return StoreLoad(
        name=store.name,
        rows=rows,
        key_bytes=sizer.row(store.key),
        value_bytes=sizer.row(store.value),
        changes=changes,
        overwritten=max(changes - removed, 0) if store.overwrites else 0,
        removed=removed,
        prefixes=min(description.keys, rows) if store.scanned else 0,
    )
