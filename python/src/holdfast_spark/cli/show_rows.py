"""The command `holdfast show`."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from holdfast_spark.cli.checkpoint_command import (
    WIDTH,
    CheckpointCommand,
    family_options,
    number_option,
    open_checkpoint,
    open_location,
    require_outside,
    storage_option,
    store_options,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from holdfast_spark.checkpoint import Checkpoint
    from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
    from holdfast_spark.checkpoint.row_reading import JoinSide

TABLE_ROWS = 20


@click.command(
    "show", cls=CheckpointCommand, short_help="Rows of a state store: table, JSON, CSV, Parquet."
)
@click.argument("path")
@store_options
@number_option(
    "--batch-id",
    help="The state after this batch; the newest committed one by default.",
)
@click.option(
    "--join-side",
    type=click.Choice(["left", "right"]),
    help="The rows that a stream-stream join keeps of a side, instead of a store.",
)
@family_options
@number_option("--partition", help="One partition only.")
@click.option(
    "--key",
    "filters",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Only rows with this value in a field of the key, as in window.start=2026-01-01T00:00:00; "
    "null for none; repeatable.",
)
@click.option(
    "--key-schema",
    metavar="DDL",
    help="The columns of the key, as in 'user string, day int', where the store has no schema "
    "file, as before Spark 3.1, or another one than its rows.",
)
@click.option("--value-schema", metavar="DDL", help="The columns of the value; with --key-schema.")
@number_option(
    "--limit",
    help=f"At most N rows; {TABLE_ROWS} by default for a table, all otherwise.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    default="table",
    show_default=True,
    help="How to print them.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to FILE instead of standard output; needed for parquet.",
)
@storage_option
def show(  # noqa: PLR0913, PLR0917 - one for each option
    path: str,
    operator_id: int,
    store_name: str,
    batch_id: int | None,
    join_side: JoinSide | None,
    state_var_name: str | None,
    column_family: str | None,
    read_registered_timers: bool,
    partition: int | None,
    filters: tuple[str, ...],
    key_schema: str | None,
    value_schema: str | None,
    limit: int | None,
    form: str,
    as_json: bool,
    output: Path | None,
    storage_options: tuple[str, ...],
) -> None:
    """Print the rows of a state store in the checkpoint at PATH.

    The columns and options are those of Spark's statestore source: partition_id, key and value, the
    latter two with the fields of the store's schema. Rows come in no particular order. A state
    variable of transformWithState is chosen by its name; a list has a row for each list_element, a
    map for each user_map_key, with its user_map_value, and a timer has expiration_timestamp_ms.

    A store without a schema file, which Spark writes since 3.1, is shown as far as the bytes of its
    rows tell: numbers and times as long, text as string; --key-schema and --value-schema tell more.

    JSON is one object a line, with the three columns as its fields: decimals are text, binaries
    Base64, dates and times ISO 8601, day-time intervals microseconds, year-month intervals months,
    maps objects.
    CSV has key and value as JSON. Parquet keeps all types; a key without a column, as of an
    aggregation of all rows, is null there.
    """
    from holdfast_spark.checkpoint.files.ddl import schema_from_ddl
    from holdfast_spark.checkpoint.files.refusals import reported
    from holdfast_spark.checkpoint.row_reading import read_rows

    form = "json" if as_json else form
    if join_side and store_name != "default":
        raise click.UsageError("--join-side and --store-name exclude each other")
    if (wrong := next((text for text in filters if "=" not in text), None)) is not None:
        raise click.UsageError(f"--key takes FIELD=VALUE, and {wrong} has no =")
    if form == "parquet" and output is None:
        raise click.UsageError("--format parquet needs --output FILE")
    if (key_schema is None) != (value_schema is None):
        raise click.UsageError("--key-schema and --value-schema are given together")
    kinds = {
        "--join-side": join_side is not None,
        "--state-var-name": state_var_name is not None,
        "--column-family": column_family is not None,
        "--read-registered-timers": read_registered_timers,
    }
    given = [option for option, is_given in kinds.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other")
    if given and key_schema is not None:
        raise click.UsageError(f"{given[0]} and --key-schema exclude each other")
    checkpoint = open_checkpoint(path, storage_options)
    require_outside(checkpoint, open_location(str(output), ()) if output else None)
    schema = None
    if key_schema is not None and value_schema is not None:
        schema = schema_from_ddl(key=key_schema, value=value_schema)
    if not given:
        _warn_of_schema(checkpoint, schema, operator_id=operator_id, store_name=store_name)
    shown = TABLE_ROWS if limit is None and form == "table" else None
    kept = _Counted(
        read_rows(
            checkpoint,
            operator_id=operator_id,
            store_name=store_name,
            join_side=join_side,
            state_var_name=state_var_name,
            column_family=column_family,
            read_registered_timers=read_registered_timers,
            batch_id=batch_id,
            partition=partition,
            keys=filters,
            limit=limit if shown is None else shown + 1,
            schema=schema,
        ),
        shown,
    )
    if output:
        with reported(output, "write"), _written_beside(output) as file:
            write_file(kept, file, form)
    else:
        _print(kept, form)
    if kept.more:
        click.echo(f"There are more than these {shown} rows: --limit N shows N of them.", err=True)
    if not kept.rows and limit != 0:
        chosen = " with this key" if filters else ""
        where = "the state" if partition is None else f"partition {partition}"
        click.echo(f"No rows: {where} has none{chosen}.", err=True)


def _warn_of_schema(
    checkpoint: Checkpoint, schema: ColumnFamily | None, *, operator_id: int, store_name: str
) -> None:
    """Tell where what is shown may not be what the rows hold."""
    from holdfast_spark.checkpoint.row_reading import unlike_schema_file, without_schema_file

    store: dict[str, Any] = {"operator_id": operator_id, "store_name": store_name}
    if schema is None:
        sentence = without_schema_file(checkpoint, **store)
    else:
        sentence = unlike_schema_file(checkpoint, schema, **store)
    if sentence:
        click.echo(f"warning: {sentence}", err=True)


class _Counted(Iterator["pa.RecordBatch"]):
    """Pieces of rows, of which the rows are counted.

    Attributes:
        rows: rows so far.
        more: whether there are more than are shown.
    """

    def __init__(self, pieces: Iterator[pa.RecordBatch], shown: int | None) -> None:
        self._pieces = pieces
        self._shown = shown
        self.rows = 0
        self.more = False

    def __next__(self) -> pa.RecordBatch:
        piece = next(self._pieces)
        if self._shown is not None and self.rows + len(piece) > self._shown:
            self.more = True
            if self.rows == self._shown:
                raise StopIteration
            piece = piece.slice(0, self._shown - self.rows)
        self.rows += len(piece)
        return piece


@contextlib.contextmanager
def _written_beside(file: Path) -> Iterator[Path]:
    """A file that takes the place of one when all of it is written, and goes when it is not."""
    if file.exists() and not file.is_file():
        # A pipe or a device.
        yield file
        return
    target = file.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield beside
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _print(pieces: Iterator[pa.RecordBatch], form: str) -> None:
    if form == "csv" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(newline="")  # it has ends of lines of its own
    _WRITERS[form](pieces, sys.stdout)


def write_file(pieces: Iterator[pa.RecordBatch], file: Path, form: str) -> None:
    """Write a file of one of the formats."""
    if form == "parquet":
        write_parquet(pieces, file)
        return
    with file.open("w", encoding="utf-8", newline="") as out:
        _WRITERS[form](pieces, out)


def write_table(pieces: Iterable[pa.RecordBatch], out: IO[str]) -> None:
    """Print a table, with key and value as JSON."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for piece in pieces:
        if not table.columns:
            for name in piece.schema.names:
                table.add_column(name)
        for row in text_rows(piece):
            table.add_row(*map(Text, row))
    Console(file=out, width=None if out.isatty() else WIDTH).print(table)


def write_json(pieces: Iterable[pa.RecordBatch], out: IO[str]) -> None:
    """Print one JSON object a line."""
    from holdfast_spark.checkpoint.rows.json_text import json_lines

    for piece in pieces:
        out.write(json_lines(piece))


def write_csv(pieces: Iterable[pa.RecordBatch], out: IO[str]) -> None:
    """Print CSV with a header; there is at least one piece. Key and value are JSON."""
    writer = csv.writer(out)
    for number, piece in enumerate(pieces):
        if not number:
            writer.writerow(piece.schema.names)
        writer.writerows(text_rows(piece))


def text_rows(rows: pa.RecordBatch) -> Iterator[tuple[str, ...]]:
    """Yield rows with every column as JSON."""
    from holdfast_spark.checkpoint.rows.json_text import json_text

    columns = (json_text(column).to_pylist() for column in rows.columns)
    return zip(*columns, strict=True)


def write_parquet(pieces: Iterator[pa.RecordBatch], file: Path) -> None:
    """Write a Parquet file; there is at least one piece, and all are of one type."""
    from pyarrow import parquet

    pieces = map(_with_fields, pieces)
    first = next(pieces)
    # What Python opens it says of a folder that is not there without the name of the hidden file.
    with file.open("wb") as out, parquet.ParquetWriter(out, first.schema) as writer:
        writer.write_batch(first)
        for piece in pieces:
            writer.write_batch(piece)


def _with_fields(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with nulls for structs without a field, which Parquet does not have."""
    import pyarrow as pa

    columns = [
        pa.nulls(len(rows)) if pa.types.is_struct(c.type) and not c.type.num_fields else c
        for c in rows.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


_WRITERS = {"table": write_table, "json": write_json, "csv": write_csv}
