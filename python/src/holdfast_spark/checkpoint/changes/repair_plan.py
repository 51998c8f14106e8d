"""What a repair does about each damaged file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from holdfast_spark.checkpoint.changes.diagnosis import Diagnosis, version_after
from holdfast_spark.checkpoint.changes.stopped import LOGS
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


class RepairPlan:
    """What is done about each damaged file."""

    def __init__(self, diagnosis: Diagnosis, *, drops: bool) -> None:
        self.diagnosis = diagnosis
        self.drops = drops
        self._settings = diagnosis.checkpoint.settings
        self._newest = version_after(diagnosis.checkpoint.committed)
        self._planned = version_after(diagnosis.checkpoint.planned)

    def steps(self) -> Iterator[RepairStep]:
        """Yield what is done about each damaged file."""
        broken = dict(self.diagnosis.broken)
        for file, action, _ in self.changes():
            path = str(file.location)
            yield RepairStep(path=path, action=action, error=broken.pop(path))
        for path in self.diagnosis.left_checksums:
            yield RepairStep(path=path, action="set aside", error=broken.pop(path))
        # Of other files, such as schemas, there is nothing to make them of.
        for path, error in (*broken.items(), *self.diagnosis.lost):
            yield RepairStep(path=path, action="none", error=error)

    def changes(self) -> Iterator[tuple[StateFile, Action, StoreFiles]]:
        """Yield the damaged files, what is done about each, and what is sound of its store."""
        stores = self.diagnosis.checkpoint.live_stores
        for store, sound in zip(stores, self.diagnosis.sound, strict=True):
            for file in (*store.files, *store.others):
                if str(file.location) in self.diagnosis.broken:
                    yield file, self._action(file, store, sound), sound

    def logs(self) -> tuple[str, ...]:
        """Return the folders beside the state in which something changes."""
        left = self.diagnosis.left_checksums
        sources = ("sources",) if any("/sources/" in path for path in left) else ()
        return (*(LOGS if self.drops or left else ()), *sources)

    def _action(self, file: StateFile, store: StoreFiles, sound: StoreFiles) -> Action:
        if self.drops:
            return "drop"
        if file in store.others and file.version <= self._planned:
            is_in_the_way = self._settings.provider_class == DEFAULT_PROVIDER
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
