"""Damaged snapshots of a stopped query, written again from what is sound."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import google_crc32c

from holdfast.checkpoint.checkpoint import Checkpoint
from holdfast.checkpoint.compress import compress
from holdfast.checkpoint.records import read_records
from holdfast.checkpoint.replay import replay
from holdfast.checkpoint.state_files import StateFile, StoreFiles
from holdfast.checkpoint.stopped import StoppedQuery, checksum_files
from holdfast.checkpoint.verification import verify_checkpoint

_INT = struct.Struct(">i")
_END_MARKER = _INT.pack(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairStep:
    """What is done about a damaged file.

    Attributes:
        path: the file.
        action: `rebuild`, from an older snapshot and deltas; `set aside`, where a newer snapshot
            makes the file superfluous; or `none`, where nothing is sound enough.
        error: what is wrong with it, in a sentence.
    """

    path: str
    action: Literal["rebuild", "set aside", "none"]
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A repair, planned or done.

    Attributes:
        path: where the checkpoint is.
        steps: the damaged files, and what is done about each.
        applied: whether it is done; false in a dry run, and where there is nothing to do.
        backup: the folder in which the damaged files are kept; null where nothing was changed.
    """

    path: str
    steps: tuple[RepairStep, ...]
    applied: bool
    backup: str | None

    @property
    def complete(self) -> bool:
        """Whether something is done about every damaged file."""
        return all(step.action != "none" for step in self.steps)


def repair(
    checkpoint: Checkpoint, *, apply: bool = False, settled: timedelta = timedelta(0)
) -> Repair:
    """Rebuild the damaged snapshots of a stopped query.

    Reads all state files to find the damaged ones. A snapshot is rebuilt when an older one, or
    none, and the deltas behind it lead to its version; it is set aside when a newer snapshot serves
    the query. Damaged deltas stay: what they held is nowhere else. Every file is copied to a folder
    below `holdfast-backup` before it is changed, and every rebuilt one is read again.

    Args:
        checkpoint: the checkpoint, opened just now.
        apply: do it; without, look only.
        settled: the query counts as stopped when nothing has changed for so long.

    Raises:
        RunningQueryError: the query seems to be running.
        CheckpointError: the checkpoint cannot be read or written.
    """
    stopped = StoppedQuery(checkpoint, settled=settled)
    broken = {file.path: file.error for file in verify_checkpoint(checkpoint).broken}
    steps, changes = [], []
    for store in checkpoint.stores:
        sound = _only(store, [file for file in store.files if str(file.location) not in broken])
        for file in store.files:
            path = str(file.location)
            if path in broken:
                action = _action(file, sound, checkpoint)
                steps.append(RepairStep(path=path, action=action, error=broken[path]))
                changes.append((file, action, sound))
    apply = apply and any(step.action != "none" for step in steps)
    if apply:
        stopped.require_unchanged()
        for file, action, sound in changes:
            _apply(file, action, sound, checkpoint, stopped)
    return Repair(
        path=str(checkpoint.location),
        steps=tuple(steps),
        applied=apply,
        backup=str(stopped.backup) if apply else None,
    )


def _only(store: StoreFiles, files: list[StateFile]) -> StoreFiles:
    return dataclasses.replace(store, files=tuple(files))


def _action(
    file: StateFile, sound: StoreFiles, checkpoint: Checkpoint
) -> Literal["rebuild", "set aside", "none"]:
    if file.kind != "snapshot":
        return "none"
    if file.version in sound.versions:
        return "rebuild"
    needed = checkpoint.committed[-1] + 1 if checkpoint.committed else 0
    newer = any(file.version < version <= needed for version in sound.snapshots)
    return "set aside" if newer and needed in sound.versions else "none"


def _apply(
    file: StateFile,
    action: str,
    sound: StoreFiles,
    checkpoint: Checkpoint,
    stopped: StoppedQuery,
) -> None:
    if action == "none":
        return
    stopped.back_up(file.location, file.location.read_bytes())
    checksums = checksum_files(file.location)
    if action == "set aside":
        for location in (*checksums, file.location):
            location.remove()
        return
    settings = checkpoint.settings
    content = b"".join(_snapshot(sound, file.version, checkpoint))
    compressed = compress(content, settings.codec, path=str(file.location))
    file.location.replace(compressed, checksums=checksums)
    for _ in read_records(file, codec=settings.codec, row_checksums=settings.row_checksums):
        pass


def _snapshot(store: StoreFiles, version: int, checkpoint: Checkpoint) -> Iterator[bytes]:
    """Yield the records of a snapshot of a version, and the end marker."""
    settings = checkpoint.settings
    chain = store.chain(version)
    for _, records in replay(chain, codec=settings.codec, row_checksums=settings.row_checksums):
        for key, value in zip(records.key_bytes(), records.value_bytes(), strict=True):
            checked = _checksum(key, value) + value if settings.row_checksums else value
            yield b"".join([_INT.pack(len(key)), key, _INT.pack(len(checked)), checked])
    yield _END_MARKER


def _checksum(key: bytes, value: bytes) -> bytes:
    checksum: int = google_crc32c.extend(google_crc32c.value(key), value)
    return checksum.to_bytes(4, "little")
