"""Snapshots and deltas, each of them whole, that do not lead to the same rows, and which is wrong.

Both may be: a delta that took the place of another one leads elsewhere, and a snapshot that did has
other rows. That it is the snapshot is known where it differs from its checksums, where it has the
rows of another version or the bytes of another file, or where the deltas lead on to a later
snapshot. Deltas with the checksums of others are not held against anything.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.needed import chain_of
from holdfast_spark.checkpoint.checks.state import in_families
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.checksums import READ_BYTES, has_checksums, pieces
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.replay import apply_records, replay
from holdfast_spark.checkpoint.rows.family_records import reading_families
from holdfast_spark.checkpoint.rows.fingerprint import Fingerprint
from holdfast_spark.checkpoint.rows.records import Records, read_records

# By the column family, where there are any.
_Rows = dict[str, Fingerprint]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A snapshot that has other rows than the deltas before it lead to.

    Attributes:
        file: the snapshot.
        expected: number of rows that the deltas lead to.
        found: number of rows that it has.
        reason: what shows that it is the snapshot that is wrong, as the beginning of a sentence;
            None where it may be a delta.
    """

    file: StateFile
    expected: int
    found: int
    reason: str | None


def contradictions(checkpoint: Checkpoint, store: StoreFiles, version: int) -> list[Contradiction]:
    """Hold the snapshot that a version begins with against the deltas before it.

    Where it differs, the snapshots before it are as well: it may be one of these that is wrong.

    Args:
        checkpoint: what can be read of the checkpoint.
        store: the store; with its sound files alone, or whatever is not sound is an error.
        version: the version.

    Returns:
        The snapshots that differ, oldest first; none where there is nothing to hold them against.

    Raises:
        DamagedRowError: a list lacks a part.
        DamagedStateFileError: a file is damaged.
    """
    chain = chain_of(store, version)
    if not chain or chain[0].kind != "snapshot":
        return []
    snapshot = chain[0]
    older = dataclasses.replace(
        store, files=tuple(file for file in store.files if file != snapshot)
    )
    if snapshot.version not in older.versions:
        return []
    examined = _Examined(checkpoint, store, snapshot)
    if examined.rows_of([snapshot]) == examined.rows_of(older.chain(snapshot.version)):
        return []
    return list(examined.contradicted())


class _Examined:
    """A store of which a snapshot differs from what leads to it."""

    def __init__(self, checkpoint: Checkpoint, store: StoreFiles, snapshot: StateFile) -> None:
        self._settings = checkpoint.settings
        self._in_families = in_families(checkpoint, store)
        self._store = store
        self._last = snapshot

    def contradicted(self) -> Iterator[Contradiction]:
        """Yield the snapshots that the deltas contradict, oldest first."""
        start = self._start()
        if start is None:
            return
        reach = range(start[0].version if start else 0, self._last.version + 1)
        held = [self._store.snapshots[v] for v in reach[1:] if v in self._store.snapshots]
        led = self._along(start, reach)
        found = {file: self.rows_of([file]) for file in held}
        agreeing = [file for file in held if found[file] == led[file.version]]
        for file in held:
            if file in agreeing:
                continue
            before = max(
                (f.version for f in agreeing if f.version < file.version), default=reach[0]
            )
            later = next((f for f in agreeing if f.version > file.version), None)
            deltas = [self._store.deltas[v] for v in range(before + 1, file.version + 1)]
            yield Contradiction(
                file=file,
                expected=_count(led[file.version]),
                found=_count(found[file]),
                reason=self._reason(file, found[file], led, later, deltas),
            )

    def _start(self) -> tuple[StateFile, ...] | None:
        """Return the oldest snapshot from which deltas alone lead on, and None without one.

        It is none at all where they lead on from the empty state.
        """
        deltas, snapshots = self._store.deltas, self._store.snapshots
        first = self._last.version
        while first in deltas and has_checksums(deltas[first]):
            first -= 1
        if not first:
            return ()
        return next(
            (
                (snapshots[version],)
                for version in range(first, self._last.version)
                if version in snapshots and has_checksums(snapshots[version])
            ),
            None,
        )

    def _reason(
        self,
        file: StateFile,
        rows: _Rows,
        led: dict[int, _Rows],
        later: StateFile | None,
        deltas: Sequence[StateFile],
    ) -> str | None:
        """Return what shows that a snapshot is wrong, and no delta."""
        if not has_checksums(file):
            return "It differs from its checksums"
        if later:
            return f"They lead on to {later.location}"
        if not _count(rows) or self._has_repeated(deltas):
            return None
        for version, there in led.items():
            if there == rows:
                return f"It has the rows of version {version}"
        others = (each for each in self._store.files if each != file)
        for each in _same_bytes(file, others):
            return f"It has the bytes of {each.location}"
        return None

    def _has_repeated(self, deltas: Sequence[StateFile]) -> bool:
        """Tell whether one of the deltas has the records of another one."""
        return any(
            other.kind == "delta" and self._has_records(delta)
            for delta in deltas
            for other in _same_bytes(delta, (f for f in self._store.files if f != delta))
        )

    def _has_records(self, file: StateFile) -> bool:
        file = file.without_checksums
        if self._in_families:
            with reading_families(file) as content:
                return any(len(records) for _, records in content.pieces)
        settings = self._settings
        read = read_records(file, codec=settings.codec, row_checksums=settings.row_checksums)
        return any(len(records) for records in read)

    def rows_of(self, chain: Iterable[StateFile]) -> _Rows:
        """Return what rows a version has."""
        settings = self._settings
        # The checksums beside them have a check of their own.
        chain = [file.without_checksums for file in chain]
        found: _Rows = {}
        if self._in_families:
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

    def _along(self, base: tuple[StateFile, ...], reach: range) -> dict[int, _Rows]:
        """Return what rows the versions have that deltas alone lead to.

        Of a store with column families, where each is put together anew, these are the versions
        with a snapshot, and those between the newest two.
        """
        if not self._in_families:
            return dict(self._step_by_step(base, reach))
        deltas, snapshots = self._store.deltas, self._store.snapshots
        between = max((v for v in snapshots if v < self._last.version), default=0)
        return {
            version: self.rows_of([*base, *(deltas[v] for v in reach[1:] if v <= version)])
            for version in reach
            if version in snapshots or between < version
        }

    def _step_by_step(
        self, base: Collection[StateFile], reach: range
    ) -> Iterator[tuple[int, _Rows]]:
        state: dict[bytes, bytes | None] = {}
        rows = Fingerprint()
        for version in reach:
            files = base if version == reach[0] else (self._store.deltas[version],)
            changed: dict[bytes, bytes | None] = {}
            settings = self._settings
            for file in files:
                for records in read_records(
                    file.without_checksums,
                    codec=settings.codec,
                    row_checksums=settings.row_checksums,
                ):
                    apply_records(records, changed)
            gone, come = Fingerprint(), rows
            gone.add(_present((key, state.get(key)) for key in changed))
            come.add(_present(changed.items()))
            rows = come.without(gone)
            state.update(changed)
            yield version, {DEFAULT_COLUMN_FAMILY: dataclasses.replace(rows)}


def _present(rows: Iterable[tuple[bytes, bytes | None]]) -> Records:
    return Records.of([(key, value) for key, value in rows if value is not None])


def _count(found: _Rows) -> int:
    return sum(rows.rows for rows in found.values())


def _same_bytes(file: StateFile, others: Iterable[StateFile]) -> Iterator[StateFile]:
    alike = [other for other in others if other.size_bytes == file.size_bytes]
    if alike:
        digest = _digest(file.location)
        yield from (other for other in alike if _digest(other.location) == digest)


def _digest(location: Location) -> bytes:
    found = hashlib.blake2b()
    for piece in pieces(location, READ_BYTES):
        found.update(piece)
    return found.digest()
