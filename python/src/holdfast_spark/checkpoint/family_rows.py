"""The rows of a column family, in all partitions of a store."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import MissingSchemaError, NoSuchStoreError
from holdfast_spark.checkpoint.family_choice import ChosenFamily, FamilyChoice, chosen_family
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StoreFiles
from holdfast_spark.checkpoint.rows.arrow import arrow_type
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder


def read_family(  # noqa: PLR0913 - one for each option of the command
    checkpoint: Checkpoint,
    choice: FamilyChoice,
    *,
    operator_id: int = 0,
    store_name: str = DEFAULT_STORE,
    batch_id: int | None = None,
    partition: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a column family after a batch.

    The memory in use is that of some megabytes of rows, of the changes in the delta files behind a
    snapshot, and of lists with several parts.

    Args:
        checkpoint: the checkpoint.
        choice: the family.
        operator_id: the operator.
        store_name: the store.
        batch_id: the batch, -1 for the empty state before the first; the newest committed one for
            None.
        partition: one partition only.

    Yields:
        Rows in no particular order, the values of a list in theirs: columns `partition_id` and
        `key`, and `value`, or those that Spark's `statestore` source has for the kind of state
        variable: `list_element`, `user_map_key` and `user_map_value`, `expiration_timestamp_ms`.
        If there are no rows, none of them once.

    Raises:
        CheckpointError: what is asked for is not there, or is damaged.
    """
    version = checkpoint.version_after(batch_id)
    stores = checkpoint.stores_of(
        operator_id, store_name=store_name, version=version, partition=partition
    )
    chosen = chosen_family(checkpoint, choice, operator_id=operator_id, store_name=store_name)
    schema: ColumnFamily | None = None
    known: set[str] = set()
    count = 0
    for store in stores:
        chain = checkpoint.chain(store, version)
        replayed = FamilyVersion(chain)
        known |= {family.name for family in replayed.families.values()}
        family = replayed.named(chosen.name)
        if family is None:
            continue  # which this partition has not had rows for yet
        schema = family.schema(path=str(chain[-1].location))
        for rows in _rows(replayed, store, schema, chosen):
            count += len(rows)
            yield rows
    schema = schema or _described(checkpoint, operator_id, store_name, chosen.name)
    if schema is None:
        raise NoSuchStoreError(
            what="column family",
            name=chosen.name,
            path=str(checkpoint.location / "state" / operator_id),
            known=sorted(known),
        )
    if not count:
        types = (pa.int32(), arrow_type(schema.key), arrow_type(schema.value))
        yield chosen.shown(*(pa.array([], kind) for kind in types))


def _rows(
    replayed: FamilyVersion, store: StoreFiles, schema: ColumnFamily, chosen: ChosenFamily
) -> Iterator[pa.RecordBatch]:
    family = replayed.named(chosen.name)
    for file, records in replayed.rows(family) if family else ():
        decoder = RowDecoder(records.memory, where=str(file.location))
        key = decoder.rows(schema.key, records.key_starts, records.key_lengths)
        value = decoder.rows(schema.value, records.value_starts, records.value_lengths)
        partition = pa.repeat(pa.scalar(store.partition_id, pa.int32()), len(records))
        yield chosen.shown(partition, key, value)


def _described(
    checkpoint: Checkpoint, operator_id: int, store_name: str, name: str
) -> ColumnFamily | None:
    """Return a family of the schema file, which Spark writes before there are rows."""
    try:
        families = checkpoint.schema(operator_id, store_name=store_name).column_families
    except MissingSchemaError:
        return None
    return families.get(name)
