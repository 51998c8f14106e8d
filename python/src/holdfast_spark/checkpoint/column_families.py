"""State in column families, which Holdfast and Spark's RocksDB provider have."""

from __future__ import annotations

from holdfast_spark._operator_names import is_join, is_transform
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.files.operators import Operator

# Later ones keep all rows of a join in column families of one store.
_NEWEST_SHARED_JOIN_FORMAT = 2


def why_in_column_families(operator: Operator, settings: PinnedSettings) -> str | None:
    """Return what about an operator's state not every provider has; None where all have it.

    Args:
        operator: the operator.
        settings: what its query is bound to.
    """
    if is_transform(operator.name):
        return "keeps its state in column families"
    join = settings.state_format_versions.get("join", 0)
    if is_join(operator.name) and join > _NEWEST_SHARED_JOIN_FORMAT:
        return f"has state format version {join}, which is in column families"
    return None
