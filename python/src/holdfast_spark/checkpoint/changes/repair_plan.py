"""What a repair does about each damaged file, and which files it trusts."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verified import Verification
from holdfast_spark.checkpoint.expected_stores import live_stores
from holdfast_spark.checkpoint.files.checksums import has_checksums
from holdfast_spark.checkpoint.files.logs import DEFAULT_PROVIDER
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles

Action = Literal["rebuild", "set aside", "leave", "drop", "undo", "complete", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairStep:
    """What is done about a damaged file.

    Attributes:
        path: the file.
        action: `rebuild`, from an older snapshot and deltas; `set aside`, where a newer snapshot
            makes the snapshot superfluous, its batch is not committed, or not planned any more, or
            the provider fails at its name; `leave`, where a newer snapshot makes the delta
            superfluous, its batch will write it again, or the query has gone on since a repair was
            cut off; `drop`, with all former state files, where batches are given up; `undo` or
            `complete`, for a change by Holdfast that was cut off, also before it began; or `none`,
            where nothing is sound enough, as where a source has lost its log.
        error: what is wrong with it, in a sentence.
    """

    path: str
    action: Action
    error: str


def contested_files(checkpoint: Checkpoint, found: Verification) -> dict[str, str]:
    """Return what is wrong with files that contradict others, all of which can be read."""
    newest = _version_after(checkpoint.committed)
    files = (file for store in checkpoint.stores for file in store.files)
    return _state_errors(found, (file for file in files if file.version <= newest))


def unplanned_files(checkpoint: Checkpoint, found: Verification) -> dict[str, str]:
    """Return what is wrong with files of versions that no batch has planned."""
    planned = _version_after(checkpoint.planned)
    files = (file for store in checkpoint.stores for file in (*store.files, *store.others))
    return _state_errors(found, (file for file in files if file.version > planned))


def _state_errors(found: Verification, files: Iterable[StateFile]) -> dict[str, str]:
    """Return what is wrong with some files beside what is damaged in them."""
    there = {str(file.location) for file in files}
    return {
        file.path: file.error
        for file in reversed(found.broken)
        if file.kind == "state" and file.path in there
    }


def differing_files(checkpoint: Checkpoint, found: Verification) -> dict[str, str]:
    """Return what is wrong with files that differ from their checksums and are not needed now."""
    differing = {
        file.path: file.error
        for file in reversed(found.told)
        if file.kind == "checksum" and not file.stops
    }
    return {
        path: differing[path]
        for store in checkpoint.stores
        for file in store.files
        if (path := str(file.location)) in differing and not has_checksums(file)
    }


def only_sound(
    store: StoreFiles, broken: Collection[str], contested: Collection[str]
) -> StoreFiles:
    """Return a store without what is broken, or may be.

    Where a snapshot and the deltas before it contradict each other, neither is known to be right.
    """
    files = [file for file in store.files if str(file.location) not in broken]
    whole = {file.version for file in files if file.kind == "snapshot"}
    unsure = {
        version
        for file in store.files
        if str(file.location) in contested and file.kind == "snapshot"
        for version in range(
            max((v for v in whole if v < file.version), default=0) + 1, file.version + 1
        )
    }
    return dataclasses.replace(
        store,
        files=tuple(f for f in files if f.kind == "snapshot" or f.version not in unsure),
    )


class RepairPlan:
    """What is done about each damaged file."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        sound: Sequence[StoreFiles],
        broken: dict[str, str],
        *,
        drops: bool,
        left_checksums: Sequence[str],
    ) -> None:
        self.checkpoint = checkpoint
        self.drops = drops
        self.left_checksums = left_checksums
        self._sound = sound
        self._broken = broken
        self._newest = _version_after(checkpoint.committed)
        self._planned = _version_after(checkpoint.planned)

    def steps(self) -> Iterator[RepairStep]:
        """Yield what is done about each damaged file."""
        named = set()
        for file, action, _ in self.changes():
            path = str(file.location)
            named.add(path)
            yield RepairStep(path=path, action=action, error=self._broken[path])
        for path in self.left_checksums:
            named.add(path)
            yield RepairStep(path=path, action="set aside", error=self._broken[path])
        # Of other files, such as schemas, there is nothing to make them of.
        for path in self._broken.keys() - named:
            yield RepairStep(path=path, action="none", error=self._broken[path])

    def changes(self) -> Iterator[tuple[StateFile, Action, StoreFiles]]:
        """Yield the damaged files, what is done about each, and what is sound of its store."""
        for store, sound in zip(live_stores(self.checkpoint), self._sound, strict=True):
            for file in (*store.files, *store.others):
                if str(file.location) in self._broken:
                    yield file, self._action(file, store, sound), sound

    def _action(self, file: StateFile, store: StoreFiles, sound: StoreFiles) -> Action:
        if self.drops:
            return "drop"
        if file in store.others and file.version <= self._planned:
            is_in_the_way = self.checkpoint.settings.provider_class == DEFAULT_PROVIDER
            return "set aside" if file.unique_id and is_in_the_way else "leave"
        if file.version > self._newest:
            again = file.kind == "delta" and file.version <= self._planned
            return "leave" if again else "set aside"
        if file.kind == "snapshot" and file.version in sound.versions:
            return "rebuild"
        newer = any(file.version <= version <= self._newest for version in sound.snapshots)
        if newer and self._newest in sound.versions:
            return "set aside" if file.kind == "snapshot" else "leave"
        return "none"


def _version_after(batches: Sequence[int]) -> int:
    """Return the version that the last of some batches makes; 0 of none."""
    return (batches[-1] if batches else -1) + 1
