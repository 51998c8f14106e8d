"""Another state store provider for a stopped query.

Spark binds a query to the provider class in the newest file of `offsets/`, and takes it from there
on restart, whatever the session says (`OffsetSeqMetadata.setSessionConf`, 4.3). Holdfast and
Spark's default provider write the same state files, so between them that class is all that changes.
From and to RocksDB the state is converted as well, and so is that of checkpoint format 2 on the way
to Spark's default provider. What comes out of format 2 has format 1, which every provider has.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from holdfast_spark.checkpoint.changes.change import Change, require_finished
from holdfast_spark.checkpoint.changes.conversion import Converter, ToFormat1
from holdfast_spark.checkpoint.changes.convertible import require_convertible
from holdfast_spark.checkpoint.changes.rocksdb_conversion import RocksDBConverter
from holdfast_spark.checkpoint.changes.spark_state import spark_state
from holdfast_spark.checkpoint.changes.stopped import StoppedQuery, checksum_files
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MigrationError,
    UnsupportedProviderError,
)
from holdfast_spark.checkpoint.files.location import Location, reported
from holdfast_spark.checkpoint.files.logs import (
    DEFAULT_PROVIDER,
    PROVIDER_CLASS,
    with_setting,
    without_state_ids,
)
from holdfast_spark.checkpoint.files.operators import DESCRIPTIONS
from holdfast_spark.checkpoint.files.providers import PROVIDERS, ROCKSDB
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.verification import Verification, verify_checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A switch to another provider, planned or done.

    Attributes:
        path: where the checkpoint is.
        from_provider: the class that the query is bound to, or was.
        to_provider: the class that it is to be bound to, or is now.
        offsets_file: the file that says so.
        files: state files that were read to the last record and found sound; none where Spark's
            RocksDB provider read them.
        records: records in them; where the state was converted, its rows.
        converted_stores: stores whose newest committed version was converted, and read again to
            compare the rows; none between providers that share their files.
        applied: whether it is done; false in a dry run, and where the query was bound to
            `to_provider` already.
        backup: where what was replaced is kept; null where nothing was changed.
    """

    path: str
    from_provider: str
    to_provider: str
    offsets_file: str
    files: int
    records: int
    converted_stores: int
    applied: bool
    backup: str | None


def migrate(
    checkpoint: Checkpoint,
    to: str,
    *,
    apply: bool = False,
    settled: timedelta = timedelta(0),
    on_store: Callable[[int, int], None] = lambda _done, _all: None,
) -> Migration:
    """Switch a stopped query to another provider.

    Between Holdfast and Spark's default provider: reads all state files first. Then the newest
    offsets file is copied to a folder of its own below `holdfast-backup`, replaced by one that
    names the other provider, and read again. If the checkpoint has changed meanwhile, or that
    fails, the former file is put back.

    From checkpoint format 2 to Spark's default provider, which has not got it: writes the newest
    committed version of each store as a snapshot of format 1, and reads it again. Then it goes on
    as with RocksDB.

    From and to RocksDB: starts a local Spark session, converts the newest committed version of each
    store, reads it again and compares the rows, in a dry run as well. Then the new state files and
    the offsets file take the place of the old ones, which are kept as a backup; if that fails,
    everything is put back.

    Args:
        checkpoint: the checkpoint, opened just now.
        to: `holdfast`, `rocksdb`, or `hdfs`, Spark's default provider.
        apply: do it; without, look only.
        settled: the query counts as stopped when nothing has changed for so long.
        on_store: called after each store that was converted with their number and that of all.

    Raises:
        UnfinishedChangeError: a change of the checkpoint was cut off.
        RunningQueryError: the query seems to be running.
        UnsupportedProviderError: it has a provider that none of these is.
        ConversionError: its state is not the same with every provider.
        SparkStateError: Spark cannot read or write a store.
        PySparkNotInstalledError: there is no pyspark, which RocksDB needs.
        MigrationError: a provider has no such name, a state file is damaged, or a version is
            missing.
        CheckpointError: the checkpoint cannot be read or written.
    """
    target = _class_of(to)
    require_finished(checkpoint.location)
    stopped = StoppedQuery(checkpoint, settled=settled)
    source = checkpoint.settings.provider_class
    if source not in PROVIDERS.values():
        raise UnsupportedProviderError(path=str(checkpoint.location), provider=source)
    with_rocksdb = ROCKSDB in (source, target)
    converts = (
        source != target
        and bool(checkpoint.stores)
        and (with_rocksdb or _leaves_format_2(checkpoint, target))
    )
    if converts and with_rocksdb:
        require_convertible(checkpoint)
    files = records = stores = 0
    if source != ROCKSDB:
        for store in checkpoint.stores:
            checkpoint.require_one_family(store.operator_id, store_name=store.name)
        sound = _require_sound(checkpoint)
        files, records = sound.files, sound.records
    backup = None
    if converts:
        stores, records = _convert(checkpoint, target, stopped, apply=apply, on_store=on_store)
        backup = stopped.backup if apply else None
    elif apply and source != target:
        backup = _switch(_offsets_file(checkpoint), target, stopped)
    return Migration(
        path=str(checkpoint.location),
        from_provider=source,
        to_provider=target,
        offsets_file=str(_offsets_file(checkpoint)),
        files=files,
        records=records,
        converted_stores=stores,
        applied=backup is not None,
        backup=str(backup) if backup else None,
    )


def _class_of(name: str) -> str:
    """Return the class of a provider by its name."""
    if name not in PROVIDERS:
        *others, last = PROVIDERS
        raise MigrationError(
            f"A query cannot be switched to {name}: expected {', '.join(others)} or {last}, found "
            f"{name}."
        )
    return PROVIDERS[name]


def _convert(
    checkpoint: Checkpoint,
    target: str,
    stopped: StoppedQuery,
    *,
    apply: bool,
    on_store: Callable[[int, int], None],
) -> tuple[int, int]:
    """Convert the state and, if so asked, replace it; return the numbers of stores and rows."""
    change = Change(checkpoint.location, stopped.backup)
    stores = rows = 0
    try:
        with (
            reported(tempfile.gettempdir(), "write"),
            tempfile.TemporaryDirectory(prefix="holdfast-") as folder,
        ):
            work = Path(folder)
            with _converter(checkpoint, target, work) as converter:
                for made in converter.run():
                    stores += 1
                    rows += made.rows
                    if apply:
                        _gather(made.folder, change)
                    on_store(stores, len(checkpoint.stores))
        if apply:
            _collect(checkpoint, target, change)
            stopped.require_unchanged()
    except BaseException:
        change.abandon()
        raise
    if apply:
        change.make()
    return stores, rows


def _leaves_format_2(checkpoint: Checkpoint, target: str) -> bool:
    ids = any(store.has_unique_ids for store in checkpoint.stores)
    return ids and target == DEFAULT_PROVIDER


@contextlib.contextmanager
def _converter(checkpoint: Checkpoint, target: str, work: Path) -> Iterator[Converter]:
    if ROCKSDB not in (checkpoint.settings.provider_class, target):
        yield ToFormat1(checkpoint, work)
        return
    with spark_state(work) as spark:
        yield RocksDBConverter(checkpoint, spark, work)


def _gather(state: Path, change: Change) -> None:
    """Copy new state files from a local folder to where the change takes them from."""
    for file in sorted(state.rglob("[!.]*")):
        if file.is_file():
            name = f"state/{file.relative_to(state).as_posix()}"
            change.new(name).upload(file)
            change.comes.append(name)


def _collect(checkpoint: Checkpoint, target: str, change: Change) -> None:
    """Add to a change the new offsets file and the state files that go."""
    offsets = _offsets_file(checkpoint)
    _replace(
        change,
        offsets,
        with_setting(offsets.read_bytes(), PROVIDER_CLASS, target, path=str(offsets)),
    )
    if any(store.has_unique_ids for store in checkpoint.stores):
        commit = checkpoint.location / "commits" / checkpoint.newest_committed
        _replace(change, commit, without_state_ids(commit.read_bytes(), path=str(commit)))
    change.goes += [name for store in checkpoint.stores for name in _contents(store, checkpoint)]


def _replace(change: Change, file: Location, content: bytes) -> None:
    """Add to a change that a file is replaced, and that its checksums go."""
    prefix = f"{change.checkpoint.path.rstrip('/')}/"
    name = file.path.removeprefix(prefix)
    change.replaced.append(name)
    change.new(name).create(content)
    checksums = [each for each in checksum_files(file) if each.exists()]
    change.goes += [each.path.removeprefix(prefix) for each in checksums]


def _contents(store: StoreFiles, checkpoint: Checkpoint) -> list[str]:
    """Return the files and folders that hold a store's state."""
    folder = f"state/{store}/"
    prefix = f"{checkpoint.location.path.rstrip('/')}/{folder}"
    parts = (
        entry.path.removeprefix(prefix).partition("/")[0]
        for entry in checkpoint.state_entries
        if entry.path.startswith(prefix)
    )
    return [f"{folder}{part}" for part in dict.fromkeys(parts) if part not in DESCRIPTIONS]


def _offsets_file(checkpoint: Checkpoint) -> Location:
    return checkpoint.location / "offsets" / checkpoint.planned[-1]


def _require_sound(checkpoint: Checkpoint) -> Verification:
    found = verify_checkpoint(checkpoint)
    if not found.state_is_sound:
        lost = [store for store in found.stores if not store.recoverable]
        raise MigrationError(
            f"{found.path} is not switched: {len(found.damaged)} state files are damaged, and "
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
    try:
        backup = stopped.back_up(file, former)
        stopped.require_unchanged()
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
        stopped.backup.remove_tree()
        raise
    return backup
