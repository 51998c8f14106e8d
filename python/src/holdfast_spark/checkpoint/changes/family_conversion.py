"""The rows of stores with column families, carried between RocksDB and Holdfast's files.

Each value of a list is a row to Spark, and a list is cut into parts in Holdfast's files; what is
compared is the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast_spark.checkpoint.changes.family_definitions import FamilyDefinitions
from holdfast_spark.checkpoint.changes.spark_state import SparkFamily
from holdfast_spark.checkpoint.errors import ConversionError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY, ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import without_classes
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.encoding import END_MARKER, encode
from holdfast_spark.checkpoint.rows.families import TABLES_OF_EACH, Families, Family
from holdfast_spark.checkpoint.rows.family_decoding import require_decodable, row_keys
from holdfast_spark.checkpoint.rows.family_encoding import writing_family_snapshot
from holdfast_spark.checkpoint.rows.fingerprint import Fingerprint
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.whole_rows import (
    WholeRows,
    rows_of_values,
    snapshot_records,
    tables_of_values,
    values_of_rows,
    whole_lists,
)


def with_rows(definitions: FamilyDefinitions, values: StateFile) -> dict[int, Family]:
    """Return the families that a store has: those of its operator, and earlier ones with rows.

    Args:
        definitions: what families there may be.
        values: the rows of the store as Spark tells them.
    """
    found = dict(definitions.newest)
    if definitions.earlier:
        for number in tables_of_values(values):
            family_id = number // TABLES_OF_EACH
            if family_id in definitions.earlier:
                found[family_id] = definitions.earlier[family_id]
    return found


def write_family_snapshot(
    made: Location, settings: PinnedSettings, families: Families, values: StateFile
) -> Fingerprint:
    """Write what Spark tells of a store as a snapshot; return what went into it.

    Args:
        made: a new file.
        settings: the settings of the query.
        families: the families of the store, by their ids.
        values: its rows as Spark tells them.
    """
    before = Fingerprint()
    checked = settings.row_checksums
    with writing_family_snapshot(made, settings, families) as snapshot:
        for family, rows in _watched(rows_of_values(values, families), before):
            for table, records in snapshot_records(family, rows):
                encoded, _ = encode(records, row_checksums=checked, table=table.number)
                snapshot.write(encoded)
    return before


def write_values(file: Path, version: FamilyVersion) -> Fingerprint:
    """Write a version of a store for Spark; return what went into the file."""
    before = Fingerprint()
    with file.open("wb") as out:
        for family, rows in _watched(_rows_of_version(version), before):
            number = TABLES_OF_EACH * family.family_id
            out.write(encode(values_of_rows(family, rows), row_checksums=False, table=number)[0])
        out.write(END_MARKER)
    return before


def values_fingerprint(values: StateFile, families: Families) -> Fingerprint:
    """Return what Spark tells of a store."""
    found = Fingerprint()
    for _ in _watched(rows_of_values(values, families), found):
        pass
    return found


def version_fingerprint(version: FamilyVersion, *, store: str) -> Fingerprint:
    """Return what a version of a store has, all of which fits its schemas.

    Args:
        version: the version.
        store: the store, for errors.

    Raises:
        DamagedRowError: a row does not.
    """
    schemas = {family.name: family.schema(path=store) for family in version.families.values()}
    found = Fingerprint()
    for file, table, records in version.records():
        name, where = table.family.name, str(file.location)
        rows = row_keys(table, records, where=where)
        require_decodable(table, rows, schemas[name], where=where)
        if not table.family.has_many_values:
            found.add(records, of=name)
    for _ in _watched(_lists(version), found):
        pass
    return found


def _rows_of_version(version: FamilyVersion) -> WholeRows:
    for _, table, records in version.records():
        if not table.family.has_many_values:
            yield table.family, records
    yield from _lists(version)


def _lists(version: FamilyVersion) -> WholeRows:
    for family in version.families.values():
        if family.has_many_values:
            lists = ((key, values) for _, key, values in version.lists(family))
            for rows in whole_lists(lists):
                yield family, rows


def spark_families(
    families: Families,
    history: Mapping[str, tuple[ColumnFamily, ...]],
    *,
    store: str,
    numbered: bool,
) -> tuple[SparkFamily, ...]:
    """Return families as Spark's provider has to know them.

    Args:
        families: the families, by their ids.
        history: the schemas that each has had, by its name, oldest first.
        store: the store, for errors.
        numbered: whether rows tell the number of their schema, as those in Avro.

    Raises:
        ConversionError: the schema of a family, whose rows tell its number, has none.
    """
    return tuple(
        _spark_family(family, _known(family, history, store=store) if numbered else ())
        for family in families.values()
    )


def _spark_family(family: Family, known: Sequence[ColumnFamily]) -> SparkFamily:
    return SparkFamily(
        table=TABLES_OF_EACH * family.family_id,
        name=family.name,
        key_encoder=family.encoder_json,
        key_schema=without_classes(family.key_json),
        value_schema=without_classes(family.value_json),
        has_many_values=family.has_many_values,
        is_internal=family.is_internal,
        key_schemas={each.key_schema_id: without_classes(each.key_json) for each in known},
        value_schemas={each.value_schema_id: without_classes(each.value_json) for each in known},
    )


def _known(
    family: Family, history: Mapping[str, tuple[ColumnFamily, ...]], *, store: str
) -> tuple[ColumnFamily, ...]:
    """Return the schemas of a family up to its own, which is the one that Spark is to write."""
    versions = history.get(family.name, ())
    if family.name == DEFAULT_COLUMN_FAMILY and not versions:
        return ()  # which every store has, and no operator uses
    wanted = family.schema(path=store).value
    for count in range(len(versions), 0, -1):
        if versions[count - 1].value == wanted:
            return versions[:count]
    raise ConversionError(
        f"The column family {family.name} of the store {store} has a schema that is in none of the "
        "operator's schema files: expected one of theirs, whose number its rows in RocksDB tell. "
        "Let the query run a batch, and stop it."
    )


def _watched(rows: WholeRows, fingerprint: Fingerprint) -> Iterator[tuple[Family, Records]]:
    for family, records in rows:
        fingerprint.add(records, of=family.name)
        yield family, records
