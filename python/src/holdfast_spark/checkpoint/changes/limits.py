"""Queries that no batch without data can be planned for.

Where nothing but projections is between a source and a limit, Spark's optimizer leaves the limit
out of the plan of a batch without data (`ConvertToLocalRelation`, Spark 3.5 to 4.3, with every
provider). Spark 3.5 commits such a batch without state, and fails in the next one for want of it;
since 4.0 it fails in that batch, whose operators are not those of the checkpoint.
"""

from __future__ import annotations

import json

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StoreFiles


def is_limit_alone(checkpoint: Checkpoint) -> bool:
    """Whether the only operator with state is a limit, whichever way to its source is."""
    stores = checkpoint.stores
    return len(stores) == 1 and _is_of_limit(checkpoint, stores[0])


def _is_of_limit(checkpoint: Checkpoint, store: StoreFiles) -> bool:
    """A limit's state has one row, whose key has no type; Spark 3.5 does not name operators."""
    if store.name != DEFAULT_STORE:
        return False
    try:
        schema = checkpoint.row_schema(store.operator_id, store_name=store.name)
    except CheckpointError:  # Spark before 3.1 wrote none
        return False
    return [field["type"] for field in json.loads(schema.key_json)["fields"]] == ["void"]
