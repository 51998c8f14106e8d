"""Whether the files of a store with column families, each of them whole, make whole lists."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.state import in_families
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import DamagedRowError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.state_files import StoreFiles


def check_lists(subject: Subject, checkpoint: Checkpoint, store: StoreFiles) -> Iterator[Problem]:
    """Yield the newest file that a query goes on from, if a list lacks a part then.

    Args:
        subject: the checkpoint.
        checkpoint: what can be read of it.
        store: the store, with its sound files alone.
    """
    yield from list_problems(checkpoint, store, subject.next_batch)


def list_problems(checkpoint: Checkpoint, store: StoreFiles, needed: int) -> Iterator[Problem]:
    """Yield the newest file of a version, if a list lacks a part then.

    Args:
        checkpoint: what can be read of the checkpoint.
        store: the store, with its sound files alone.
        needed: the version.

    Raises:
        DamagedStateFileError: a file is not sound.
    """
    if needed not in store.versions or not in_families(checkpoint, store):
        return
    # The checksums beside them have a check of their own.
    chain = [file.without_checksums for file in store.chain(needed)]
    version = FamilyVersion(chain)
    try:
        for family in version.families.values():
            if family.has_many_values:
                for _ in version.lists(family):
                    pass
    except DamagedRowError as error:
        yield Problem(
            location=chain[-1].location,
            kind="state",
            error=f"{chain[-1].location} does not lead to whole lists. {error}",
            stops=True,
        )
