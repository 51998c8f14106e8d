"""Rows that nothing tells the partition of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from holdfast_spark.checkpoint.checks.state import StateReader
from holdfast_spark.checkpoint.files.state_files import StoreFiles


def unplaced(reader: StateReader, stores: Sequence[StoreFiles]) -> Iterator[str]:
    """Yield a sentence for each kind of store whose rows were not held against their partitions.

    Without a schema the key cannot be read, of whose columns Spark takes the hash.
    """
    partitions = Counter((store.operator_id, store.name) for store in stores)
    for (operator_id, name), count in partitions.items():
        if count > 1 and not reader.has_schema(operator_id, name):
            yield (
                f"Whether the rows of operator {operator_id} in the store {name} lie in the "
                "right partitions was not checked: their schema is not there or cannot be read."
            )
