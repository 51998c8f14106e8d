"""The command `holdfast diff`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from holdfast_spark._operator_names import both_names
from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    family_options,
    json_option,
    number_option,
    open_checkpoint,
    print_json,
    storage_option,
    store_options,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.counted_difference import Diff

_ROWS = 20
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


@click.command(
    "diff",
    cls=CheckpointCommand,
    short_help="What changed between two batches or two checkpoints.",
    result="holdfast_spark.checkpoint.counted_difference:Diff",
)
@click.argument("path")
@click.argument("other", required=False)
@store_options
@family_options
@number_option(
    "--from-batch",
    help="First state: that after this batch of PATH. By default the newest committed one, or the "
    "one before it when there is no OTHER.",
)
@number_option(
    "--to-batch",
    help="Second state: that after this batch of OTHER, or of PATH. By default the newest "
    "committed one.",
)
@number_option(
    "--limit",
    default=_ROWS,
    show_default=True,
    help="Print at most N rows.",
)
@storage_option
@json_option
def diff(  # noqa: PLR0913, PLR0917 - one for each option
    path: str,
    other: str | None,
    operator_id: int,
    store_name: str,
    state_var_name: str | None,
    column_family: str | None,
    read_registered_timers: bool,
    from_batch: int | None,
    to_batch: int | None,
    limit: int,
    storage_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare the state after two batches of the checkpoint at PATH, or with that at OTHER.

    Counts the rows of a store that were added, changed and removed, and prints the first of them.
    Of a store with column families it compares all of them, or the one that is chosen: a list
    counts as one row, and is printed whole.
    The exit code is 0 whether there are any or not.
    """
    from holdfast_spark.checkpoint.counted_difference import diff as diff_states

    checkpoint = open_checkpoint(path, storage_options)
    found = diff_states(
        checkpoint,
        open_checkpoint(other, storage_options) if other else None,
        from_batch=from_batch,
        to_batch=to_batch,
        operator_id=operator_id,
        store_name=store_name,
        state_var_name=state_var_name,
        column_family=column_family,
        read_registered_timers=read_registered_timers,
        limit=limit,
    )
    if as_json:
        print_json(found)
        return
    chosen = ""
    if state_var_name is not None:
        chosen = f", state variable {state_var_name}"
    elif column_family is not None:
        chosen = f", column family {column_family}"
    elif read_registered_timers:
        chosen = ", registered timers"
    print_diff(found, chosen)


def print_diff(found: Diff, chosen: str = "") -> None:
    """Print what is compared, a line for each row, and the counts.

    Args:
        found: what differs.
        chosen: what of the store was chosen, as in `, column family a`; empty for all of it.
    """
    click.echo(f"{_states(found)}.")
    operator = f"Operator {found.operator_id}, {both_names(found.operator_name)}"
    click.echo(f"{operator}, store {found.store_name}{chosen}.")
    if found.rows:
        family = " column-family" if "column_family" in found.rows[0] else ""
        click.echo(f"  partition{family} key value")
    for row in found.rows:
        key, before, after = (
            json.dumps(row[name], ensure_ascii=False) for name in ("key", "before", "after")
        )
        values = {"added": after, "changed": f"{before} -> {after}", "removed": before}
        family = f" {row['column_family']}" if "column_family" in row else ""
        place = f"{row['partition_id']}{family}"
        click.echo(f"{_SIGNS[row['change']]} {place} {key} {values[row['change']]}")
    click.echo(f"{found.added:,} added, {found.changed:,} changed, {found.removed:,} removed")


def _states(found: Diff) -> str:
    """Return which states are compared."""
    first, second = _state(found.from_batch), _state(found.to_batch)
    if found.path == found.other_path:
        return f"{found.path}: the state {first}, and {second}"
    return f"The state of {found.path} {first}, and of {found.other_path} {second}"


def _state(batch: int) -> str:
    return "before the first batch" if batch < 0 else f"after batch {batch}"
