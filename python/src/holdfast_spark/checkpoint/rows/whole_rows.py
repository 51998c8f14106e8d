"""The rows of column families with each list whole, whatever files they lie in.

Here a record of a family with several values for a key is a key and all its values, each behind its
length, little-endian:

    | int64 length | value | ...

So rows are compared, and carried between files that cut lists in other ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import decompress
from holdfast_spark.checkpoint.rows.families import TABLES_OF_EACH, Families, Family
from holdfast_spark.checkpoint.rows.family_records import Table, by_table
from holdfast_spark.checkpoint.rows.lists import LENGTH, parts_of
from holdfast_spark.checkpoint.rows.records import Records, read_pieces

# Bytes of lists that are given out together, and one list more.
_PIECE_BYTES = 1 << 20

WholeRows = Iterator[tuple[Family, Records]]


def whole_lists(lists: Iterable[tuple[bytes, list[bytes]]]) -> Iterator[Records]:
    """Yield lists, each a key and its values, some at a time."""
    rows: list[tuple[bytes, bytes]] = []
    size = 0
    for key, values in lists:
        rows.append((key, _joined(values)))
        size += len(rows[-1][1])
        if size >= _PIECE_BYTES:
            yield Records.of(rows)
            rows, size = [], 0
    if rows:
        yield Records.of(rows)


def rows_of_values(file: StateFile, families: Families) -> WholeRows:
    """Yield the rows of a file of uncompressed records, one for each value of a list.

    Args:
        file: the file, whose records have the number of a table in front, in the order of tables.
        families: the families of these tables, by their ids.

    Raises:
        DamagedStateFileError: the file is not whole.
    """
    gathering: _Gathering | None = None
    pieces = read_pieces(decompress(file, None), file, row_checksums=False, tables_after=0)
    for tables, piece in pieces:
        for number, records in by_table(tables, piece):
            family = families[number // TABLES_OF_EACH]
            if gathering and gathering.family is not family:
                yield from gathering.end()
                gathering = None
            if not family.has_many_values:
                yield family, records
                continue
            gathering = gathering or _Gathering(family)
            yield from gathering.add(records)
    if gathering:
        yield from gathering.end()


def tables_of_values(file: StateFile) -> set[int]:
    """Return the numbers of the tables that such a file has records of.

    Raises:
        DamagedStateFileError: the file is not whole.
    """
    pieces = read_pieces(decompress(file, None), file, row_checksums=False, tables_after=0)
    return {int(number) for tables, _ in pieces for number in tables}


def values_of_rows(family: Family, records: Records) -> Records:
    """Return rows as records of such a file."""
    if not family.has_many_values:
        return records
    lists = zip(records.key_bytes(), records.value_bytes(), strict=True)
    return Records.of((key, value) for key, whole in lists for value in _split(whole))


def snapshot_records(family: Family, records: Records) -> Iterator[tuple[Table, Records]]:
    """Yield rows as records of a snapshot, lists in parts."""
    first = Table(family=family, has_parts=False)
    if not family.has_many_values:
        yield first, records
        return
    heads: list[tuple[bytes, bytes]] = []
    others: list[tuple[bytes, bytes]] = []
    for key, whole in zip(records.key_bytes(), records.value_bytes(), strict=True):
        head, *behind = parts_of(key, list(_split(whole)))
        heads.append(head)
        others += behind
    yield first, Records.of(heads)
    if others:
        yield Table(family=family, has_parts=True), Records.of(others)


@dataclass(slots=True)
class _Gathering:
    """Puts lists together whose values come one by one."""

    family: Family
    _key: bytes | None = None
    _values: list[bytes] = field(default_factory=list)

    def add(self, records: Records) -> WholeRows:
        """Yield the lists that end with these values; the last one may go on."""
        for whole in whole_lists(self._ended(records)):
            yield self.family, whole

    def end(self) -> WholeRows:
        """Yield the list that has not ended yet."""
        if self._key is not None:
            yield self.family, Records.of([(self._key, _joined(self._values))])

    def _ended(self, records: Records) -> Iterator[tuple[bytes, list[bytes]]]:
        for key, value in zip(records.key_bytes(), records.value_bytes(), strict=True):
            if key != self._key:
                if self._key is not None:
                    yield self._key, self._values
                self._key, self._values = key, []
            self._values.append(value)


def _joined(values: Iterable[bytes]) -> bytes:
    return b"".join(LENGTH.pack(len(value)) + value for value in values)


def _split(whole: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(whole):
        (length,) = LENGTH.unpack_from(whole, at)
        at += LENGTH.size
        yield whole[at : at + length]
        at += length
