"""Whether the snapshots that restarts begin with are what older files lead to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.contradictions import Contradiction, contradictions
from holdfast_spark.checkpoint.checks.family_versions import list_problems
from holdfast_spark.checkpoint.checks.needed import chain_of
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import (
    ContradictedStateError,
    DamagedRowError,
    DamagedStateFileError,
    UnreadablePathError,
)
from holdfast_spark.checkpoint.files.state_files import StoreFiles


def check_snapshot(
    subject: Subject, checkpoint: Checkpoint, store: StoreFiles
) -> Iterator[Problem]:
    """Yield the snapshot if it differs; nothing where there is nothing to hold it against.

    Where it does, the snapshots before it are held against the deltas as well.

    Args:
        subject: the checkpoint.
        checkpoint: what can be read of it.
        store: the store, with its sound files alone.
    """
    yield from _snapshot_problems(checkpoint, store, subject.next_batch)
    # Of the batch that runs again there may be one: it stays, and a later restart begins with it.
    again = subject.next_batch + 1
    if subject.reruns and again in store.snapshots and again in store.deltas:
        for problem in _snapshot_problems(checkpoint, store, again):
            if problem.location == store.snapshots[again].location:
                yield problem


def require_right(
    checkpoint: Checkpoint, store: StoreFiles, version: int, *, lists: bool = True
) -> None:
    """Check of a version that is to be made into new state what `verify` checks of the newest one.

    What cannot be read is no matter here: whoever reads the version finds that.

    Args:
        checkpoint: the checkpoint.
        store: the store.
        version: the version.
        lists: whether to look for lists that lack a part, too.

    Raises:
        ContradictedStateError: the files, each of them readable, are of other versions or stores.
    """
    while version in store.versions:
        chain = store.chain(version)
        read = {str(file.location) for file in chain}
        try:
            found = list(_snapshot_problems(checkpoint, store, version))
            if lists:
                found += list_problems(checkpoint, store, version)
        except DamagedStateFileError as error:
            left = tuple(file for file in store.files if str(file.location) != error.path)
        except UnreadablePathError:
            # A query that runs removes the oldest.
            left = tuple(file for file in store.files if file.location.exists())
        else:
            for problem in found:
                if str(problem.location) in read:
                    raise ContradictedStateError(path=str(checkpoint.location), why=problem.error)
            return
        if len(left) == len(store.files) or not {*chain} <= {*left}:
            return
        store = dataclasses.replace(store, files=left)


def _snapshot_problems(
    checkpoint: Checkpoint, store: StoreFiles, version: int
) -> Iterator[Problem]:
    base = chain_of(store, version)[:1]
    try:
        found = contradictions(checkpoint, store, version)
    except DamagedRowError as error:  # a list that files which are whole do not make whole
        yield Problem(location=base[0].location, kind="state", error=str(error), stops=True)
        return
    for each in found:
        yield Problem(
            location=each.file.location,
            kind="state file" if each.reason else "state",
            error=_sentences(each),
            stops=each.file in base,
        )


def _sentences(found: Contradiction) -> str:
    location = found.file.location
    differs = (
        f"{location} is not what the deltas before it lead to: expected {found.expected} rows, "
        f"found {found.found}, or other ones."
    )
    if found.reason:
        return (
            f"{differs} {found.reason}, so that it is this file that is wrong. Restore it from "
            "a copy, or let holdfast repair write it anew from the deltas."
        )
    return (
        f"{differs} It, or a delta up to {found.file.version}, is of another version or store. "
        "Restore them from a copy."
    )
