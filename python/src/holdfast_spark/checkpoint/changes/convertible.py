"""What stands against a conversion of state to another provider's files."""

from __future__ import annotations

from holdfast_spark.checkpoint.changes.family_definitions import family_definitions
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import ConversionError
from holdfast_spark.checkpoint.expected_stores import stores_without_files
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY

# The orders of keys that every provider has (Spark's `KeyStateEncoderSpec`, 4.3).
_SHARED_ENCODERS = (None, "NoPrefixKeyStateEncoderSpec", "PrefixKeyScanStateEncoderSpec")


def require_convertible(checkpoint: Checkpoint) -> None:
    """Check that the state is there, and laid out as RocksDB and another provider can.

    Raises:
        NoBatchError: no batch is committed.
        MissingVersionError: by the names of the files, a store lacks the version to go on from.
        ConversionError: an operator's state is laid out differently, or not there.
        CheckpointError: metadata or a schema cannot be read.
    """
    path = checkpoint.location
    for operator in checkpoint.operators:
        about = f"Operator {operator.operator_id} of {path} ({operator.name})"
        if operator.metadata_version is None:
            raise ConversionError(
                f"{about} has no metadata, which says how RocksDB orders its keys: let Spark 4.0 "
                "or newer run a batch of the query first."
            )
    for store in stores_without_files(checkpoint):
        raise ConversionError(
            f"{path} has no files of the store {store} (named {store.name}): restore them from a "
            "copy."
        )
    for store in checkpoint.live_stores:
        store.chain(checkpoint.newest_committed + 1)
    for operator_id, name in checkpoint.live_names:
        if checkpoint.in_families(operator_id, store_name=name):
            family_definitions(checkpoint, operator_id, store_name=name)
            continue
        family = checkpoint.row_schema(operator_id, store_name=name)
        if family.key_encoder not in _SHARED_ENCODERS or family.name != DEFAULT_COLUMN_FAMILY:
            raise ConversionError(
                f"The store {operator_id}/{name} of {path} orders its keys by "
                f"{family.key_encoder}, which only RocksDB does: its query stays with RocksDB."
            )


def require_no_families(checkpoint: Checkpoint) -> None:
    """Check that no store of a query keeps its rows in column families.

    Raises:
        ConversionError: one does, and Spark's default provider has none.
        CheckpointError: metadata or a schema cannot be read.
    """
    for store in checkpoint.stores:
        if checkpoint.in_families(store.operator_id, store_name=store.name):
            operator = checkpoint.operator(store.operator_id)
            raise ConversionError(
                f"Operator {operator.operator_id} of {checkpoint.location} ({operator.name}) keeps "
                "its state in column families, which Spark's default provider does not have: its "
                "query stays with Holdfast or RocksDB, or starts anew with another checkpoint "
                "location."
            )
