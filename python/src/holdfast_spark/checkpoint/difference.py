"""What differs between two versions of a store, or between the same store of two checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from holdfast_spark._arguments import COUNT, TEXT, Kind, instance, require_arguments, whole
from holdfast_spark._text import counted, options_text
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import describe
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StoreFiles
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder
from holdfast_spark.checkpoint.rows.values import decode_values

Change = Literal["added", "changed", "removed"]


class IncomparableError(CheckpointError):
    """Two stores do not hold the same kind of rows in the same partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two states that `compare` takes, as in `Side(checkpoint=opened, batch_id=3)`.

    Attributes:
        checkpoint: the checkpoint.
        batch_id: the state after this batch, -1 for the empty one before the first.
    """

    checkpoint: Checkpoint
    batch_id: int


_CHECKPOINT = instance("a Checkpoint", Checkpoint)
_SIDE = Kind(
    "a Side with a Checkpoint and the number of a batch",
    lambda found: (
        isinstance(found, Side)
        and _CHECKPOINT.fits(found.checkpoint)
        and whole().fits(found.batch_id)
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Rows of one partition that differ in the same way.

    Attributes:
        change: `added`, `changed` or `removed`.
        partition_id: the partition.
        keys: the keys, a struct array.
        before: the values in the first side; null structs where a row was added.
        after: the values in the second side; null structs where a row was removed.
        column_family: the column family; None in a store without.
    """

    change: Change
    partition_id: int
    keys: pa.StructArray
    before: pa.Array
    after: pa.Array
    column_family: str | None = None

    def rows(self) -> pa.RecordBatch:
        """Return columns `change`, `partition_id`, `key`, `before` and `after`.

        In a store with column families there is `column_family`, too.
        """
        count, family = len(self.keys), self.column_family
        columns = {
            "change": pa.repeat(pa.scalar(self.change), count),
            "partition_id": pa.repeat(pa.scalar(self.partition_id, pa.int32()), count),
            **({"column_family": pa.repeat(family, count)} if family else {}),
            "key": self.keys,
            "before": self.before,
            "after": self.after,
        }
        return pa.RecordBatch.from_pydict(columns)


def compare(
    first: Side, second: Side, *, operator_id: int = 0, store_name: str = DEFAULT_STORE
) -> Iterator[Difference]:
    """Compare the rows that an operator's stores have on two sides.

    The memory in use is that of one partition's rows on one side, and of the rows that differ.

    Args:
        first: what is compared.
        second: what it is compared with.
        operator_id: the operator, the same on both sides.
        store_name: the store.

    Raises:
        IncomparableError: schemas or partitions are not the same.
        CheckpointError: what is asked for is not there, or is damaged.
    """
    require_arguments(
        "checkpoint.compare",
        first=(first, _SIDE),
        second=(second, _SIDE),
        operator_id=(operator_id, COUNT),
        store_name=(store_name, TEXT),
    )
    stores = stores_of_both(first, second, operator_id=operator_id, store_name=store_name)
    schemas = [
        side.checkpoint.row_schema(operator_id, store_name=store_name) for side in (first, second)
    ]
    require_alike(first, second, *schemas, what=f"the store {operator_id}/{store_name}")
    for before, after in paired(first, second, stores):
        yield from _compare_partition(first, before, second, after, schemas[0])


def require_alike(
    first: Side, second: Side, one: ColumnFamily, other: ColumnFamily, *, what: str
) -> None:
    """Check that the rows of two stores, or of two column families, have the same columns.

    Raises:
        IncomparableError: they have not.
    """
    if (one.key, one.value) != (other.key, other.value):
        raise IncomparableError(
            f"The rows of {what} are not alike in {first.checkpoint.location} and "
            f"{second.checkpoint.location}, and cannot be compared: {_unlike(one, other)}. Choose "
            f"stores of the same query with {options_text('operator_id', 'store_name')}."
        )


def stores_of_both(
    first: Side, second: Side, *, operator_id: int, store_name: str
) -> tuple[list[StoreFiles], list[StoreFiles]]:
    """Return the stores of both sides.

    Raises:
        NoSuchStoreError: there is no such operator or store.
    """
    one, other = (
        side.checkpoint.stores_of(
            operator_id,
            store_name=store_name,
            version=side.checkpoint.version_after(side.batch_id),
        )
        for side in (first, second)
    )
    return one, other


def paired(
    first: Side, second: Side, stores: tuple[list[StoreFiles], list[StoreFiles]]
) -> list[tuple[StoreFiles, StoreFiles]]:
    """Return the stores of both sides, partition by partition.

    Raises:
        IncomparableError: their partitions are not the same.
    """
    partitions = [[store.partition_id for store in side] for side in stores]
    if partitions[0] != partitions[1]:
        raise IncomparableError(
            f"{first.checkpoint.location} has {counted(len(partitions[0]), 'partition')} and "
            f"{second.checkpoint.location} has {len(partitions[1]):,}: rows are compared partition "
            "by partition. Make a copy of one with holdfast savepoint, and give the copy the "
            "number of the other with holdfast repartition."
        )
    return list(zip(*stores, strict=True))


def _unlike(first: ColumnFamily, second: ColumnFamily) -> str:
    """Return where the rows of two stores differ first."""
    part, one, other = ("value", first.value, second.value)
    if first.key != second.key:
        part, one, other = ("key", first.key, second.key)
    names = [[field.name for field in schema.fields] for schema in (one, other)]
    if names[0] != names[1]:
        return f"the {part} has the columns {' and '.join(_listed(found) for found in names)}"
    differing = next(i for i, field in enumerate(one.fields) if field != other.fields[i])
    types = " and ".join(describe(schema.fields[differing].type) for schema in (one, other))
    return f"the column {names[0][differing]} of the {part} is of the types {types}"


def _listed(names: list[str]) -> str:
    return f"({', '.join(names)})"


def _compare_partition(
    first: Side, before: StoreFiles, second: Side, after: StoreFiles, schema: ColumnFamily
) -> Iterator[Difference]:
    old = dict(_rows(first, before))
    added, changed = [], []
    for key, value in _rows(second, after):
        previous = old.pop(key, None)
        if previous is None:
            added.append((key, b"", value))
        elif previous != value:
            changed.append((key, previous, value))
    removed = [(key, value, b"") for key, value in old.items()]
    found: tuple[tuple[Change, list[tuple[bytes, bytes, bytes]]], ...] = (
        ("added", added),
        ("changed", changed),
        ("removed", removed),
    )
    for change, rows in found:
        if rows:
            yield _difference(change, before, rows, schema)


def _rows(side: Side, store: StoreFiles) -> Iterator[tuple[bytes, bytes]]:
    for _, records in side.checkpoint.read_bytes(
        store, side.checkpoint.version_after(side.batch_id)
    ):
        yield from zip(records.key_bytes(), records.value_bytes(), strict=True)


def _difference(
    change: Change,
    store: StoreFiles,
    rows: list[tuple[bytes, bytes, bytes]],
    schema: ColumnFamily,
) -> Difference:
    before = Records.of((key, value) for key, value, _ in rows)
    after = Records.of((key, value) for key, _, value in rows)
    keys = RowDecoder(before.memory, where=f"the store {store}").rows(
        schema.key, before.key_starts, before.key_lengths
    )
    return Difference(
        change=change,
        partition_id=store.partition_id,
        keys=keys,
        before=_values(before, store, schema, absent=change == "added"),
        after=_values(after, store, schema, absent=change == "removed"),
    )


def _values(records: Records, store: StoreFiles, schema: ColumnFamily, *, absent: bool) -> pa.Array:
    decoder = RowDecoder(records.memory, where=f"the store {store}")
    if absent:
        none = decoder.rows(schema.value, records.value_starts[:0], records.value_lengths[:0])
        return pa.nulls(len(records), none.type)
    return decode_values(decoder, schema.value, records)
