"""Whether there is something left of every stateful operator."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.expected_stores import operators_without_files


def check_lost_operators(subject: Subject, checkpoint: Checkpoint) -> Iterator[Problem]:
    """Yield the folders of operators that are gone."""
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
