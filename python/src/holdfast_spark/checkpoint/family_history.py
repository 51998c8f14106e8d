"""One partition of a store with column families, version after version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.partition_history import PartitionReader, Point
from holdfast_spark.checkpoint.rows.families import TABLES_OF_EACH, Families
from holdfast_spark.checkpoint.rows.family_decoding import row_keys
from holdfast_spark.checkpoint.rows.family_records import FamilyContent, reading_families
from holdfast_spark.checkpoint.rows.hot_keys import HotKeys
from holdfast_spark.checkpoint.rows.row_sizes import RowSizes

# The keys of one family that are counted; a store has some of them.
_HOT_KEY_BYTES = 4 << 20


@dataclass(slots=True)
class FamilyCounts:
    """What a version has, or does to, in one family of a partition.

    Attributes:
        rows: rows that the version has; in lists a part counts as one.
        row_bytes: bytes of their keys and values.
        puts: records of the delta that put a row; 0 without a delta.
        removals: records of the delta that remove one; rows of a removed family are not counted.
    """

    rows: int = 0
    row_bytes: int = 0
    puts: int = 0
    removals: int = 0


class FamilySizes:
    """How many rows the tables of a version have and how large they are; for one thread."""

    def __init__(self) -> None:
        self.families: Families = {}
        self.tables: dict[int, RowSizes] = defaultdict(RowSizes)

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    @property
    def total_bytes(self) -> int:
        """Bytes of all keys and values."""
        return sum(table.total_bytes for table in self.tables.values())

    def define(self, content: FamilyContent) -> None:
        """Take over what a file says of families."""
        for family_id in content.changes.removed:
            for table in range(TABLES_OF_EACH):
                self.tables.pop(TABLES_OF_EACH * family_id + table, None)
        self.families = content.changes.applied(self.families, content.file)

    def counts(self) -> dict[str, FamilyCounts]:
        """Return rows and bytes by the name of the family."""
        found = {family.name: FamilyCounts() for family in self.families.values()}
        for number, table in self.tables.items():
            counts = found[self.families[number // TABLES_OF_EACH].name]
            counts.rows += len(table)
            counts.row_bytes += table.total_bytes
        return found


class FamilyPartitionReader(PartitionReader[FamilySizes]):
    """Reads a partition of a store with column families.

    Attributes:
        hot_keys_of: the keys that changed, by the family.
        schemas: the newest schema of each family.
    """

    def __init__(self, store: StoreFiles, *, readable: bool) -> None:
        super().__init__(store, FamilySizes(), readable=readable)
        self.hot_keys_of: dict[str, HotKeys] = {}
        self.schemas: dict[str, ColumnFamily] = {}
        # By the version that they lead to.
        self._changes: dict[int, dict[str, FamilyCounts]] = {}

    def families(self, version: int) -> Mapping[str, FamilyCounts] | None:
        """Return the counts of the version at hand by family; None where nobody knows them."""
        if self._rows is None:
            return None
        found = self._rows.counts()
        of_version = self._changes.pop(version, {})
        for name, counts in found.items():
            changes = of_version.get(name, FamilyCounts())
            counts.puts, counts.removals = changes.puts, changes.removals
        return found

    def _changes_of(self, delta: StateFile) -> tuple[int, int]:
        with reading_families(delta) as content:
            return self._counted(content)

    def _counted(self, content: FamilyContent) -> tuple[int, int]:
        if self._rows is None:  # and neither are the families that tables are of
            puts = removals = 0
            for _, records in content.pieces:
                removed = int((records.value_lengths < 0).sum())
                puts, removals = puts + len(records) - removed, removals + removed
            return puts, removals
        self._define(self._rows, content)
        changes: dict[str, FamilyCounts] = defaultdict(FamilyCounts)
        for table, records in content.tables(self._rows.families):
            removed = int((records.value_lengths < 0).sum())
            counts = changes[table.family.name]
            counts.puts += len(records) - removed
            counts.removals += removed
            hot_keys = self.hot_keys_of.setdefault(table.family.name, HotKeys(_HOT_KEY_BYTES))
            hot_keys.add(row_keys(table, records, where=str(content.file.location)))
            self._rows.tables[table.number].apply(records)
        self._changes = {content.file.version: changes}
        totals = changes.values()
        return sum(c.puts for c in totals), sum(c.removals for c in totals)

    def _rows_of(self, snapshot: StateFile) -> FamilySizes:
        sizes = FamilySizes()
        with reading_families(snapshot) as content:
            self._define(sizes, content)
            for table, records in content.tables(sizes.families):
                sizes.tables[table.number].apply(records)
        return sizes

    def _define(self, sizes: FamilySizes, content: FamilyContent) -> None:
        sizes.define(content)
        path = str(content.file.location)
        for family in content.changes.defined:
            self.schemas[family.name] = family.schema(path=path)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyVersionFigures:
    """A version of a column family, in all partitions together.

    Attributes:
        version: the version.
        rows: rows that it has; a part of a list counts as one. Null where that cannot be told.
        row_bytes: bytes of their keys and values; null as `rows` is.
        puts: rows that its deltas put; null as `rows` is.
        removals: keys that its deltas remove; null as `rows` is.
    """

    version: int
    rows: int | None
    row_bytes: int | None
    puts: int | None
    removals: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFigures:
    """A column family of a store.

    Attributes:
        name: its name.
        state_variable: type of the state variable of that name, such as `ListState`; null where
            there is none.
        versions: the versions that there are files of, oldest first.
    """

    name: str
    state_variable: str | None
    versions: tuple[FamilyVersionFigures, ...]


class FamilyTotals:
    """Adds up the families of all partitions; for one thread."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, FamilyCounts]] = defaultdict(dict)
        self._unknown: set[int] = set()
        self._versions: dict[int, int] = defaultdict(int)

    def add(self, point: Point, families: Mapping[str, FamilyCounts] | None) -> None:
        """Add a version of a partition."""
        self._versions[point.version] += 1
        if families is None:
            self._unknown.add(point.version)
            return
        for name, counts in families.items():
            total = self._counts[name].setdefault(point.version, FamilyCounts())
            total.rows += counts.rows
            total.row_bytes += counts.row_bytes
            total.puts += counts.puts
            total.removals += counts.removals

    def figures(self, types: Mapping[str, str], *, of: int) -> tuple[FamilyFigures, ...]:
        """Return the sums; what is not known of all `of` partitions is not known.

        Args:
            types: type of the state variable of each name.
            of: number of partitions.
        """
        return tuple(
            FamilyFigures(
                name=name,
                state_variable=types.get(name),
                versions=tuple(self._version(name, version, of) for version in self._versions),
            )
            for name in sorted(self._counts)
        )

    def _version(self, name: str, version: int, of: int) -> FamilyVersionFigures:
        known = version not in self._unknown and self._versions[version] == of
        counts = self._counts[name].get(version, FamilyCounts())
        return FamilyVersionFigures(
            version=version,
            rows=counts.rows if known else None,
            row_bytes=counts.row_bytes if known else None,
            puts=counts.puts if known else None,
            removals=counts.removals if known else None,
        )
