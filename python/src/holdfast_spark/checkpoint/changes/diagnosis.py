"""What is wrong with the files of a checkpoint, and what is sound of its state."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast_spark.checkpoint.changes.tail import Tail, find_tail
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.checks.verification import verified
from holdfast_spark.checkpoint.checks.verified import Verification
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.checksums import has_checksums
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is wrong with the files of a checkpoint, and what is sound of its state.

    Attributes:
        checkpoint: the checkpoint.
        broken: what is wrong with each file that is not trusted, by its path.
        left_checksums: those of them that are checksums of a file of another run, and go.
        lost: what is wrong with things of which there is no file to mend, by their paths.
        sound: the stores that the query goes on from, with only those files that are trusted.
        tail: the batches that the query cannot go on from.
    """

    checkpoint: Checkpoint
    broken: Mapping[str, str]
    left_checksums: tuple[str, ...]
    lost: Sequence[tuple[str, str]]
    sound: Sequence[StoreFiles]
    tail: Tail

    @classmethod
    def of(cls, subject: Subject) -> Diagnosis:
        """Read all state files of a checkpoint, and judge them.

        Raises:
            CheckpointError: the checkpoint cannot be read.
        """
        subject, found = verified(subject)
        checkpoint = subject.named
        if not found.judges_state:
            with contextlib.suppress(MalformedFileError):  # which is among the damaged files
                checkpoint.require_readable()
        # Of a file that several checks name, what the first of them says, which tells most.
        damaged = {file.path: file.error for file in reversed(found.damaged)}
        contested = _contested(checkpoint, found)
        broken = {
            **damaged,
            **contested,
            **_differing(checkpoint, found),
            **_unplanned(checkpoint, found),
        }
        sound = [_only_sound(store, broken, contested) for store in checkpoint.live_stores]
        return cls(
            checkpoint=checkpoint,
            broken=broken,
            left_checksums=tuple(file.path for file in found.left_checksums),
            lost=[(file.path, file.error) for file in found.lost],
            sound=sound,
            tail=find_tail(checkpoint, sound),
        )


def version_after(batches: Sequence[int]) -> int:
    """Return the version that the last of some batches makes; 0 of none."""
    return (batches[-1] if batches else -1) + 1


def _contested(checkpoint: Checkpoint, found: Verification) -> dict[str, str]:
    """Return what is wrong with files that contradict others, all of which can be read."""
    newest = version_after(checkpoint.committed)
    files = (file for store in checkpoint.stores for file in store.files)
    return _state_errors(found, (file for file in files if file.version <= newest))


def _unplanned(checkpoint: Checkpoint, found: Verification) -> dict[str, str]:
    """Return what is wrong with files of versions that no batch has planned."""
    planned = version_after(checkpoint.planned)
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


def _differing(checkpoint: Checkpoint, found: Verification) -> dict[str, str]:
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


def _only_sound(
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
