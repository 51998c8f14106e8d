"""The command `holdfast repartition`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast_spark._operator_names import both_names
from holdfast_spark._text import counted
from holdfast_spark.cli.checkpoint_command import (
    HAS_TO_BE_STOPPED,
    ChangeOptions,
    CheckpointCommand,
    change_options,
    number_option,
    open_to_change,
    print_change,
    progress_bar,
)

if TYPE_CHECKING:
    from holdfast_spark.checkpoint.changes.repartition import Repartition, RepartitionedStore


@click.command(
    "repartition",
    cls=CheckpointCommand,
    short_help="Another number of shuffle partitions.",
    result="holdfast_spark.checkpoint.changes.repartition:Repartition",
    more_help=HAS_TO_BE_STOPPED,
)
@click.argument("path")
@number_option(
    "--partitions",
    least=1,
    required=True,
    help="The new number of shuffle partitions.",
)
@change_options
def repartition(
    path: str,
    partitions: int,
    options: ChangeOptions,
) -> None:
    """Give the stopped query of the checkpoint at PATH another number of shuffle partitions.

    Spark keeps the number that a query was started with, whatever the session says. This spreads
    the state of all operators anew, by Spark's own hash of their keys, and changes the number in
    the offsets files and in the metadata of the operators. Every snapshot is first held
    against the deltas before it, as verify does, and every row is checked to be where
    that hash puts it, and the new state is read again before it takes the place of the old one.

    The former state, with all its versions, and the former offsets files are kept below
    PATH/holdfast-backup: there has to be room for the new state beside it. Batches before the
    newest committed one can then be read in the backup alone. If anything fails, the checkpoint is
    as it was; if the command itself is killed, no run of the query starts until holdfast repair
    --apply has undone or completed it.

    The state has to be in delta and snapshot files, those of Spark's default provider or of
    Holdfast; holdfast migrate turns the state of RocksDB into such files. How rows are placed,
    Spark tells in the checkpoint since 4.0: a query of Spark 3.5 has to run a batch on a newer one
    first.
    """
    from holdfast_spark.checkpoint.changes.repartition import repartition as repartition_checkpoint

    checkpoint = open_to_change(path, options.storage_options)
    with progress_bar("repartitioning") as on_store:
        done = repartition_checkpoint(
            checkpoint,
            partitions,
            apply=options.apply,
            stopped=options.stopped,
            settled=options.settled,
            on_store=on_store,
        )
    print_change(done, _text(done), options)


def _of_families(store: RepartitionedStore) -> str:
    counts = (f"{name} {rows:,}" for name, rows in store.column_families.items())
    return f" ({', '.join(counts)})" if store.column_families else ""


def _text(done: Repartition) -> str:
    before, after = (
        counted(number, "partition") for number in (done.from_partitions, done.to_partitions)
    )
    lines = [
        f"Operator {store.operator_id}, {both_names(store.operator_name)}, "
        f"store {store.store_name}: "
        f"{counted(store.rows, 'row')} over {counted(store.partitions, 'partition')}, at most "
        f"{store.largest_partition_rows:,} in one{_of_families(store)}."
        for store in done.stores
    ]
    if done.from_partitions == done.to_partitions:
        lines.append(f"The query has {after} already: nothing to do.")
    elif done.applied:
        lines.append(
            f"The query had {before} and now has {done.to_partitions:,}.\n"
            f"The former state is in {done.backup}."
        )
    else:
        lines.append(
            f"The query has {before}. With --apply it would have {done.to_partitions:,}.\n"
            "Nothing was changed."
        )
    return "\n".join(lines)
