"""The files of state stores: their names, sizes and times, and the versions they make.

`state/<operator>/<partition>/[<store>/]N.delta` and `N.snapshot`, the store's folder being left out
for the one named `default` (Spark's `HDFSBackedStateStoreProvider` and `StateStoreId`, 4.3). Files
of Spark's RocksDB provider, `N.zip` and `N.changelog`, and what its zips share below `SSTs` and
`logs` (`RocksDBFileManager`, 4.3), are listed too. In checkpoint format 2 an id
of the attempt stands behind the version, as in `N_<id>.delta`; `lineage` tells which of them count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal

from holdfast_spark.checkpoint.errors import MissingVersionError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.location import Location

DEFAULT_STORE = "default"

Kind = Literal["delta", "snapshot", "changelog", "zip"]
_KINDS: tuple[Kind, ...] = ("delta", "snapshot", "changelog", "zip")
_NAME = re.compile(
    rf"(?P<version>\d{{1,18}})(_(?P<unique_id>[\w-]+))?\.(?P<kind>{'|'.join(_KINDS)})", re.ASCII
)
_FOLDER = re.compile(
    r"(?P<operator>\d{1,18})/(?P<partition>\d{1,9})(/(?P<store>[^/_.][^/]*))?", re.ASCII
)
_CHECKSUMS = ".crc"
_SHARED_FOLDERS = frozenset(("SSTs", "logs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFile:
    """A file of a store.

    Attributes:
        location: where it is.
        kind: `delta` or `snapshot`; of the RocksDB provider `changelog` or `zip`.
        version: the version that it leads to.
        size_bytes: its size.
        modified: time of its last change in UTC; None where the file system does not tell.
        unique_id: id of the attempt that wrote it; None in checkpoint format 1.
        checksums: files with its checksums, which lie beside it.
    """

    location: Location
    kind: Kind
    version: int
    size_bytes: int
    modified: datetime | None
    unique_id: str | None = None
    checksums: tuple[Location, ...] = ()

    @property
    def without_checksums(self) -> StateFile:
        """The same, for who reads it whatever they say: they have a check of their own."""
        return replace(self, checksums=())


@dataclass(frozen=True, kw_only=True)
class StoreFiles:
    """The files of one state store; immutable.

    Attributes:
        operator_id: number of the stateful operator in the query.
        partition_id: number of the partition.
        name: name of the store in its operator, `default` for most.
        files: ordered by version, a version's delta before its snapshot.
        others: files of attempts at versions that the query has not committed, in checkpoint
            format 2; no version is put together from them.
        shared: files that the snapshots of RocksDB have in common.
    """

    operator_id: int
    partition_id: int
    name: str
    files: tuple[StateFile, ...]
    others: tuple[StateFile, ...] = ()
    shared: tuple[Entry, ...] = ()

    def __str__(self) -> str:
        named = "" if self.name == DEFAULT_STORE else f"/{self.name}"
        return f"{self.operator_id}/{self.partition_id}{named}"

    @cached_property
    def deltas(self) -> dict[int, StateFile]:
        """The delta files, or changelogs of RocksDB, by version."""
        return {file.version: file for file in self.files if file.kind in ("delta", "changelog")}

    @cached_property
    def snapshots(self) -> dict[int, StateFile]:
        """The snapshot files, or zips of RocksDB, by version."""
        return {file.version: file for file in self.files if file.kind in ("snapshot", "zip")}

    @cached_property
    def versions(self) -> tuple[int, ...]:
        """The versions that can be put together from the files, by their names; ascending.

        Version 0, which is empty and has no file, is left out.
        """
        return recoverable(self.snapshots, self.deltas)

    @property
    def has_unique_ids(self) -> bool:
        """Whether names carry ids of attempts, which they do in checkpoint format 2."""
        return any(file.unique_id for file in (*self.files, *self.others))

    @property
    def is_rocksdb(self) -> bool:
        """Whether these are files of Spark's RocksDB provider."""
        return bool(self.shared) or any(file.kind in ("changelog", "zip") for file in self.files)

    def chain(self, version: int) -> tuple[StateFile, ...]:
        """Return the files that make a version: a snapshot, if there is one, and deltas in order.

        Raises:
            MissingVersionError: a file is missing.
        """
        snapshot = max((v for v in self.snapshots if v <= version), default=0)
        needed = range(snapshot + 1, version + 1)
        missing = next((v for v in needed if v not in self.deltas), None)
        if missing is not None:
            kinds = ("changelog", "zip") if self.is_rocksdb else ("delta", "snapshot")
            raise MissingVersionError(
                store=str(self),
                version=version,
                missing=f"{missing}.{kinds[0]} is missing, and no {kinds[1]} follows it",
                readable=as_ranges(self.versions) or "none",
            )
        base = (self.snapshots[snapshot],) if snapshot else ()
        return (*base, *(self.deltas[v] for v in needed))


def recoverable(snapshots: Iterable[int], deltas: Iterable[int]) -> tuple[int, ...]:
    """Return the versions that snapshots and deltas of these versions lead to, ascending."""
    whole, reached = set(snapshots), {0}
    for version in sorted({*whole, *deltas}):
        if version in whole or version - 1 in reached:
            reached.add(version)
    return tuple(sorted(reached - {0}))


def as_ranges(versions: Iterable[int]) -> str:
    """Return ascending versions as a text such as `3-7, 9`."""
    ranges: list[list[int]] = []
    for version in versions:
        if ranges and ranges[-1][1] == version - 1:
            ranges[-1][1] = version
        else:
            ranges.append([version, version])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def group_by_store(state: Location, entries: Iterable[Entry]) -> list[StoreFiles]:
    """Return the stores whose files are among those below `state`, in order of their ids."""
    entries = tuple(entries)
    sums = {entry.path for entry in entries if entry.name.endswith(_CHECKSUMS)}
    stores: dict[tuple[int, int, str], list[StateFile]] = defaultdict(list)
    shared: dict[tuple[int, int, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        folder, _, name = state.below(entry.path).rpartition("/")
        parent, _, last = folder.rpartition("/")
        in_shared_folder = last in _SHARED_FOLDERS and not name.startswith(".")
        place = _FOLDER.fullmatch(parent if in_shared_folder else folder)
        if not place:
            continue
        store = int(place["operator"]), int(place["partition"]), place["store"] or DEFAULT_STORE
        if in_shared_folder:
            shared[store].append(entry)
        elif found := _NAME.fullmatch(name):
            stores[store].append(_state_file(state, entry, found, sums))
    return [
        StoreFiles(
            operator_id=store[0],
            partition_id=store[1],
            name=store[2],
            files=tuple(sorted(stores[store], key=lambda file: (file.version, file.kind))),
            shared=tuple(shared[store]),
        )
        for store in sorted({*stores, *shared})
    ]


def _state_file(
    state: Location, entry: Entry, found: re.Match[str], sums: Collection[str]
) -> StateFile:
    folder = entry.path.rpartition("/")[0]
    # Hadoop has its own of local files alone.
    beside = (f"{folder}/.{entry.name}{_CHECKSUMS}", f"{entry.path}{_CHECKSUMS}")
    kind = next(kind for kind in _KINDS if kind == found["kind"])
    return StateFile(
        location=state.at(entry.path),
        kind=kind,
        version=int(found["version"]),
        size_bytes=entry.size_bytes,
        modified=entry.modified,
        unique_id=found["unique_id"],
        checksums=tuple(state.at(path) for path in beside[not state.is_local :] if path in sums),
    )
