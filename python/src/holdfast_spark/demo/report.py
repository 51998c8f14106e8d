"""The result of the demo as text on a console."""

from __future__ import annotations

import re

from rich import box
from rich.console import Console
from rich.table import Table as ConsoleTable
from rich.text import Text

from holdfast_spark._text import counted, size_text
from holdfast_spark.demo.result import DemoResult
from holdfast_spark.demo.table import Table, as_text

SPARK_METRICS = (
    ("rows in state", "num_rows_total"),
    ("rows updated", "num_rows_updated"),
    ("rows removed", "num_rows_removed"),
    ("rows dropped by watermark", "num_rows_dropped_by_watermark"),
    ("memory used, bytes", "memory_used_bytes"),
    ("updates, ms", "all_updates_time_ms"),
    ("removals, ms", "all_removals_time_ms"),
    ("commit, ms", "commit_time_ms"),
    ("state stores", "num_state_store_instances"),
)


# Spark's instance metrics: one number for each state store (SnapshotLastUploaded.partition_0_...).
INSTANCE = re.compile(r"\.partition_\d+_")


def print_report(console: Console, result: DemoResult) -> None:
    """Print result tables, metrics, files and the verdict."""
    sessions = result.sessions.tables if result.sessions else ()
    for table in (*result.check.tables, *sessions):
        print_table(console, console_table(table))
    print_table(console, metrics_table(result))
    print_table(console, files_table(result))
    print_verdict(console, result)


def print_table(console: Console, table: ConsoleTable) -> None:
    """Print a table with an empty line before it."""
    console.print()
    console.print(table)


def console_table(table: Table) -> ConsoleTable:
    """Return a result table with its numbers to the right."""
    shown = new_table(table.title)
    for index, column in enumerate(table.columns):
        text = any(isinstance(row[index], str) for row in table.rows)
        shown.add_column(Text(column), justify="left" if text else "right", no_wrap=text)
    for row in table.rows:
        shown.add_row(*(Text(as_text(cell)) for cell in row))
    return shown


def metrics_table(result: DemoResult) -> ConsoleTable:
    """Return what Spark and the provider report about the state after the last batch with rows."""
    operators = result.operators[::-1]
    shown = new_table(f"State after batch {result.last_batch}, the last one that read rows")
    shown.add_column("metric")
    for operator in operators:
        shown.add_column(Text(operator.operator_name), justify="right")
    for title, field in SPARK_METRICS:
        shown.add_row(title, *(f"{getattr(each, field):,}" for each in operators))
    names = sorted(
        {name for each in operators for name in each.custom_metrics if not INSTANCE.search(name)}
    )
    for name in names:
        values = (each.custom_metrics.get(name) for each in operators)
        shown.add_row(name, *(as_text(value) for value in values))
    return shown


def files_table(result: DemoResult) -> ConsoleTable:
    """Return the state files in the checkpoint by stateful operator and kind of store."""
    shown = new_table("State files in the checkpoint")
    for column in ("operator", "name", "store"):
        shown.add_column(column, no_wrap=True)
    for column in ("partitions", "deltas", "bytes", "snapshots", "bytes"):
        shown.add_column(column, justify="right")
    for operator in result.files:
        for store in operator.stores:
            shown.add_row(
                *(str(operator.operator_id), operator.name, store.name, f"{store.partitions:,}"),
                *(f"{store.deltas:,}", size_text(store.delta_bytes)),
                *(f"{store.snapshots:,}", size_text(store.snapshot_bytes)),
            )
    return shown


def print_verdict(console: Console, result: DemoResult) -> None:
    """Print whether the results agree, and what differs."""
    check, duplicates = result.check, result.rows - result.check.events
    console.print()
    console.print(
        f"{counted(result.rows, 'row')} in {counted(result.batches, 'batch', 'batches')}, "
        f"duplicates left out: {duplicates:,}, "
        f"{counted(check.events, 'event')} in {counted(check.groups, 'group')}, "
        f"{result.seconds:.0f} s in all.",
        highlight=False,
    )
    if result.sessions is not None:
        console.print(
            f"{result.sessions.events:,} of them flown in "
            f"{counted(result.sessions.groups, 'session')} of aircraft, by a second query that was "
            "killed and resumed with the first.",
            highlight=False,
        )
    for sample in (*check.samples, *(result.sessions.samples if result.sessions else ())):
        console.print(Text(f"  {sample}"))
    if not result.failures:
        console.print(
            Text(
                "The stream, killed and resumed, and the batch agree in every group; "
                f"state was kept by {result.provider}.",
                style="green",
            )
        )


def new_table(title: str) -> ConsoleTable:
    """Return an empty table in the report's style."""
    return ConsoleTable(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
