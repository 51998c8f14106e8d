"""The command `holdfast inspect`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from holdfast_spark._operator_names import both_names
from holdfast_spark._text import size_text
from holdfast_spark.cli.checkpoint_command import (
    WIDTH,
    CheckpointCommand,
    json_option,
    open_checkpoint,
    print_json,
    storage_option,
)

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast_spark.checkpoint.inspection import Inspection, OperatorSummary


@click.command(
    "inspect",
    cls=CheckpointCommand,
    short_help="Provider, operators, versions, sizes, what is odd.",
    result="holdfast_spark.checkpoint.inspection:Inspection",
)
@click.argument("path")
@storage_option
@json_option
def inspect(path: str, storage_options: tuple[str, ...], as_json: bool) -> None:
    """Show what the checkpoint at PATH holds, on one screen.

    The provider in use, the batches, the operators and their stores, the versions that can be put
    together, sizes, growth, how far snapshots lag behind, and what is odd. Reads names, sizes and
    metadata only; holdfast verify reads the files.
    """
    from rich.console import Console

    from holdfast_spark.checkpoint.inspection import inspect_checkpoint

    found = inspect_checkpoint(open_checkpoint(path, storage_options))
    if as_json:
        print_json(found)
    else:
        print_inspection(Console(width=None if sys.stdout.isatty() else WIDTH), found)


def print_inspection(console: Console, found: Inspection) -> None:
    """Print a checkpoint at a glance."""
    from rich.table import Table
    from rich.text import Text

    from holdfast_spark.checkpoint.facts import checkpoint_facts

    facts = Table.grid(padding=(0, 2))
    for name, value in checkpoint_facts(found):
        facts.add_row(Text(name, style="bold"), Text(value))
    console.print(facts)
    if found.explanation:
        console.print()
        console.print(Text(found.explanation))
    for operator in found.operators:
        console.print()
        console.print(_operator_table(operator))
        for sentence in _contents(operator):
            console.print(Text(sentence))
    if found.odd:
        console.print()
        console.print(Text("Odd", style="bold yellow"))
        for sentence in found.odd:
            console.print(Text(f"  {sentence}"))


def _contents(operator: OperatorSummary) -> Iterator[str]:
    """Yield what its stores hold by name: state variables and column families."""
    if operator.state_variables:
        yield f"state variables: {', '.join(str(each) for each in operator.state_variables)}"
    for store in operator.stores:
        if store.column_families:
            of = f" of {store.name}" if len(operator.stores) > 1 else ""
            yield f"column families{of}: {', '.join(store.column_families)}"


def _operator_table(operator: OperatorSummary) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(f"Operator {operator.operator_id}: {both_names(operator.name)}", style="bold")
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    rocksdb = any(store.shared_files for store in operator.stores)
    deltas, snapshots = ("changelogs", "zips") if rocksdb else ("deltas", "snapshots")
    shown.add_column("store")
    shown.add_column("partitions", justify="right")
    shown.add_column("versions")
    for column in (deltas, "size", "per version", snapshots, "size", "newest", "lag"):
        shown.add_column(column, justify="right")
    for column in ("shared", "size") if rocksdb else ():
        shown.add_column(column, justify="right")
    for store in operator.stores:
        shown.add_row(
            Text(store.name),
            f"{store.partitions:,}",
            store.versions or "none",
            f"{store.deltas:,}",
            size_text(store.delta_bytes),
            size_text(store.delta_bytes_per_version),
            f"{store.snapshots:,}",
            size_text(store.snapshot_bytes),
            size_text(store.newest_snapshot_bytes),
            f"{store.snapshot_lag:,}",
            *((f"{store.shared_files:,}", size_text(store.shared_bytes)) if rocksdb else ()),
        )
    return shown
