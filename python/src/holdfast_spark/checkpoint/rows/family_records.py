"""The records of files of stores with column families, many at a time.

Behind what `families` describes, the content is a sequence of records as in other files
(`records`), each with the number of its table in front, and an end marker; ints are big-endian:

    record      | int32 table | int32 key length | key | int32 value length | value |
    removal     | int32 table | int32 key length | key | int32 negative |     in deltas only
    end marker  | int32 -1 |

In a delta the number of a table has a mark (`REWRITTEN`) where a value says in other columns what
the version before says, which makes no difference to who reads versions.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdfast_spark.checkpoint.errors import DamagedStateFileError
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.blocks import Blocks, Header, reading_blocks
from holdfast_spark.checkpoint.rows.families import (
    TABLES_OF_EACH,
    Families,
    Family,
    FamilyChanges,
    read_families,
)
from holdfast_spark.checkpoint.rows.records import Records, read_pieces
from holdfast_spark.checkpoint.rows.scan import Positions

REWRITTEN = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that records are of.

    Attributes:
        family: its family.
        has_parts: whether it has the parts of lists behind the first.
    """

    family: Family
    has_parts: bool

    @property
    def number(self) -> int:
        """Its number in files."""
        return TABLES_OF_EACH * self.family.family_id + self.has_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyContent:
    """The content of a file of a store with column families, while it is open.

    Attributes:
        file: the file.
        header: what it says of itself.
        changes: what it says of families.
        pieces: its records by the number of their table, some megabytes at a time; once.
    """

    file: StateFile
    header: Header
    changes: FamilyChanges
    pieces: Iterator[tuple[int, Records]]

    def tables(self, families: Families) -> Iterator[tuple[Table, Records]]:
        """Yield the records by the table that they are of.

        Args:
            families: those of the version that the file leads to.

        Raises:
            DamagedStateFileError: there is no such table, or what is read is damaged.
        """
        for number, records in self.pieces:
            family = families.get(number // TABLES_OF_EACH)
            table = Table(family=family, has_parts=number % TABLES_OF_EACH > 0) if family else None
            if table is None or (table.has_parts and not table.family.has_many_values):
                raise DamagedStateFileError(
                    path=str(self.file.location),
                    version=self.file.version,
                    offset=self.changes.bytes,
                    of="its decompressed content",
                    expected="records of tables of the families "
                    f"{', '.join(family.name for family in families.values()) or 'none'}",
                    found=f"{len(records):,} of table {number}",
                )
            yield table, records


@contextlib.contextmanager
def reading_families(file: StateFile) -> Iterator[FamilyContent]:
    """Open a delta or snapshot file of a store with column families.

    When its last record has been taken, there has to be nothing behind its content.

    Args:
        file: the file.

    Raises:
        NewerFileError: a newer Holdfast has written the file.
        DamagedStateFileError: the file is damaged, or none of a store with column families.
        UnreadablePathError: the file system refuses the file.
    """
    with reading_blocks(file) as (header, content, blocks):
        changes, rest = read_families(content, file)
        pieces = read_pieces(
            itertools.chain([rest] if rest else [], content),
            file,
            row_checksums=header.row_checksums,
            tables_after=changes.bytes,
        )
        yield FamilyContent(
            file=file,
            header=header,
            changes=changes,
            pieces=_to_the_end(pieces, blocks, marks=REWRITTEN if file.kind == "delta" else 0),
        )


def _to_the_end(
    pieces: Iterator[tuple[Positions, Records]], blocks: Blocks, *, marks: int
) -> Iterator[tuple[int, Records]]:
    for tables, records in pieces:
        yield from by_table(tables & ~marks, records)
    blocks.finish()


def by_table(tables: Positions, records: Records) -> Iterator[tuple[int, Records]]:
    """Yield records by the number of their table, in the order of both.

    Args:
        tables: the table of each.
        records: the records.
    """
    order = np.argsort(tables, kind="stable")
    sorted_ = tables[order]
    bounds = [0, *(np.flatnonzero(np.diff(sorted_)) + 1).tolist(), len(order)]
    for start, end in itertools.pairwise(bounds):
        number = int(sorted_[start])
        yield number, records if end - start == len(order) else records.where(order[start:end])
