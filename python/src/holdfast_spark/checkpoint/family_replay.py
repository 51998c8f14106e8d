"""A version of a store with column families out of its snapshot and deltas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from holdfast_spark.checkpoint.files.checksums import require_checksums
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.replay import apply_records
from holdfast_spark.checkpoint.rows.families import TABLES_OF_EACH, Families, Family
from holdfast_spark.checkpoint.rows.family_records import Table, reading_families
from holdfast_spark.checkpoint.rows.justified import Held
from holdfast_spark.checkpoint.rows.lists import gathered
from holdfast_spark.checkpoint.rows.records import Records

# Values of lists that are given out together.
_VALUES = 1 << 14


class FamilyVersion:
    """A version of a store with column families; for one thread.

    The deltas are kept in memory, one value for each key that they change; the snapshot passes by
    in pieces whenever rows are asked for.

    Args:
        chain: a snapshot, if there is one, and the deltas behind it, in order.

    Attributes:
        families: its families, by their ids.

    Raises:
        NewerFileError: a newer Holdfast has written a file.
        DamagedStateFileError: a file cannot be read, does not fit the one before it, or has not the
            checksums beside it.
        UnreadablePathError: the file system refuses a file.
    """

    def __init__(self, chain: Sequence[StateFile]) -> None:
        self._deltas = [file for file in chain if file.kind == "delta"]
        self._snapshots = chain[: len(chain) - len(self._deltas)]
        # By the number of the table.
        self._changed: dict[int, dict[bytes, bytes | None]] = defaultdict(dict)
        self._gone: set[int] = set()
        self._based_on: dict[int, Family] = {}
        for snapshot in self._snapshots:
            require_checksums(snapshot)
            self._based_on = _families_of(snapshot)
        self.families: Families = self._based_on
        held = Held(self._deltas)
        for delta in self._deltas:
            require_checksums(delta)
            self._apply(delta, held)

    def named(self, name: str) -> Family | None:
        """Return the family of a name; None where there is none."""
        return next((family for family in self.families.values() if family.name == name), None)

    def records(self, only: Family | None = None) -> Iterator[tuple[StateFile, Table, Records]]:
        """Yield the records of the version, each with the file that has it, in no order.

        Args:
            only: those of this family alone; all for None.
        """
        for snapshot in self._snapshots:
            with reading_families(snapshot) as content:
                for table, records in content.tables(self._based_on):
                    if table.family.family_id in self._gone or (only and not _is(table, only)):
                        continue
                    unchanged = self._unchanged(table, records)
                    if len(unchanged):
                        # The newest definition may differ from that of the snapshot.
                        family = self.families[table.family.family_id]
                        yield snapshot, Table(family=family, has_parts=table.has_parts), unchanged
        for number, changed in self._changed.items():
            family = self.families[number // TABLES_OF_EACH]
            table = Table(family=family, has_parts=number % TABLES_OF_EACH > 0)
            rows = [(key, value) for key, value in changed.items() if value is not None]
            if rows and not (only and not _is(table, only)):
                yield self._deltas[-1], table, Records.of(rows)

    def rows(self, family: Family) -> Iterator[tuple[StateFile, Records]]:
        """Yield the rows of a family: of a list one for each value, in their order."""
        if not family.has_many_values:
            yield from ((file, records) for file, _, records in self.records(family))
            return
        rows: list[tuple[bytes, bytes]] = []
        last = self._last
        for _, key, values in self.lists(family):
            rows += [(key, value) for value in values]
            if len(rows) >= _VALUES:
                yield last, Records.of(rows)
                rows = []
        if rows:
            yield last, Records.of(rows)

    def lists(self, family: Family) -> Iterator[tuple[str, bytes, list[bytes]]]:
        """Yield the lists of a family: where each lies, its key and its values."""
        return gathered(self._held(family))

    def _held(self, family: Family) -> Iterator[tuple[str, Table, Records]]:
        held = Held([*self._snapshots, *self._deltas])
        for file, table, records in self.records(family):
            held.add(records, file)
            yield str(file.location), table, records

    @property
    def _last(self) -> StateFile:
        return (*self._snapshots, *self._deltas)[-1]

    def _apply(self, delta: StateFile, held: Held) -> None:
        with reading_families(delta) as content:
            for family_id in content.changes.removed:
                self._gone.add(family_id)
                for number in (TABLES_OF_EACH * family_id, TABLES_OF_EACH * family_id + 1):
                    self._changed.pop(number, None)
            self.families = content.changes.applied(self.families, delta)
            for table, records in content.tables(self.families):
                held.add(records, delta)
                apply_records(records, self._changed[table.number])

    def _unchanged(self, table: Table, records: Records) -> Records:
        changed = self._changed.get(table.number)
        if not changed:
            return records
        kept = np.fromiter((key not in changed for key in records.key_bytes()), bool, len(records))
        return records if kept.all() else records.where(kept)


def _families_of(snapshot: StateFile) -> dict[int, Family]:
    with reading_families(snapshot) as content:
        return content.changes.applied({}, snapshot)


def _is(table: Table, family: Family) -> bool:
    return table.family.family_id == family.family_id
