"""The stores that a stateful operator keeps, and the rows in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast_spark._operator_names import (
    AGGREGATION,
    DEDUPE,
    DEDUPE_WITHIN_WATERMARK,
    GROUPS,
    GROUPS_IN_PANDAS,
    JOIN,
    LIMIT,
    SESSIONS,
    TRANSFORM,
)
from holdfast_spark.checkpoint.files.spark_types import AtomicType, StructField, StructType

_LONG, _BOOLEAN, _VOID = AtomicType("long"), AtomicType("boolean"), AtomicType("void")
_TIMESTAMP = AtomicType("timestamp")
_SESSION = StructType((StructField("start", _TIMESTAMP), StructField("end", _TIMESTAMP)))


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
        scanned: whether the operator scans it for the rows of a key.
    """

    name: str
    key: StructType
    value: StructType
    per_key: bool = True
    overwrites: bool = True
    scanned: bool = False


def _aggregation(key: StructType, values: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    yield StoreSchema(name="default", key=key, value=values[0])


def _sessions(key: StructType, values: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # StreamingSessionWindowStateManagerImplV1: a value is a row of the operator's output.
    yield StoreSchema(
        name="default",
        key=StructType((*key.fields, StructField("sessionStartTime", _TIMESTAMP))),
        value=StructType((StructField("session_window", _SESSION), *key.fields, *values[0].fields)),
        per_key=False,
        scanned=True,
    )


def _dedupe(key: StructType, _: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # StreamingDeduplicateExec.schemaForValueRow: a row of one null.
    value = StructType((StructField("__dummy__", _VOID),))
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


def _limit(_: StructType, __: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # StreamingGlobalLimitExec: the number of rows so far.
    key = StructType((StructField("key", _VOID),))
    yield StoreSchema(name="default", key=key, value=StructType((StructField("value", _LONG),)))


def _transform(key: StructType, values: tuple[StructType, ...]) -> Iterator[StoreSchema]:
    # TransformWithStateExec: all state variables are column families of one store.
    yield StoreSchema(name="default", key=key, value=values[0], per_key=False)


_STORES = {
    AGGREGATION: _aggregation,
    SESSIONS: _sessions,
    DEDUPE: _dedupe,
    DEDUPE_WITHIN_WATERMARK: _dedupe_within_watermark,
    GROUPS: _groups,
    GROUPS_IN_PANDAS: _groups,
    JOIN: _join,
    LIMIT: _limit,
    TRANSFORM: _transform,
}


def stores_of(
    operator: str, key: StructType, values: tuple[StructType, ...]
) -> tuple[StoreSchema, ...]:
    """Return the stores of an operator.

    Args:
        operator: its name, as checkpoints have it.
        key: what it groups, deduplicates or joins by.
        values: what it keeps for a key: the results of an aggregation, the state of a group, the
            rows of the two sides of a join (one if they are alike); none where the operator has a
            value of its own.
    """
    return tuple(_STORES[operator](key, values))
