"""Whether folders of the checkpoint are links out of it, which nobody follows."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Kind, Problem
from holdfast_spark.checkpoint.checks.subject import Subject


def check_linked_folders(subject: Subject) -> Iterator[Problem]:
    """Yield the links; Spark may follow them, but nothing can be said of what lies there."""
    for name, error in subject.linked_folders.items():
        part = name.partition("/")[0]
        kind: Kind = "state" if part == "state" else "source" if part == "sources" else "log"
        yield Problem(location=subject.location / name, kind=kind, error=str(error), stops=True)


def is_linked(subject: Subject, part: str) -> bool:
    """Tell whether a part of the checkpoint, such as `state`, or a folder in it is such a link."""
    return any(name.partition("/")[0] == part for name in subject.linked_folders)
