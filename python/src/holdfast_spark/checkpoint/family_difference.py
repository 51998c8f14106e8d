"""What differs between two versions of the column families of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from holdfast_spark.checkpoint.difference import (
    Change,
    Difference,
    Side,
    paired,
    require_alike,
    stores_of_both,
)
from holdfast_spark.checkpoint.errors import NoSuchStoreError
from holdfast_spark.checkpoint.family_choice import FamilyChoice, chosen_family
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StoreFiles
from holdfast_spark.checkpoint.rows.families import Family
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

# All values of a key, one but in lists.
_Values = tuple[bytes, ...]


def compare_families(
    first: Side,
    second: Side,
    *,
    choice: FamilyChoice,
    operator_id: int = 0,
    store_name: str = DEFAULT_STORE,
) -> Iterator[Difference]:
    """Compare the rows that the column families of an operator's stores have on two sides.

    A family that is on one side alone has all its rows added or removed. The memory in use is that
    of one family's rows of a partition on one side, and of the rows that differ.

    Args:
        first: what is compared.
        second: what it is compared with.
        choice: the family; all of them where none is chosen.
        operator_id: the operator, the same on both sides.
        store_name: the store.

    Raises:
        IncomparableError: schemas or partitions are not the same.
        NoSuchStoreError: neither side has the family.
        CheckpointError: what is asked for is not there, or is damaged.
    """
    wanted = None
    if choice:
        wanted = chosen_family(
            first.checkpoint, choice, operator_id=operator_id, store_name=store_name
        ).name
    known: set[str] = set()
    stores = stores_of_both(first, second, operator_id=operator_id, store_name=store_name)
    for pair in paired(first, second, stores):
        sides = [
            FamilyVersion(
                side.checkpoint.chain(store, side.checkpoint.version_after(side.batch_id))
            )
            for side, store in zip((first, second), pair, strict=True)
        ]
        names = sorted({f.name for side in sides for f in side.families.values()})
        known |= {*names}
        for name in names:
            if wanted in (None, name):
                families = [side.named(name) for side in sides]
                schema = _one_schema(first, second, families, pair[0])
                yield from _compare(sides, families, pair[0], schema)
    if wanted is not None and wanted not in known:
        raise NoSuchStoreError(
            what="column family",
            name=wanted,
            path=str(first.checkpoint.location / "state" / operator_id),
            known=sorted(known),
        )


def _one_schema(
    first: Side, second: Side, families: Sequence[Family | None], store: StoreFiles
) -> ColumnFamily:
    schemas = [family.schema(path=f"the store {store}") for family in families if family]
    what = f"the column family {schemas[0].name} of the store {store}"
    require_alike(first, second, schemas[0], schemas[-1], what=what)
    return schemas[0]


def _compare(
    sides: Sequence[FamilyVersion],
    families: Sequence[Family | None],
    store: StoreFiles,
    schema: ColumnFamily,
) -> Iterator[Difference]:
    old = dict(_rows(sides[0], families[0]))
    found: dict[Change, list[tuple[bytes, _Values, _Values]]] = {
        "added": [],
        "changed": [],
        "removed": [],
    }
    for key, values in _rows(sides[1], families[1]):
        before = old.pop(key, None)
        if before is None:
            found["added"].append((key, (), values))
        elif before != values:
            found["changed"].append((key, before, values))
    found["removed"] = [(key, values, ()) for key, values in old.items()]
    are_lists = any(family and family.has_many_values for family in families)
    for change, rows in found.items():
        if rows:
            keys = Records.of((key, b"") for key, _, _ in rows)
            decoder = RowDecoder(keys.memory, where=f"the store {store}")
            yield Difference(
                change=change,
                partition_id=store.partition_id,
                keys=decoder.rows(schema.key, keys.key_starts, keys.key_lengths),
                before=_column([row[1] for row in rows], store, schema, are_lists=are_lists),
                after=_column([row[2] for row in rows], store, schema, are_lists=are_lists),
                column_family=schema.name,
            )


def _rows(version: FamilyVersion, family: Family | None) -> Iterator[tuple[bytes, _Values]]:
    if family is None:
        return
    if family.has_many_values:
        yield from ((key, tuple(values)) for _, key, values in version.lists(family))
        return
    for _, records in version.rows(family):
        pairs = zip(records.key_bytes(), records.value_bytes(), strict=True)
        yield from ((key, (value,)) for key, value in pairs)


def _column(
    rows: Sequence[_Values], store: StoreFiles, schema: ColumnFamily, *, are_lists: bool
) -> pa.Array:
    """Return the values of each row; null where there are none."""
    records = Records.of((b"", value) for values in rows for value in values)
    decoder = RowDecoder(records.memory, where=f"the store {store}")
    values = decoder.rows(schema.value, records.value_starts, records.value_lengths)
    counts = np.fromiter(map(len, rows), np.int32, len(rows))
    if not are_lists:
        places = np.cumsum(counts) - 1
        return values.take(pa.array(places, pa.int64(), mask=counts == 0))
    offsets = pa.array(
        np.concatenate([[0], np.cumsum(counts)]), pa.int32(), mask=np.append(counts == 0, False)
    )
    return pa.ListArray.from_arrays(offsets, values)
