"""Whether the snapshot that a restart begins with is what older files lead to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.needed import chain_of
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.fingerprint import Fingerprint


def check_snapshot(
    subject: Subject, checkpoint: Checkpoint, store: StoreFiles
) -> Iterator[Problem]:
    """Yield the snapshot if it differs; nothing where there is nothing to hold it against.

    Args:
        subject: the checkpoint.
        checkpoint: what can be read of it.
        store: the store, with its sound files alone.
    """
    chain = chain_of(store, subject.next_batch)
    if not chain or chain[0].kind != "snapshot":
        return
    snapshot = chain[0]
    older = dataclasses.replace(
        store, files=tuple(file for file in store.files if file != snapshot)
    )
    if snapshot.version not in older.versions:
        return
    rows, expected = (_fingerprint(checkpoint, each, snapshot.version) for each in (store, older))
    if rows != expected:
        yield Problem(
            location=snapshot.location,
            kind="state",
            error=f"{snapshot.location} is not what the deltas before it lead to: expected "
            f"{expected.rows} rows, found {rows.rows}, or other ones. It, or a delta up to "
            f"{snapshot.version}, is of another version or store. Restore them from a copy.",
            stops=True,
        )


def _fingerprint(checkpoint: Checkpoint, store: StoreFiles, version: int) -> Fingerprint:
    settings = checkpoint.settings
    found = Fingerprint()
    # The checksums beside them have a check of their own.
    chain = [dataclasses.replace(file, checksums=()) for file in store.chain(version)]
    for _, records in replay(chain, codec=settings.codec, row_checksums=settings.row_checksums):
        found.add(records)
    return found
