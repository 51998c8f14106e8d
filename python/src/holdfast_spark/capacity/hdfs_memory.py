"""Memory that a partition takes with Spark's default provider; `layout` has the constants."""

from __future__ import annotations

import math

from holdfast_spark.capacity import layout
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.memory import Memory


def hdfs_memory(load: StoreLoad, versions: int) -> Memory:
    """Return what a partition takes.

    Every version is a map of its own; rows that did not change are shared. A batch begins with
    another copy of the map.

    Args:
        load: the partition.
        versions: versions in memory, at least 1.
    """
    wanted = layout.SLOTS_PER_ROW * load.rows + 1
    slots = layout.TABLE_GROWTH * _power_of_two(wanted)
    one_map = load.rows * layout.NODE_BYTES + slots * layout.REFERENCE_BYTES + _sets(load)
    key = layout.UNSAFE_ROW_BYTES + load.key_bytes
    value = layout.WRAPPER_BYTES + layout.UNSAFE_ROW_BYTES + load.value_bytes
    newest = one_map + load.rows * (key + value) + _prefix_rows(load)
    older = one_map + load.replaced * value + min(load.removed, load.rows) * (key + value)
    return Memory.of_versions(newest, older, versions)


def _prefix_rows(load: StoreLoad) -> float:
    """Return the bytes of the prefixes, which versions share: keys without their last column."""
    prefix = layout.UNSAFE_ROW_BYTES + max(load.key_bytes - layout.COLUMN_BYTES, 0)
    return load.prefixes * prefix


def _sets(load: StoreLoad) -> float:
    """Return the bytes of the map from prefixes to the sets of their keys."""
    if not load.prefixes:
        return 0
    slots = max(layout.MIN_SLOTS, _power_of_two(load.prefixes / layout.FULL_SHARE))
    entries = load.rows / load.prefixes
    set_slots = max(layout.MIN_SLOTS, _power_of_two((entries + 1) / layout.FULL_SHARE))
    one_set = layout.SET_BYTES + layout.ARRAY_HEADER_BYTES + set_slots * layout.REFERENCE_BYTES
    return (
        load.prefixes * (layout.NODE_BYTES + one_set)
        + slots * layout.REFERENCE_BYTES
        + load.rows * layout.SET_NODE_BYTES
    )


def _power_of_two(least: float) -> int:
    return 1 << max(0, math.ceil(math.log2(least)))
