"""Whether the records of a state file with column families are whole, fit and belong there."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from holdfast_spark.checkpoint.checks.rows import SAMPLED_KEYS, FileRows
from holdfast_spark.checkpoint.errors import DamagedRowError, UnknownFormatError
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.families import Families, Family
from holdfast_spark.checkpoint.rows.family_decoding import require_decodable, row_keys
from holdfast_spark.checkpoint.rows.family_placement import family_placement
from holdfast_spark.checkpoint.rows.family_records import (
    FamilyContent,
    Table,
    reading_families,
)
from holdfast_spark.checkpoint.rows.partitioning import Placement, UnknownPlacementError
from holdfast_spark.checkpoint.rows.records import Records


class FamilyStoreFiles:
    """Reads the files of a store one after the other, from the oldest version to the newest.

    A delta names the tables of its records alone, and an older file what family they are of: rows
    of a delta whose forerunners are not there are counted and not decoded. For one thread.

    Args:
        operator: the operator that keeps the store.
        partition_id: number of its partition.
    """

    def __init__(self, operator: Operator, partition_id: int) -> None:
        self._operator = operator
        self._partition_id = partition_id
        self._families: dict[int, Families] = {0: {}}

    def read(self, file: StateFile, partitions: Collection[int], *, is_committed: bool) -> FileRows:
        """Read a file to its last row.

        Args:
            file: the file.
            partitions: how many there are, any of these; empty where that is not known.
            is_committed: whether the file is of a version that the query has committed.

        Raises:
            NewerFileError: a newer Holdfast has written the file.
            CheckpointError: something in it is not right.
        """
        rows = _Rows(self._partition_id, file, partitions)
        with reading_families(file) as content:
            families = self._families_of(content, is_committed=is_committed)
            if families is None:
                for _, records in content.pieces:
                    rows.count += len(records)
            else:
                schemas = {number: _schema(family, file) for number, family in families.items()}
                known = [schema for schema in schemas.values() if schema]
                placements = {
                    number: self._placement(schema, known)
                    for number, schema in schemas.items()
                    if schema
                }
                for table, records in content.tables(families):
                    number = table.family.family_id
                    rows.add(table, records, schemas[number], placements.get(number))
        return FileRows(records=rows.count, keys=rows.keys, misplaced=(rows.misplaced,))

    def _families_of(self, content: FamilyContent, *, is_committed: bool) -> Families | None:
        """Return the families of the version that a file leads to; None where nobody knows."""
        file = content.file
        if file.kind == "snapshot":
            families = content.changes.applied({}, file)
        elif is_committed and file.version - 1 in self._families:
            families = content.changes.applied(self._families[file.version - 1], file)
        else:
            return None
        if is_committed:
            self._families[file.version] = families
        return families

    def _placement(self, schema: ColumnFamily, known: list[ColumnFamily]) -> Placement | None:
        try:
            return family_placement(self._operator, schema, known)
        except UnknownPlacementError:
            return None


def _schema(family: Family, file: StateFile) -> ColumnFamily | None:
    """Return the schema of a family; None where it has a type that only newer ones know."""
    try:
        return family.schema(path=str(file.location))
    except UnknownFormatError:
        return None


class _Rows:
    """Decodes the rows of a file, and counts those that belong elsewhere."""

    def __init__(self, partition_id: int, file: StateFile, partitions: Collection[int]) -> None:
        self.count = 0
        self.keys: list[bytes] = []
        self.misplaced: DamagedRowError | None = None
        self._partition_id = partition_id
        self._where = str(file.location)
        self._partitions = partitions

    def add(
        self,
        table: Table,
        records: Records,
        schema: ColumnFamily | None,
        placement: Placement | None,
    ) -> None:
        """Decode records of one table, as far as their schema is known."""
        self.count += len(records)
        if schema is None:
            return
        rows = row_keys(table, records, where=self._where)
        if len(self.keys) < SAMPLED_KEYS:
            self.keys += rows.where(np.arange(min(len(rows), SAMPLED_KEYS))).key_bytes()
        require_decodable(table, rows, schema, where=self._where)
        if placement:
            self._place(placement, rows, table)

    def _place(self, placement: Placement, rows: Records, table: Table) -> None:
        error: DamagedRowError | None = None
        for number in self._partitions:
            found, _ = placement.partitions_from(
                rows, number, here=self._partition_id, of=number, where=self._where
            )
            strangers = np.flatnonzero(found != self._partition_id)
            if not len(strangers):
                return
            error = DamagedRowError(
                where=self._where,
                expected=f"keys of partition {self._partition_id} of {number}, by their hash",
                found=f"{len(strangers)} of {len(rows)} of the column family {table.family.name} "
                f"that belong elsewhere, the first in partition {found[strangers[0]]}",
            )
        self.misplaced = self.misplaced or error
