"""Memory that a partition of a store takes with Holdfast; `layout` has the constants."""

from __future__ import annotations

import math

from holdfast_spark.capacity import layout
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.memory import Memory


def holdfast_memory(load: StoreLoad, versions: int) -> Memory:
    """Return what a partition takes.

    Versions share what they do not differ in. Where rows are overwritten again and again, pages
    fill up to a fixed share of what is live. Rows that are removed in the order in which they came
    leave whole pages.

    Args:
        load: the partition.
        versions: versions in memory, at least 1.
    """
    newest = _pages(load) + load.rows * (_hash_bytes(load) + _ordered_bytes(load))
    older = (_gone(load) + _moved(load)) * _record_bytes(load) + _index_of_older(load)
    return Memory.of_versions(newest, older, versions)


def _record_bytes(load: StoreLoad) -> float:
    return layout.RECORD_HEADER_BYTES + load.row_bytes


def _pages(load: StoreLoad) -> float:
    record = _record_bytes(load)
    live = load.rows * record
    if record > layout.MAX_SHARED_ROW_BYTES:
        return live + load.rows * layout.ARRAY_HEADER_BYTES
    # The last page is half full.
    packed = live * _unused_ends(record, live) + min(live / 2, layout.PAGE_BYTES) / 2
    if not 0 < load.overwritten < load.rows:
        return packed
    slack = min(layout.MAX_SLACK_BYTES, max(live / 2, layout.MIN_SLACK_BYTES))
    return max(packed, layout.HELD_SHARE * live + slack)


def _unused_ends(record: float, live: float) -> float:
    """Return how many times the bytes of rows a full page has."""
    page = max(min(layout.PAGE_BYTES, live), record + layout.ARRAY_HEADER_BYTES)
    records = (page - layout.ARRAY_HEADER_BYTES) // record
    return page / (records * record)


def _gone(load: StoreLoad) -> float:
    """Return the rows that a version has and the next one has not."""
    return load.replaced + min(load.removed, load.rows)


def _moved(load: StoreLoad) -> float:
    """Return the rows that a batch moves, to empty pages."""
    if not load.rows:
        return 0
    return load.replaced * layout.MOVED_SHARE * math.pow(1 - load.replaced / load.rows, 1.5)


def _hash_bytes(load: StoreLoad) -> float:
    return layout.CHURNED_INDEX_BYTES_PER_ROW if load.removed else layout.INDEX_BYTES_PER_ROW


def _ordered_bytes(load: StoreLoad) -> float:
    if not load.prefixes:
        return 0
    return layout.ORDERED_BYTES_PER_ROW + layout.ORDERED_BYTES_PER_WORD * (load.order_words - 1)


def _index_of_older(load: StoreLoad) -> float:
    """Return the bytes of buckets and leaves that a batch copies."""
    changed = load.added + _gone(load) + _moved(load)
    buckets = _copied(load.rows, changed, layout.ROWS_PER_BUCKET) * _hash_bytes(load)
    if not load.prefixes:
        return buckets
    # The ordered index knows keys: a new value of one changes nothing in it.
    keys = load.added + min(load.removed, load.rows)
    leaves = _copied(load.rows, keys, layout.ROWS_PER_LEAF) * _ordered_bytes(load)
    return buckets + leaves


def _copied(rows: float, changed: float, rows_per_part: float) -> float:
    """Return the rows in those parts of an index that random changes meet."""
    parts = rows / rows_per_part
    return rows * (1 - math.exp(-changed / parts)) if parts else 0
