"""Which partition Spark keeps the rows of a column family in.

`transformWithState` spreads its rows by the key that they are grouped by. It is the whole key of a
family, or, where an operator adds something to it, a struct in that (Spark 4.0 to 4.3):

    values, lists, counters                     the key
    maps, scanned by the first column           key.key, beside the user's key of the map
    `$procTimers_...`, `$eventTimers_...`       key.key, beside the time
    `$ttl_...`, an index of times to live       key.elementKey, beside the time; of a map its key

Whether an index is of a map, the family of the map says: keys of other variables may have columns
of the same names.

A join has a family for each of what once were its stores. In state format 4 a time comes last.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast_spark._operator_names import is_join, is_transform
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import StructType
from holdfast_spark.checkpoint.rows.partitioning import Placement

_PREFIX_SCAN = "PrefixKeyScanStateEncoderSpec"
_TIMES = ("TimestampAsPrefixKeyStateEncoderSpec", "TimestampAsPostfixKeyStateEncoderSpec")
_TIMERS = ("$procTimers_", "$eventTimers_")
_TTL_INDEX = "$ttl_"
_IN_PANDAS = "InPandas"


def family_placement(
    operator: Operator, family: ColumnFamily, families: Iterable[ColumnFamily]
) -> Placement:
    """Return where the rows of a family belong.

    Args:
        operator: the operator that keeps it.
        family: the family.
        families: those of its store.

    Raises:
        UnknownPlacementError: it cannot be told.
    """
    if is_transform(operator.name):
        return Placement.by_field(
            operator,
            key=family.key,
            path=_path(family, families),
            nulls_as_nan=_IN_PANDAS in operator.name,
        )
    if is_join(operator.name) and family.key_encoder in _TIMES:
        columns = len(family.key.fields) - 1
        return Placement.by_leading_columns(operator, key=family.key, count=columns)
    return Placement(operator, store_name=family.name, key=family.key)


def _path(family: ColumnFamily, families: Iterable[ColumnFamily]) -> tuple[str, ...]:
    if family.name.startswith(_TIMERS):
        return ("key",)
    if family.name.startswith(_TTL_INDEX):
        return ("elementKey", "key") if _is_index_of_map(family, families) else ("elementKey",)
    return ("key",) if _is_map(family) else ()


def _is_index_of_map(index: ColumnFamily, families: Iterable[ColumnFamily]) -> bool:
    variable = index.name.removeprefix(_TTL_INDEX)
    if found := next((family for family in families if family.name == variable), None):
        return _is_map(found)
    # Spark removes a variable and leaves its index, of which only the key is left to look at.
    element = next((field.type for field in index.key.fields if field.name == "elementKey"), None)
    return isinstance(element, StructType) and _has_keys_of_map(element)


def _is_map(family: ColumnFamily) -> bool:
    return family.key_encoder == _PREFIX_SCAN and _has_keys_of_map(family.key)


def _has_keys_of_map(key: StructType) -> bool:
    return [field.name for field in key.fields] == ["key", "userKey"]
