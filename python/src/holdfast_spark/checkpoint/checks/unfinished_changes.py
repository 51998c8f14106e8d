"""Whether a change by Holdfast was cut off, which keeps the query from starting.

Of one that another command is making nothing is judged (`others`).
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.journals import standing_fences, unfinished


def check_unfinished_changes(subject: Subject) -> Iterator[Problem]:
    """Yield the journals of changes that are neither done nor undone."""
    fences = ", ".join(str(subject.location / name) for name in standing_fences(subject.location))
    for journal in unfinished(subject.location):
        what = f"Spark refuses to start at {fences}" if fences else "some of its files may be new"
        yield Problem(
            location=journal,
            kind="log",
            error=f"A change by Holdfast was cut off, says {journal}: expected it done or undone; "
            f"{what}. Run holdfast repair --apply, which undoes or completes it, before you start "
            "the query.",
            stops=True,
        )
