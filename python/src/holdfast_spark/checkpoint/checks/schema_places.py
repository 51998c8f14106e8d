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
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.operators import SCHEMA_FILE, Operator

_LOCAL = "file:"
_ACCOUNT = re.compile(r"(?<=[^/])@[^/]*")


def check_schema_places(subject: Subject) -> Iterator[Problem]:
    """Yield the schemas that are gone, here or in the place that the metadata names."""
    for folder, root, name in _named(subject):
        here = subject.location / name
        if not _is_place_of(root, subject.location):
            if _is_gone(root, name):
                yield Problem(
                    location=folder,
                    kind="metadata",
                    error=f"{folder} names the schema {root}/{name}, which is not there: expected "
                    f"{here}. Spark does not start the query without it. Make a savepoint of this "
                    "checkpoint, which names its own, and go on from that.",
                    stops=True,
                )
        elif name not in subject.entries:
            yield Problem(
                location=here,
                kind="metadata",
                error=f"{here} is gone: expected a schema that {folder} names. Spark does not "
                "start the query without it. Restore the file from a copy.",
                stops=True,
            )


def schemas_elsewhere(subject: Subject) -> Iterator[str]:
    """Yield a sentence for each schema that Spark reads in another place."""
    for folder, root, name in _named(subject):
        if not _is_place_of(root, subject.location) and not _is_gone(root, name):
            yield (
                f"{folder} names the schema {root}/{name}, which is of another place: the query "
                f"needs it there, and not {subject.location / name}. A savepoint of this "
                "checkpoint names its own."
            )


def _named(subject: Subject) -> Iterator[tuple[Location, str, str]]:
    """Yield the metadata, and each schema that it names: the checkpoint, and the path below it.

    What is no such path its readers refuse.
    """
    for number, operator in subject.operators.items():
        stores = operator.stores if isinstance(operator, Operator) else ()
        folder = subject.location / "state" / number / "_metadata"
        for file in dict.fromkeys(file for store in stores for file in store.schema_files):
            if found := SCHEMA_FILE.fullmatch(file):
                yield folder, found["root"], found["name"]


def _is_place_of(root: str, location: Location) -> bool:
    path = root.removeprefix(_LOCAL).strip("/")
    if not location.is_local:
        # Spark may know the same file system by another scheme, such as s3a; and Azure's has the
        # account behind the container.
        return _ACCOUNT.sub("", path).endswith(location.path.strip("/"))
    return os.path.realpath(f"/{path}") == os.path.realpath(location.path)


def _is_gone(root: str, name: str) -> bool:
    """Tell whether a schema is not there; of one that is not local nothing is known."""
    is_local = root.startswith((_LOCAL, "/"))
    return is_local and not Path(f"/{root.removeprefix(_LOCAL).lstrip('/')}", name).exists()
