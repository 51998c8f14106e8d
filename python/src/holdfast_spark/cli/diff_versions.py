"""The command `holdfast diff`."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from holdfast_spark.cli.checkpoint_command import (
    CheckpointCommand,
    json_option,
    number_option,
    open_checkpoint,
    storage_option,
    store_options,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.difference import Side

_ROWS = 20
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DiffResult:
    """How two states differ.

    Attributes:
        added: rows that only the second has.
        changed: rows that both have, with different values.
        removed: rows that only the first has.
        rows: the first of them, as many as `--limit` says: objects with `change`, which is `added`,
            `changed` or `removed`, `partition_id`, `key`, `before` and `after`, rendered as by
            `holdfast show`.
    """

    added: int
    changed: int
    removed: int
    rows: tuple[dict[str, Any], ...]


@click.command("diff", cls=CheckpointCommand, result="holdfast_spark.cli.diff_versions:DiffResult")
@click.argument("path")
@click.argument("other", required=False)
@store_options
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
    from_batch: int | None,
    to_batch: int | None,
    limit: int,
    storage_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare the state after two batches of the checkpoint at PATH, or with that at OTHER.

    Counts the rows of a store that were added, changed and removed, and prints the first of them.
    The exit code is 0 whether there are any or not.
    """
    from holdfast_spark.checkpoint.difference import Side

    first = open_checkpoint(path, storage_options)
    second = open_checkpoint(other, storage_options) if other else first
    if to_batch is None:
        to_batch = second.newest_committed
    if from_batch is None:
        from_batch = first.newest_committed if other else to_batch - 1
    found = compared(
        Side(checkpoint=first, batch_id=from_batch),
        Side(checkpoint=second, batch_id=to_batch),
        operator_id=operator_id,
        store_name=store_name,
        limit=limit,
    )
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(found)))
    else:
        print_diff(found)


def compared(
    first: Side, second: Side, *, operator_id: int, store_name: str, limit: int
) -> DiffResult:
    """Compare two states."""
    from holdfast_spark.checkpoint.difference import compare
    from holdfast_spark.checkpoint.rows.json_text import json_rows

    counts: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for difference in compare(first, second, operator_id=operator_id, store_name=store_name):
        counts[difference.change] += len(difference.keys)
        rows += json_rows(difference.rows().slice(0, limit - len(rows)))
    return DiffResult(
        added=counts["added"],
        changed=counts["changed"],
        removed=counts["removed"],
        rows=tuple(rows),
    )


def print_diff(found: DiffResult) -> None:
    """Print a line for each row and the counts."""
    for row in found.rows:
        key, before, after = (
            json.dumps(row[name], ensure_ascii=False) for name in ("key", "before", "after")
        )
        values = {"added": after, "changed": f"{before} -> {after}", "removed": before}
        click.echo(f"{_SIGNS[row['change']]} {row['partition_id']} {key} {values[row['change']]}")
    click.echo(f"{found.added:,} added, {found.changed:,} changed, {found.removed:,} removed")
