"""Whether there is something left of every stateful operator."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.expected_stores import (
    needs_state,
    operators_without_files,
    why_empty,
)
from holdfast_spark.checkpoint.files.journals import BACKUPS

_STATE_FILE = re.compile(r".*/state/\d+/\d+/.*\.(delta|snapshot|zip|changelog)")


def check_lost_operators(subject: Subject, checkpoint: Checkpoint) -> Iterator[Problem]:
    """Yield the folders of operators that are gone."""
    if not needs_state(subject.named):
        return
    try:
        lost = operators_without_files(checkpoint)
    except CheckpointError:
        return  # a commit or metadata that cannot be read, which have their own checks
    for operator_id in lost:
        folder = subject.location / "state" / operator_id
        yield Problem(
            location=folder,
            kind="state",
            error=f"{folder} is gone: expected the state of operator {operator_id}, of which the "
            "newest commit or the number of another operator tells. Restore the folder from a "
            "copy.",
            stops=True,
        )
    for operator_id in sorted({*checkpoint.empty_operators} - {*lost}):
        yield Problem(
            location=subject.location / "state" / operator_id,
            kind="state",
            error=why_empty(checkpoint, operator_id),
            stops=True,
        )
    if not lost and not checkpoint.operators and (reason := _why_stateful(subject)):
        folder = subject.location / "state"
        yield Problem(
            location=folder,
            kind="state",
            error=f"{folder} holds no state: expected that of stateful operators, as {reason}. "
            "Spark refuses to start. Restore the folder from a copy.",
            stops=True,
        )


def _why_stateful(subject: Subject) -> str | None:
    """Return what tells that the query has stateful operators; None where nothing does.

    Spark plans a batch without new data for these alone, as when the watermark has moved on
    (`IncrementalExecution.shouldRunAnotherBatch`, 4.3). A change by Holdfast plans batches of its
    own, and keeps former state files. Ids of state files stand in the commits of such queries alone
    (checkpoint format 2), and the folder `state` lies in their checkpoints alone.
    """
    for batch, commit in reversed([*subject.readable_commits.items()]):
        if commit.has_state_ids:
            return f"the commit of batch {batch} names state files"
    if "state" in subject.location.names():
        return f"{subject.location / 'state'} is there, which Spark makes for these alone"
    kept = subject.location / BACKUPS
    backups = [entry.path for entry in kept.files()]
    for path in backups:
        if _STATE_FILE.fullmatch(kept.below(path)):
            return f"{path} is a former state file"
    entries = subject.readable_offsets
    for before, after in () if backups else subject.neighbours:
        if (
            after in subject.named.committed
            and entries[before].sources == entries[after].sources
            and entries[before].watermark_ms < entries[after].watermark_ms
        ):
            return f"batch {after} was without new data, which Spark plans for these alone"
    return None
