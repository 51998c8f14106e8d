"""The state of a query in the files of another provider, as part of a change."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast_spark.checkpoint.changes.change import Change
from holdfast_spark.checkpoint.changes.conversion import Converter, ToFormat1
from holdfast_spark.checkpoint.changes.rocksdb_conversion import RocksDBConverter
from holdfast_spark.checkpoint.changes.spark_state import spark_state
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.operators import DESCRIPTIONS
from holdfast_spark.checkpoint.files.providers import ROCKSDB
from holdfast_spark.checkpoint.files.refusals import reported


def carry_state(
    checkpoint: Checkpoint,
    target: str,
    change: Change,
    *,
    apply: bool,
    on_store: Callable[[int, int], None],
) -> tuple[int, int]:
    """Convert the state, and write it for the change; return the numbers of stores and rows.

    Args:
        checkpoint: the checkpoint, which is only read.
        target: the class of the provider whose files the state is to be in.
        change: gets the new files, and the names of those that go.
        apply: whether the change is made; without, it gets the names alone.
        on_store: called after each store with their number and that of all.

    Raises:
        ConversionError: the rows that came out are not those that went in, or the installed pyspark
            cannot write them.
        SparkStateError: Spark cannot read or write a store.
        CheckpointError: the checkpoint cannot be read or written.
    """
    stores = rows = 0
    with (
        reported(tempfile.gettempdir(), "write"),
        tempfile.TemporaryDirectory(prefix="holdfast-") as folder,
    ):
        work = Path(folder)
        with _converter(checkpoint, target, work) as converter:
            for made in converter.run():
                stores += 1
                rows += made.rows
                if apply:
                    _gather(made.folder, change)
                on_store(stores, len(checkpoint.live_stores))
    for entry in checkpoint.state_entries:
        name = checkpoint.location.below(entry.path)
        if DESCRIPTIONS.isdisjoint(name.split("/")):
            change.leaves.append(name)
    return stores, rows


@contextlib.contextmanager
def _converter(checkpoint: Checkpoint, target: str, work: Path) -> Iterator[Converter]:
    if ROCKSDB not in (checkpoint.settings.provider_class, target):
        yield ToFormat1(checkpoint, work)
        return
    families = any(
        checkpoint.in_families(operator_id, store_name=name)
        for operator_id, name in checkpoint.live_names
    )
    with spark_state(work, writes=target == ROCKSDB, families=families) as spark:
        yield RocksDBConverter(checkpoint, spark, work)


def _gather(state: Path, change: Change) -> None:
    """Copy new state files from a local folder to where the change takes them from."""
    for file in sorted(state.rglob("[!.]*")):
        if file.is_file():
            name = f"state/{file.relative_to(state).as_posix()}"
            change.new(name).upload(file)
            change.comes.append(name)
