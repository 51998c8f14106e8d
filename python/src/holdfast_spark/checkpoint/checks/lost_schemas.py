"""Whether the schema of each store lies where Spark writes it, in the folder of partition 0.

Spark goes on without a schema, and writes it anew (`StateSchemaCompatibilityChecker`, 4.3). But
nothing else tells the columns of a key, whose hash tells the partition of a row; and one that lies
with another partition tells that folders have been exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS
from holdfast_spark.checkpoint.files.numbers import whole_number
from holdfast_spark.checkpoint.files.operators import read_operator
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE
from holdfast_spark.checkpoint.rows.supposed_placement import STRICT_DISTRIBUTION

_SCHEMA = re.compile(r"state/(\d+)/(\d+)(?:/([^/]+))?/_metadata/schema")
_METADATA = re.compile(r"state/(\d+)/_metadata/(?:metadata|v2/\d+)")
_STATE_FILE = re.compile(r"state/(\d+)/0*[1-9]\d*/(?:([^/]+)/)?[^/]+\.(?:delta|snapshot)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRows:
    """What is known of where the rows of an operator's stores of one name lie.

    Attributes:
        are_right: whether each was found to be in the partition that it belongs in.
        may_be_wrong: whether that was not found, and there are rows in one of several partitions.
    """

    are_right: bool
    may_be_wrong: bool


# Where no row was read, as of state that only its own provider reads, nothing is said of them.
NOT_READ = PlacedRows(are_right=False, may_be_wrong=False)


def check_lost_schemas(
    subject: Subject, placed: Callable[[int, str], PlacedRows] = lambda _operator, _name: NOT_READ
) -> Iterator[Problem]:
    """Yield the schemas that are gone, and where they lie instead.

    Args:
        subject: the checkpoint.
        placed: returns what is known of the rows of an operator's stores of a name.
    """
    elsewhere = _elsewhere(subject)
    for operator_id, name in sorted({*_expected(subject), *elsewhere}):
        file = schema_of(subject, operator_id, 0, name)
        if _is_there(subject, file):
            continue
        rows = placed(operator_id, name)
        if partitions := elsewhere.get((operator_id, name)):
            yield _in_wrong_folder(subject, operator_id, name, partitions[0], rows)
        elif not (subject.location.is_local and _is_there(subject, _checksums(file))):
            yield _gone(file, rows)


def misplaced_schema(subject: Subject, operator_id: int, name: str) -> Location | None:
    """Return the schema of stores that lies with another partition than 0; None without one."""
    found = _elsewhere(subject).get((operator_id, name))
    return schema_of(subject, operator_id, found[0], name) if found else None


def schema_of(subject: Subject, operator_id: int, partition_id: int, name: str) -> Location:
    """Return where the schema of a partition would lie; Spark writes that of partition 0 alone."""
    folder = subject.location / "state" / operator_id / partition_id
    return (folder if name == DEFAULT_STORE else folder / name) / "_metadata" / "schema"


def _elsewhere(subject: Subject) -> dict[tuple[int, str], list[int]]:
    """Return the partitions other than 0 that a schema lies with, ascending."""
    found: dict[tuple[int, str], list[int]] = {}
    for entry in subject.entries:
        match = _SCHEMA.fullmatch(entry)
        numbers = [whole_number(text) for text in match.groups()[:2]] if match else []
        if match and None not in numbers and numbers[1]:
            store = int(match[1]), match[3] or DEFAULT_STORE
            found[store] = sorted([*found.get(store, []), int(match[2])])
    return found


def _expected(subject: Subject) -> Iterator[tuple[int, str]]:
    """Yield the operators and stores that Spark has written a schema of.

    The metadata of the operator tells, as since Spark 4.0; without any, state files of further
    partitions do in a query that began with Spark 3.3 or later, which pins a setting.
    """
    # Those of column families lie beside the partitions.
    told = set(subject.without_their_metadata)
    for entry in subject.entries:
        if found := _METADATA.fullmatch(entry):
            told.add(int(found[1]))
            try:
                operator = read_operator(subject.location / "state" / found[1], batch_id=None)
            except CheckpointError:
                continue  # which has its own check
            for store in operator.stores:
                if not store.schema_files:
                    yield int(found[1]), store.name
    newest = next(reversed(list(subject.readable_offsets.values())), None)
    conf = (newest.conf if newest else None) or {}
    if conf.get(STRICT_DISTRIBUTION) != "true" or SHUFFLE_PARTITIONS not in conf:
        return
    for entry in subject.entries:
        found = _STATE_FILE.fullmatch(entry)
        if found and int(found[1]) not in told and found[2] != "_metadata":
            yield int(found[1]), found[2] or DEFAULT_STORE


def _is_there(subject: Subject, file: Location) -> bool:
    return subject.location.below(file.path) in subject.entries


def _checksums(schema: Location) -> Location:
    return schema.folder / ".schema.crc"


def _gone(file: Location, rows: PlacedRows) -> Problem:
    doubt = (
        " Nothing else tells how its rows are placed, so that they may lie in the wrong partitions."
        if rows.may_be_wrong
        else ""
    )
    return Problem(
        location=file,
        kind="metadata",
        error=f"{file} is gone: expected the schema of the store, found no file. Spark "
        f"goes on without it, and does not notice then if the query has changed.{doubt} "
        "Restore the file from a copy.",
        stops=rows.may_be_wrong,
    )


def _in_wrong_folder(
    subject: Subject, operator_id: int, name: str, partition_id: int, rows: PlacedRows
) -> Problem:
    file = schema_of(subject, operator_id, 0, name)
    found = schema_of(subject, operator_id, partition_id, name)
    what = (
        "the rows of all partitions are where they belong, so that the schema alone was moved. "
        "Move it back"
        if rows.are_right
        else f"the folders of partition 0 and {partition_id} look exchanged, and the query would "
        "look for the rows of each in the other. Give each folder its name again"
    )
    return Problem(
        location=file,
        kind="metadata",
        error=f"{file} is gone: expected the schema of the store, found it in {found}: {what}, or "
        "restore the checkpoint from a copy.",
        stops=not rows.are_right,
    )
