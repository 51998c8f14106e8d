"""Whether files of checkpoint format 2 lie among those of a provider that does not know it.

A run that goes on after its query was switched from format 2 to Spark's default provider may still
write a file, whose name has an id. That provider takes what stands before the dot for a number, and
fails whenever it lists the folder (`HDFSBackedStateStoreProvider.fetchFiles`, 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.logs import DEFAULT_PROVIDER
from holdfast_spark.checkpoint.files.state_files import StoreFiles


def check_files_with_ids(
    subject: Subject, checkpoint: Checkpoint, stores: Sequence[StoreFiles]
) -> Iterator[Problem]:
    """Yield the files with ids, where the newest commit and the provider have format 1."""
    newest = (
        subject.readable_commits.get(checkpoint.committed[-1]) if checkpoint.committed else None
    )
    knows_ids = checkpoint.settings.provider_class != DEFAULT_PROVIDER
    if newest is None or newest.has_state_ids or knows_ids:
        return
    for store in stores:
        for file in (*store.files, *store.others):
            if file.unique_id:
                yield Problem(
                    location=file.location,
                    kind="state file",
                    error=f"{file.location} has an id in its name, as in checkpoint format 2: "
                    "expected a file without, as the query has format 1, found one that a run "
                    "from before has left. Spark's default provider fails at it. Move it away, or "
                    "run holdfast repair --apply.",
                    stops=True,
                )
