"""Another state store provider for a stopped query.

Spark binds a query to the provider class in the newest file of `offsets/`, and takes it from there
on restart, whatever the session says (`OffsetSeqMetadata.setSessionConf`, 4.3). Holdfast and
Spark's default provider write the same state files, so that class is all that changes.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from holdfast.checkpoint.checkpoint import Checkpoint
from holdfast.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    MigrationError,
    RunningQueryError,
    UnsupportedProviderError,
)
from holdfast.checkpoint.location import Entry, Location
from holdfast.checkpoint.logs import DEFAULT_PROVIDER, PROVIDER_CLASS, parse_json_object
from holdfast.checkpoint.verification import Verification, verify_checkpoint

PROVIDERS = {"holdfast": "io.holdfast.HoldfastStateStoreProvider", "hdfs": DEFAULT_PROVIDER}

_BACKUPS = "holdfast-backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A switch to another provider, planned or done.

    Attributes:
        path: where the checkpoint is.
        from_provider: the class that the query is bound to, or was.
        to_provider: the class that it is to be bound to, or is now.
        offsets_file: the file that says so.
        files: state files that were read to the last record and found sound.
        records: records in them.
        applied: whether it is done; false in a dry run, and where the query was bound to
            `to_provider` already.
        backup: where the former offsets file is kept; null where nothing was changed.
    """

    path: str
    from_provider: str
    to_provider: str
    offsets_file: str
    files: int
    records: int
    applied: bool
    backup: str | None


def migrate(
    checkpoint: Checkpoint, to: str, *, apply: bool = False, settled: timedelta = timedelta(0)
) -> Migration:
    """Switch a stopped query to another provider.

    Reads all state files first. Then the newest offsets file is copied to a folder of its own below
    `holdfast-backup`, replaced by one that names the other provider, and read again. If the
    checkpoint has changed meanwhile, or that fails, the former file is put back.

    Args:
        checkpoint: the checkpoint, opened just now.
        to: `holdfast` or `hdfs`, Spark's default provider.
        apply: do it; without, look only.
        settled: the query counts as stopped when nothing has changed for so long.

    Raises:
        RunningQueryError: the query seems to be running.
        UnsupportedProviderError: its state is not in the files that both providers share.
        MigrationError: a state file is damaged, or a version is missing.
        CheckpointError: the checkpoint cannot be read or written.
    """
    target = PROVIDERS[to]
    before = _entries(checkpoint)
    _require_settled(checkpoint, before, settled)
    _require_shared_format(checkpoint)
    sound = _require_sound(checkpoint)
    source = checkpoint.settings.provider_class
    backup = None
    if apply and source != target:
        backup = _switch(checkpoint, target, before)
    return Migration(
        path=str(checkpoint.location),
        from_provider=source,
        to_provider=target,
        offsets_file=str(_offsets_file(checkpoint)),
        files=sound.files,
        records=sound.records,
        applied=backup is not None,
        backup=str(backup) if backup else None,
    )


def _offsets_file(checkpoint: Checkpoint) -> Location:
    return checkpoint.location / "offsets" / checkpoint.planned[-1]


def _entries(checkpoint: Checkpoint) -> list[Entry]:
    """Return what a running query adds to."""
    folders = ("offsets", "commits", "state")
    return [entry for name in folders for entry in (checkpoint.location / name).files()]


def _require_settled(checkpoint: Checkpoint, entries: list[Entry], settled: timedelta) -> None:
    now = datetime.now(tz=timezone.utc)
    times = [(entry.modified, entry.path) for entry in entries if entry.modified]
    newest, path = max(times, default=(now - settled, ""))
    if settled and now - newest < settled:
        raise RunningQueryError(
            path=str(checkpoint.location),
            changed=f"{path} changed {(now - newest).total_seconds():.0f} s ago",
            wait=f"wait until nothing has changed for {settled.total_seconds():.0f} s, or give "
            "--settled 0 if you know that it is stopped",
        )


def _require_shared_format(checkpoint: Checkpoint) -> None:
    provider = checkpoint.settings.provider_class
    if provider not in PROVIDERS.values():
        raise UnsupportedProviderError(path=str(checkpoint.location), provider=provider)
    for store in checkpoint.stores:
        if store.unique_ids:
            raise UnsupportedProviderError(
                path=str(checkpoint.location),
                provider=f"{provider} with checkpoint format version 2",
            )
        checkpoint.row_schema(store.operator_id, store_name=store.name)


def _require_sound(checkpoint: Checkpoint) -> Verification:
    found = verify_checkpoint(checkpoint)
    if not found.sound:
        lost = [store for store in found.stores if not store.recoverable]
        raise MigrationError(
            f"{found.path} is not switched: {len(found.broken)} state files are damaged, and "
            f"{len(lost)} stores lack the version that the query goes on from. holdfast verify "
            "names them."
        )
    return found


def _switch(checkpoint: Checkpoint, target: str, before: list[Entry]) -> Location:
    """Replace the offsets file; return where the former one is kept."""
    file = _offsets_file(checkpoint)
    name = file.path.rpartition("/")[2]
    checksum = checkpoint.location / "offsets" / f".{name}.crc"
    former = file.read_bytes()
    former_checksum = checksum.read_bytes() if checksum.exists() else None
    wanted = _with_provider(former, target, path=str(file))
    stamp = datetime.now(tz=timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
    backup = checkpoint.location / _BACKUPS / stamp / "offsets" / name
    backup.create(former)
    _require_unchanged(checkpoint, before)
    try:
        # Hadoop takes a file without its checksum as it is, and refuses one with a wrong one.
        file.replace(wanted, checksum=checksum)
        if file.read_bytes() != wanted:
            raise MigrationError(f"{file} could not be replaced: it reads back differently.")
        _require_unchanged(checkpoint, before, but=(file.path, checksum.path))
    except CheckpointError:
        if file.read_bytes() != former:
            file.replace(former)
        if former_checksum is not None and not checksum.exists():
            checksum.create(former_checksum)
        raise
    return backup


def _require_unchanged(
    checkpoint: Checkpoint, before: list[Entry], *, but: Collection[str] = ()
) -> None:
    then = {entry for entry in before if entry.path not in but}
    now = {entry for entry in _entries(checkpoint) if entry.path not in but}
    if then != now:
        changed = sorted({entry.path for entry in then ^ now})
        raise RunningQueryError(
            path=str(checkpoint.location),
            changed=f"{changed[0]} has changed meanwhile",
            wait="start again",
        )


def _with_provider(content: bytes, target: str, *, path: str) -> bytes:
    """Return an offsets file with another provider and everything else as it was."""
    lines = content.split(b"\n")
    metadata = parse_json_object(lines[1].decode(), path=path)
    conf = metadata.get("conf")
    if not isinstance(conf, dict):
        raise MalformedFileError(path=path, expected="settings in conf", found="none")
    conf[PROVIDER_CLASS] = target
    lines[1] = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()
    return b"\n".join(lines)
