"""Another state store provider for a stopped query.

Spark binds a query to the provider class in the newest file of `offsets/`, and takes it from there
on restart, whatever the session says (`OffsetSeqMetadata.setSessionConf`, 4.3). Holdfast and
Spark's default provider write the same state files, so that class is all that changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from holdfast.checkpoint.checkpoint import Checkpoint
from holdfast.checkpoint.errors import (
    CheckpointError,
    MigrationError,
    UnsupportedProviderError,
)
from holdfast.checkpoint.location import Location
from holdfast.checkpoint.logs import DEFAULT_PROVIDER, PROVIDER_CLASS, with_setting
from holdfast.checkpoint.stopped import StoppedQuery, checksum_files
from holdfast.checkpoint.verification import Verification, verify_checkpoint

PROVIDERS = {"holdfast": "io.holdfast.HoldfastStateStoreProvider", "hdfs": DEFAULT_PROVIDER}


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
    stopped = StoppedQuery(checkpoint, settled=settled)
    _require_shared_format(checkpoint)
    sound = _require_sound(checkpoint)
    source = checkpoint.settings.provider_class
    backup = None
    if apply and source != target:
        backup = _switch(_offsets_file(checkpoint), target, stopped)
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


def _switch(file: Location, target: str, stopped: StoppedQuery) -> Location:
    """Replace the offsets file; return where the former one is kept."""
    checksums = checksum_files(file)
    former = file.read_bytes()
    former_checksums = [(each, each.read_bytes()) for each in checksums if each.exists()]
    wanted = with_setting(former, PROVIDER_CLASS, target, path=str(file))
    backup = stopped.back_up(file, former)
    stopped.require_unchanged()
    try:
        file.replace(wanted, checksums=checksums)
        if file.read_bytes() != wanted:
            raise MigrationError(f"{file} could not be replaced: it reads back differently.")
        stopped.require_unchanged(but=(file, *checksums))
    except CheckpointError:
        if file.read_bytes() != former:
            file.replace(former)
        for checksum, content in former_checksums:
            if not checksum.exists():
                checksum.create(content)
        raise
    return backup
