"""Whether Spark has begun to repartition the query, which it then refuses to start."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS


def check_unfinished_repartition(subject: Subject) -> Iterator[Problem]:
    """Yield the plan of the batch that repartitions."""
    found = subject.unfinished_repartition
    if found is None:
        return
    file = subject.location / "offsets" / found.batch_id
    yield Problem(
        location=file,
        kind="log",
        error=f"{file} pins {found.after} for {SHUFFLE_PARTITIONS}: expected {found.before}, as "
        f"the newest committed batch {found.committed} has it. Spark has begun to repartition the "
        "query, or the number is damaged, and Spark refuses to start it. Finish that with the "
        f"Spark that has begun it; or, if the state of {counted(found.before, 'partition')} is "
        "still whole, move the file away, and the query goes on as before.",
        stops=True,
    )
