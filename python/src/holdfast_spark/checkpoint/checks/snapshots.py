"""Whether the snapshot that a restart begins with is what older files lead to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.needed import chain_of
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.state import in_families
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import DamagedRowError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY
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
    try:
        rows, expected = (
            _fingerprints(checkpoint, each, snapshot.version) for each in (store, older)
        )
    except DamagedRowError as error:  # a list that files which are whole do not make whole
        yield Problem(location=snapshot.location, kind="state", error=str(error), stops=True)
        return
    if rows != expected:
        yield Problem(
            location=snapshot.location,
            kind="state",
            error=f"{snapshot.location} is not what the deltas before it lead to: expected "
            f"{_count(expected)} rows, found {_count(rows)}, or other ones. It, or a delta up to "
            f"{snapshot.version}, is of another version or store. Restore them from a copy.",
            stops=True,
        )


def _fingerprints(
    checkpoint: Checkpoint, store: StoreFiles, version: int
) -> dict[str, Fingerprint]:
    """Return what rows a version has, by their column family where there are any."""
    settings = checkpoint.settings
    # The checksums beside them have a check of their own.
    chain = [dataclasses.replace(file, checksums=()) for file in store.chain(version)]
    found: dict[str, Fingerprint] = {}
    if in_families(checkpoint, store):
        replayed = FamilyVersion(chain)
        for family in replayed.families.values():
            rows = found.setdefault(family.name, Fingerprint())
            for _, records in replayed.rows(family):
                rows.add(records)
        return found
    rows = found.setdefault(DEFAULT_COLUMN_FAMILY, Fingerprint())
    for _, records in replay(chain, codec=settings.codec, row_checksums=settings.row_checksums):
        rows.add(records)
    return found


def _count(found: dict[str, Fingerprint]) -> int:
    return sum(rows.rows for rows in found.values())
