"""Whether the metadata of the operators can be read and fits the query.

Spark writes it with the first batch and reads it for its `statestore` source and to repartition; a
query goes on without, but not with operators of other names or numbers
(`STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA`, 4.3). That of operators with state
variables, which is of version 2, a query compares with its own when it starts, and does not start
without it (`STDS_FAILED_TO_READ_OPERATOR_METADATA`, 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast_spark._operator_names import PLAIN_NAMES
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.operators import (
    UNKNOWN_OPERATOR,
    Operator,
    newest_of_version_2,
)

# Those of Spark 4.3.
_NAMES = (
    *PLAIN_NAMES,
    *("transformWithStateInPandasExec", "transformWithStateInPySparkExec"),
    "StatefulStreamlineAggregate",
)
_FEW = 2
_REFUSED = "Spark refuses to start a query whose operators have other names or numbers"
_TAKEN_FOR_EACH_OTHER = "Spark's readers of state take one operator for the other"


def check_operator_metadata(subject: Subject) -> Iterator[Problem]:
    """Yield metadata that cannot be read, or is gone where another operator has it."""
    found: dict[int, Operator] = {}
    for number, operator in subject.operators.items():
        if isinstance(operator, Operator):
            found[number] = operator
        else:
            folder = _folder(subject, number)
            is_compared = newest_of_version_2(folder) is not None
            yield _problem(folder, str(operator), stops=is_compared)
    yield from (
        _misnamed(subject, number, operator.name, known)
        for number, operator in found.items()
        if (known := _meant(operator.name))
    )
    yield from _misnumbered(subject, found)
    for number in sorted(subject.without_their_metadata):
        folder = _folder(subject, number)
        yield _problem(
            folder,
            f"{folder} has no metadata of the operator: expected it, since the state of the "
            "operator is in column families, and Spark does not start such a query without. "
            "Restore the folder from a copy.",
            stops=True,
        )
    has_metadata = {n for n, operator in found.items() if operator.name != UNKNOWN_OPERATOR}
    others = found.keys() - has_metadata - subject.without_their_metadata
    for number in others if has_metadata else ():
        folder = _folder(subject, number)
        yield _problem(
            folder,
            f"{folder} has no metadata of the operator: expected it as the other operators have "
            "it. Restore the folder from a copy.",
            stops=False,
        )


def _meant(name: str) -> str | None:
    """Return the operator whose name one is but for a letter or two; None for any other name."""
    if name in _NAMES:
        return None
    alike = (known for known in _NAMES if len(known) == len(name))
    return next(
        (k for k in alike if sum(a != b for a, b in zip(k, name, strict=True)) <= _FEW), None
    )


def _misnamed(subject: Subject, number: int, name: str, known: str) -> Problem:
    folder = _folder(subject, number)
    return _problem(
        folder,
        f"{folder} is damaged: expected the operator {known}, found {name!r}. {_REFUSED}. Restore "
        "the folder from a copy.",
        stops=True,
    )


def _misnumbered(subject: Subject, found: Mapping[int, Operator]) -> Iterator[Problem]:
    """Yield metadata with another number than that of its folder, as when it is a copy."""
    written = {n: operator.written_id for n, operator in found.items()}
    # Spark does not ask where a number was found.
    all_there = set(written.values()) == written.keys()
    for number, other in written.items():
        if other not in (None, number):
            folder = _folder(subject, number)
            yield _problem(
                folder,
                f"{folder} is of another operator: expected the operatorId {number}, found "
                f"{other}. {_TAKEN_FOR_EACH_OTHER if all_there else _REFUSED}. Restore the folder "
                "from a copy.",
                stops=not all_there,
            )


def _folder(subject: Subject, number: int) -> Location:
    return subject.location / "state" / number / "_metadata"


def _problem(folder: Location, error: str, *, stops: bool) -> Problem:
    return Problem(location=folder, kind="metadata", error=error, stops=stops)
