"""Whether the file `metadata` has the id of the query (Spark's `StreamMetadata`, 4.3).

Without it Spark 4.1 and later refuse to start, and earlier ones take another id, by which sinks
such as Delta's no longer know what they have written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location

# Java's `UUID.randomUUID`, which is what Spark takes.
_RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def check_query_metadata(subject: Subject) -> Iterator[Problem]:
    """Yield what is wrong with the file."""
    file = subject.location / "metadata"
    if "metadata" not in subject.entries:
        error = (
            f"{file} is gone: expected the id of the query. Spark 4.1 and later refuse to start, "
            "earlier ones take a new id, by which sinks do not know what they have written. "
            "Restore the file from a copy."
        )
        yield Problem(location=file, kind="metadata", error=error, stops=True)
        return
    try:
        _check_id(file)
    except CheckpointError as error:
        yield Problem(location=file, kind="metadata", error=str(error), stops=True)


def _check_id(file: Location) -> None:
    found = parse_json_object(file.read_text(), path=str(file)).get("id")
    if not isinstance(found, str) or not _RANDOM_ID.fullmatch(found.lower()):
        raise MalformedFileError(
            path=str(file), expected="a random UUID as the id of the query", found=short(found)
        )
