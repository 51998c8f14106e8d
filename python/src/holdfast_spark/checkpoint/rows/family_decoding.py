"""The keys and values of rows in the records of a column family."""

from __future__ import annotations

from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.rows.family_records import Table
from holdfast_spark.checkpoint.rows.lists import PART, split_key, values_of
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder


def row_keys(table: Table, records: Records, *, where: str) -> Records:
    """Return the records with the keys of their rows, without the numbers of parts.

    Raises:
        DamagedRowError: a key is none of a part.
    """
    if not table.has_parts:
        return records
    for key in records.key_bytes():
        split_key(key, where=where)
    return Records(
        memory=records.memory,
        key_starts=records.key_starts,
        key_lengths=records.key_lengths - PART.size,
        value_starts=records.value_starts,
        value_lengths=records.value_lengths,
    )


def require_decodable(table: Table, rows: Records, schema: ColumnFamily, *, where: str) -> None:
    """Check that rows fit the schema of their family.

    Args:
        table: the table that they are of.
        rows: records, of which some may be removals, with the keys of rows.
        schema: the schema.
        where: the file, for errors.

    Raises:
        DamagedRowError: they do not.
    """
    decoder = RowDecoder(rows.memory, where=where)
    decoder.rows(schema.key, rows.key_starts, rows.key_lengths)
    kept = rows.where(rows.value_lengths >= 0)
    if table.family.has_many_values:
        kept = Records.of(
            (b"", value)
            for part in kept.value_bytes()
            for value in values_of(part, is_first=not table.has_parts, where=where)[1]
        )
    decoder = RowDecoder(kept.memory, where=where)
    decoder.rows(schema.value, kept.value_starts, kept.value_lengths)
