"""Whether the schemas that the metadata of operators name lie in this checkpoint.

Spark reads the schemas of `transformWithState` where the metadata says, whatever the checkpoint
location is (`StateSchemaCompatibilityChecker`, 4.0 to 4.3). A checkpoint that was moved, or copied
by hand, names those of its former place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.operators import read_operator
from holdfast_spark.checkpoint.files.schema_names import schema_name

_LOCAL = "file:"
_OPERATOR = re.compile(r"state/(\d+)/_metadata/v2/.*")


def check_schema_places(subject: Subject) -> Iterator[Problem]:
    """Yield the schemas that are gone, here or in the place that the metadata names."""
    for folder, file, here in _named(subject):
        if here is None:
            continue
        if not _is_below(file, subject.location):
            if _is_gone(file):
                yield Problem(
                    location=folder,
                    kind="metadata",
                    error=f"{folder} names the schema {file}, which is not there: expected {here}. "
                    "Spark does not start the query without it. Make a savepoint of this "
                    "checkpoint, which names its own, and go on from that.",
                    stops=True,
                )
        elif _below(subject, here) not in subject.entries:
            yield Problem(
                location=here,
                kind="metadata",
                error=f"{here} is gone: expected a schema that {folder} names. Spark does not "
                "start the query without it. Restore the file from a copy.",
                stops=True,
            )


def schemas_elsewhere(subject: Subject) -> Iterator[str]:
    """Yield a sentence for each schema that Spark reads in another place."""
    for folder, file, here in _named(subject):
        if here and not _is_below(file, subject.location) and not _is_gone(file):
            yield (
                f"{folder} names the schema {file}, which is of another place: the query needs it "
                f"there, and not {here}. A savepoint of this checkpoint names its own."
            )


def _named(subject: Subject) -> Iterator[tuple[Location, str, Location | None]]:
    """Yield the metadata, each schema that it names, and where that is in this checkpoint."""
    numbers = {int(m[1]) for name in subject.entries if (m := _OPERATOR.fullmatch(name))}
    for number in sorted(numbers):
        try:
            operator = read_operator(subject.location / "state" / number, batch_id=None)
        except CheckpointError:
            continue  # which has its own check
        folder = subject.location / "state" / number / "_metadata"
        for file in dict.fromkeys(f for store in operator.stores for f in store.schema_files):
            name = schema_name(file)
            yield folder, file, subject.location / name if name else None


def _below(subject: Subject, file: Location) -> str:
    return file.path.removeprefix(f"{subject.location.path.rstrip('/')}/")


def _is_below(file: str, location: Location) -> bool:
    path = file.removesuffix(schema_name(file) or "").removeprefix(_LOCAL).strip("/")
    if not location.is_local:
        # Spark may know the same file system by another scheme, such as s3a.
        return path.endswith(location.path.strip("/"))
    return os.path.realpath(f"/{path}") == os.path.realpath(location.path)


def _is_gone(file: str) -> bool:
    """Tell whether a file is not there; of one that is not local nothing is known."""
    is_local = file.startswith((_LOCAL, "/"))
    return is_local and not Path(f"/{file.removeprefix(_LOCAL).lstrip('/')}").exists()
