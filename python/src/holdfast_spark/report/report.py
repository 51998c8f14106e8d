"""Everything that a report tells about a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast_spark._arguments import FUNCTION, require_arguments
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.history import read_histories
from holdfast_spark.checkpoint.history_figures import StoreHistory
from holdfast_spark.checkpoint.inspection import Inspection, inspect_checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A checkpoint and how it came to be what it is.

    Attributes:
        inspection: what `holdfast inspect --json` prints.
        stores: the history of each store of each operator.
    """

    inspection: Inspection
    stores: tuple[StoreHistory, ...]


def make_report(
    checkpoint: Checkpoint, *, on_file: Callable[[int, int], None] = lambda _done, _all: None
) -> Report:
    """Read what a report tells; `read_histories` says what is read and how much memory it takes.

    Args:
        checkpoint: the checkpoint. Its query may run meanwhile.
        on_file: called after each version of each partition with the number done and of all.

    Raises:
        CheckpointError: a log or the metadata of an operator cannot be read.
    """
    Checkpoint.require(checkpoint, by="report.make_report")
    require_arguments("report.make_report", on_file=(on_file, FUNCTION))
    return Report(
        inspection=inspect_checkpoint(checkpoint),
        stores=read_histories(checkpoint, on_file=on_file),
    )
