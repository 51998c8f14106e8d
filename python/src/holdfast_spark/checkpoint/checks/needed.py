"""Which files Spark reads when the query starts again.

They are the newest logs (`checks.logs`), `metadata`, the newest metadata of operators with state
variables (`checks.operator_metadata`), and of each store the newest snapshot not
after the version that the next batch starts from, with the deltas behind it
(`HDFSBackedStateStoreProvider.loadMap`, 4.3). A snapshot that cannot be read is superfluous where
older files lead to the same version, to Spark 4.2 and later (`AutoSnapshotLoader`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import MissingVersionError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.operators import newest_of_version_2
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles


def needed_paths(
    subject: Subject, stores: Iterable[StoreFiles], superfluous: Collection[Location]
) -> frozenset[str]:
    """Return the paths of the files, without those of snapshots that are superfluous.

    The checksums that Spark keeps of a file are read with it.
    """
    needed = {
        *_logs(subject),
        *_operators(subject),
        *_schemas(subject),
        *_state(subject, stores),
    }
    needed -= {str(location) for location in superfluous}
    return frozenset((*needed, *(f"{path}.crc" for path in needed)))


def chain_of(store: StoreFiles, version: int) -> tuple[StateFile, ...]:
    """Return the files that lead to a version, as far as they are there."""
    try:
        return store.chain(version) if version else ()
    except MissingVersionError:
        base = max((v for v in store.snapshots if v <= version), default=0)
        deltas = tuple(file for v, file in store.deltas.items() if base < v <= version)
        return (*((store.snapshots[base],) if base else ()), *deltas)


def _logs(subject: Subject) -> Iterator[str]:
    root = subject.location
    yield str(root / "metadata")
    for batch in subject.named.planned[-2:]:
        yield str(root / "offsets" / batch)
    for batch in subject.named.committed[-1:]:
        yield str(root / "commits" / batch)
    for name in subject.entries:
        if name.startswith("sources/"):
            yield str(root / name)


def _operators(subject: Subject) -> Iterator[str]:
    for number in subject.operators:
        if file := newest_of_version_2(subject.location / "state" / number / "_metadata"):
            yield str(file)


def _schemas(subject: Subject) -> Iterator[str]:
    for name in subject.entries:
        if name.endswith("/_metadata/schema") or "/_stateSchema/" in name:
            yield str(subject.location / name)


def _state(subject: Subject, stores: Iterable[StoreFiles]) -> Iterator[str]:
    for store in stores:
        for file in chain_of(store, subject.next_batch):
            yield str(file.location)
