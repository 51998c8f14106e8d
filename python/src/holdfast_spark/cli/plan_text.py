"""A plan as text for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast_spark._operator_names import both_names
from holdfast_spark._text import counted, size_text
from holdfast_spark.capacity.plan import Plan, ProviderPlan
from holdfast_spark.cli.checkpoint_command import WIDTH


def print_plan(made: Plan) -> None:
    """Print a plan: stores, providers, the checkpoint and what was assumed."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    partitions = counted(made.partitions, "partition")
    console.print(
        Text(f"{both_names(made.operator)} in {partitions}", style="bold"),
        _stores(made),
        Text(f"Memory with {counted(made.versions, 'version')}", style="bold"),
        _table(
            (
                *("provider", "heap", "in a batch", "outside", "per row"),
                *("partitions per executor", "executors"),
            ),
            [_provider_row(provider) for provider in made.providers],
        ),
        *_checkpoint(made),
        Text("Assumed", style="bold"),
        *(Text(f"  {sentence}") for sentence in made.assumptions),
        sep="\n",
    )


def _stores(made: Plan) -> Table:
    return _table(
        (
            *("store", "rows", "key", "value"),
            *("puts per batch", "removals", "delta", "snapshot"),
        ),
        [
            (
                *(store.name, f"{store.rows:,}"),
                *(f"{store.key_bytes:,.0f} B", f"{store.value_bytes:,.0f} B"),
                *(f"{store.changes:,}", f"{store.removed:,}"),
                *(size_text(store.delta_bytes), size_text(store.snapshot_bytes)),
            )
            for store in made.stores
        ],
    )


def _checkpoint(made: Plan) -> Iterator[Text | Table]:
    """Yield what the files of providers take whose files are known."""
    rows = [
        (
            *(provider.provider, size_text(provider.written_bytes or 0)),
            *(f"{provider.retained_files:,}", size_text(provider.retained_bytes or 0)),
        )
        for provider in made.providers
        if provider.retained_files is not None
    ]
    if rows:
        yield Text("Checkpoint", style="bold")
        yield _table(("provider", "written per batch", "files", "size"), rows)


def _provider_row(provider: ProviderPlan) -> tuple[str, ...]:
    fitting, executors = provider.partitions_per_executor, provider.executors
    return (
        provider.provider + (" (estimate)" if provider.estimated else ""),
        size_text(provider.heap_bytes),
        size_text(provider.peak_heap_bytes),
        size_text(provider.native_bytes),
        f"{provider.bytes_per_row:,.0f} B",
        "" if fitting is None else f"{fitting:,}",
        "" if fitting is None else "too small" if executors is None else f"{executors:,}",
    )


def _table(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
