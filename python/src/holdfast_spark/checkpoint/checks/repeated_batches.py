"""The batches by which Spark has repartitioned a query.

Spark plans such a batch as a copy of the newest committed one with another number of partitions,
the time and the watermark included, and commits it with a copy of its commit. Batches that were
planned and not committed it may give up: they get empty commits, and come before the copy
(`OfflineStateRepartitionRunner`, 4.2 and 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast_spark.checkpoint.files.log_entries import OffsetsEntry
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS


def repeated_batches(offsets: Mapping[int, OffsetsEntry]) -> dict[int, int]:
    """Return each batch that repartitions, and the one that it repeats."""
    found = {}
    for batch, entry in offsets.items():
        before = offsets.get(batch - 1)
        if before is None or _partitions(before) in (None, _partitions(entry)):
            continue
        earlier = (b for b in reversed(list(offsets)) if b < batch)
        base = next((b for b in earlier if _repeats(entry, offsets[b])), None)
        if base is not None:
            found[batch] = base
    return found


def _repeats(entry: OffsetsEntry, base: OffsetsEntry) -> bool:
    same = (entry.watermark_ms, entry.timestamp_ms, entry.sources, _others(entry)) == (
        base.watermark_ms,
        base.timestamp_ms,
        base.sources,
        _others(base),
    )
    return same and bool(entry.timestamp_ms)


def _partitions(entry: OffsetsEntry) -> Any:  # noqa: ANN401 - it is JSON
    return (entry.conf or {}).get(SHUFFLE_PARTITIONS)


def _others(entry: OffsetsEntry) -> dict[str, Any]:
    """Return the settings without the number of partitions."""
    return {n: value for n, value in (entry.conf or {}).items() if n != SHUFFLE_PARTITIONS}
