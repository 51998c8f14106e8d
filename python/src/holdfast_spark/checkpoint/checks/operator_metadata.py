"""Whether the metadata of the operators can be read and fits the query.

Spark writes it with the first batch and reads it for its `statestore` source and to repartition; a
query goes on without (4.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.operators import UNKNOWN_OPERATOR, Operator, read_operator

_OPERATOR = re.compile(r"state/(\d+)/.*")


def check_operator_metadata(subject: Subject) -> Iterator[Problem]:
    """Yield metadata that cannot be read, or is gone where another operator has it."""
    found: dict[int, Operator] = {}
    numbers = {int(m[1]) for name in subject.entries if (m := _OPERATOR.fullmatch(name))}
    for number in sorted(numbers):
        folder = subject.location / "state" / number
        try:
            found[number] = read_operator(folder, batch_id=None)
        except CheckpointError as error:
            yield Problem(
                location=folder / "_metadata", kind="metadata", error=str(error), stops=False
            )
    has_metadata = {n for n, operator in found.items() if operator.name != UNKNOWN_OPERATOR}
    for number in found.keys() - has_metadata if has_metadata else ():
        folder = subject.location / "state" / number / "_metadata"
        yield Problem(
            location=folder,
            kind="metadata",
            error=f"{folder} has no metadata of the operator: expected it as the other operators "
            "have it. Restore the folder from a copy.",
            stops=False,
        )
