"""The rows of column families, looked at and written anew by the partition they belong in.

Every family of a store moves by the key that its rows are grouped by; the parts of a list by that
of the list. Ids of families are given out anew, since each partition has had its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.changes.spread import MisplacedRowsError, Spread, Tally
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY, ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.rows.encoding import encode
from holdfast_spark.checkpoint.rows.families import DEFAULT_ID, Family
from holdfast_spark.checkpoint.rows.family_decoding import require_decodable, row_keys
from holdfast_spark.checkpoint.rows.family_encoding import writing_family_snapshot
from holdfast_spark.checkpoint.rows.family_placement import family_placement
from holdfast_spark.checkpoint.rows.family_records import Table
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.records import Records


class UnlikeFamiliesError(CheckpointError):
    """A column family is not the same in all partitions of a store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Records of a partition, one of so many, all of one table."""

    store: StoreFiles
    partitions: int
    table: Table
    records: Records
    schema: ColumnFamily
    placement: Placement

    def targets(self, into: int) -> tuple[npt.NDArray[np.int32], int]:
        """Return the partition of each of them, as `Placement.partitions_from` does."""
        where = str(self.store)
        keys = row_keys(self.table, self.records, where=where)
        return self.placement.partitions_from(
            keys, into, here=self.store.partition_id, of=self.partitions, where=where
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilySpread(Spread):
    """The stores of one name of an operator that keeps its rows in column families."""

    @property
    def is_single(self) -> bool:
        """Whether there is one partition, which such operators never have."""
        return False

    def check(self, into: int) -> tuple[Tally, npt.NDArray[np.int64]]:
        """Read all rows; return what they add up to, and how many each of `into` partitions gets.

        The parts of a list are rows of their own here.

        Raises:
            MisplacedRowsError: a row is not in the partition that it belongs in, or it cannot be
                told from its key where it belongs.
            UnknownPlacementError: it cannot be told where the rows of a family belong.
            UnlikeFamiliesError: partitions differ in what a family is.
            CheckpointError: a file is missing, or a file or row is damaged.
        """
        self._families()
        tally, counts = Tally(), np.zeros(into, np.int64)
        for store in self.stores:
            for rows in self._rows_of(store):
                found, _ = rows.targets(self.partitions)
                self.require_placed(store, found)
                targets, unclear = rows.targets(into)
                if unclear:
                    raise _unclear(store, unclear, rows.table.family.name)
                keys = row_keys(rows.table, rows.records, where=str(store))
                require_decodable(rows.table, keys, rows.schema, where=str(store))
                counts += np.bincount(targets, minlength=into)
                tally = tally.plus(
                    encode(rows.records, row_checksums=False)[0],
                    len(keys),
                    family=rows.table.family.name,
                )
        return tally, counts

    def write_some(self, files: Sequence[Location], chosen: range, into: int) -> None:
        """Write the snapshots of some partitions."""
        families = self._families()
        by_id = {family.family_id: family for family in families.values()}
        with ExitStack() as stack:
            writers = {
                i: stack.enter_context(writing_family_snapshot(files[i], self.settings, by_id))
                for i in chosen
            }
            for store in self.stores:
                for rows in self._rows_of(store):
                    family = families[rows.table.family.name]
                    table = replace(rows.table, family=family)
                    targets, _ = rows.targets(into)
                    self.deal_out(rows.records, targets, writers, table=table.number)

    def _rows_of(self, store: StoreFiles) -> Iterator[_Rows]:
        version = FamilyVersion(store.chain(self.version))
        schemas = {
            family.name: family.schema(path=str(store)) for family in version.families.values()
        }
        placements = {
            name: family_placement(self.operator, schema, schemas.values())
            for name, schema in schemas.items()
        }
        for _, table, records in version.records():
            name = table.family.name
            yield _Rows(
                store=store,
                partitions=self.partitions,
                table=table,
                records=records,
                schema=schemas[name],
                placement=placements[name],
            )

    def _families(self) -> dict[str, Family]:
        """Return the families of all partitions by name, with ids that all of them can have."""
        found: dict[str, Family] = {}
        for store in self.stores:
            for family in FamilyVersion(store.chain(self.version)).families.values():
                number = DEFAULT_ID
                if family.name != DEFAULT_COLUMN_FAMILY:
                    number = len({*found, DEFAULT_COLUMN_FAMILY})
                alike = found.setdefault(family.name, replace(family, family_id=number))
                if replace(family, family_id=alike.family_id) != alike:
                    raise UnlikeFamiliesError(
                        f"The column family {family.name} of the store {store} is defined in "
                        f"another way than in partition {self.stores[0].partition_id}: expected "
                        f"{alike}, found {family}. Let the query run a batch with data for all "
                        "partitions, and stop it."
                    )
        return found


def _unclear(store: StoreFiles, count: int, family: str) -> MisplacedRowsError:
    return MisplacedRowsError(
        f"In the store {store}, {counted(count, 'key', 'keys')} of the column family {family} "
        f"{'says' if count == 1 else 'say'} NaN and may be null's: pandas gives null as NaN to the "
        "functions of transformWithStateInPandas, and Spark keeps it so. The partition that it is "
        "in does not tell which of the two it is, and the query cannot be repartitioned here."
    )
