"""The stores that a stateful operator keeps, and the rows in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.capacity.operator_names import (
    AGGREGATION,
    DEDUPE,
    DEDUPE_WITHIN_WATERMARK,
    GROUPS,
    JOIN,
)
from holdfast.checkpoint.spark_types import AtomicType, StructField, StructType

_LONG, _BOOLEAN = AtomicType("long"), AtomicType("boolean")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSchema:
    """A store of an operator.

    Attributes:
        name: its name.
        key: schema of its keys.
        value: schema of its values.
        per_key: whether it has one row for each key of the operator; otherwise one for each row
            that the operator keeps.
        overwrites: whether a change takes the place of an older row; otherwise it adds one.
    """

    name: str
    key: StructType
    value: StructType
    per_key: bool = True
    overwrites: bool = True


def _aggregation(key: StructType, values: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    yield StoreSchema(name="default", key=key, value=values[0])


def _dedupe(key: StructType, _: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # StreamingDeduplicateExec.schemaForValueRow: a row of one null.
    value = StructType((StructField("__dummy__", AtomicType("void")),))
    yield StoreSchema(name="default", key=key, value=value, overwrites=False)


def _dedupe_within_watermark(key: StructType, _: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # StreamingDeduplicateWithinWatermarkExec.schemaForValueRow.
    value = StructType((StructField("expiresAtMicros", _LONG),))
    yield StoreSchema(name="default", key=key, value=value, overwrites=False)


def _groups(key: StructType, values: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # State format version 2, with a timeout (FlatMapGroupsWithStateExecHelper).
    fields = (StructField("groupState", values[0]), StructField("timeoutTimestamp", _LONG))
    yield StoreSchema(name="default", key=key, value=StructType(fields))


def _join(key: StructType, values: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # State format version 2 (SymmetricHashJoinStateManager).
    counts = StructType((StructField("value", _LONG),))
    with_index = StructType((*key.fields, StructField("index", _LONG)))
    for side, value in zip(("left", "right"), (values[0], values[-1]), strict=True):
        row = StructType((*value.fields, StructField("matched", _BOOLEAN)))
        yield StoreSchema(name=f"{side}-keyToNumValues", key=key, value=counts)
        yield StoreSchema(
            name=f"{side}-keyWithIndexToValue",
            key=with_index,
            value=row,
            per_key=False,
            overwrites=False,
        )


_STORES = {
    AGGREGATION: _aggregation,
    DEDUPE: _dedupe,
    DEDUPE_WITHIN_WATERMARK: _dedupe_within_watermark,
    GROUPS: _groups,
    JOIN: _join,
}


def stores_of(
    operator: str, key: StructType, values: tuple[StructType, ...]
) -> tuple[StoreSchema, ...]:
    """Return the stores of an operator.

    Args:
        operator: its name, of those in `operator_names`.
        key: what it groups, deduplicates or joins by.
        values: what it keeps for a key: the results of an aggregation, the state of a group, the
            rows of the two sides of a join (one if they are alike); none where the operator has a
            value of its own.
    """
    return tuple(_STORES[operator](key, values))
