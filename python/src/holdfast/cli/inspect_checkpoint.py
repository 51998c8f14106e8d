"""The command `holdfast inspect`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holdfast.cli.checkpoint_command import (
    WIDTH,
    CheckpointCommand,
    json_option,
    open_checkpoint,
    print_json,
    storage_option,
)

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.checkpoint.inspection import Inspection, OperatorSummary


@click.command("inspect", cls=CheckpointCommand, result="holdfast.checkpoint.inspection:Inspection")
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

    from holdfast.checkpoint.inspection import inspect_checkpoint

    found = inspect_checkpoint(open_checkpoint(path, storage_options))
    if as_json:
        print_json(found)
    else:
        print_inspection(Console(width=None if sys.stdout.isatty() else WIDTH), found)


def print_inspection(console: Console, found: Inspection) -> None:
    """Print a checkpoint at a glance."""
    from rich.table import Table
    from rich.text import Text

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
    if found.odd:
        console.print()
        console.print(Text("Odd", style="bold yellow"))
        for sentence in found.odd:
            console.print(Text(f"  {sentence}"))


def checkpoint_facts(found: Inspection) -> list[tuple[str, str]]:
    """Return the facts about a checkpoint as names and values for people."""
    committed = found.newest_committed_batch
    formats = ", ".join(f"{name} {n}" for name, n in found.state_format_versions.items())
    started = f", started {found.newest_batch_started}" if found.newest_batch_started else ""
    return [
        ("checkpoint", found.path),
        ("query", found.query_id or "unknown"),
        ("provider", found.provider_class),
        ("codec", found.codec + (", with row checksums" if found.row_checksums else "")),
        ("partitions", str(found.shuffle_partitions or "unknown")),
        ("state formats", formats or "unknown"),
        ("batches", f"{found.first_batch} to {found.newest_batch}{started}"),
        ("committed", "none" if committed is None else f"to {committed}"),
        ("state", f"{found.files:,} files, {size_text(found.bytes)}"),
    ]


def _operator_table(operator: OperatorSummary) -> object:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    title = Text(f"Operator {operator.operator_id}: {operator.name}", style="bold")
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


def size_text(size: int) -> str:
    """Return a size for people."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:  # noqa: PLR2004 - the next unit
            break
        amount, unit = amount / 1024, larger
    return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"
