"""Whether the state files of a checkpoint can be read, to the last record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.expected_stores import stores_without_files
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import (
    StateFile,
    StoreFiles,
    as_ranges,
    recoverable,
)
from holdfast_spark.checkpoint.rows.records import read_records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenFile:
    """A file that cannot be read or trusted.

    Attributes:
        path: where it is.
        error: what is wrong, in a sentence.
    """

    path: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedStore:
    """A store whose files were read.

    Attributes:
        operator_id: number of the stateful operator.
        partition_id: number of the partition.
        name: name of the store.
        files: number of its files.
        records: records in them.
        versions: versions that can be put together from sound files, such as `3-17`.
        needed_version: the version that the query goes on from, the state after its newest
            committed batch; null when no batch is committed.
        recoverable: whether that version can be put together.
    """

    operator_id: int
    partition_id: int
    name: str
    files: int
    records: int
    versions: str
    needed_version: int | None
    recoverable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of reading every state file of a checkpoint.

    Attributes:
        path: where the checkpoint is.
        sound: whether nothing is broken and every store has the version that the query needs.
        files: files read.
        records: records in them.
        bytes: size of the files.
        broken: files that cannot be read or trusted.
        stores: every store.
    """

    path: str
    sound: bool
    files: int
    records: int
    bytes: int
    broken: tuple[BrokenFile, ...]
    stores: tuple[VerifiedStore, ...]


def verify_checkpoint(
    checkpoint: Checkpoint, *, on_file: Callable[[int, int], None] = lambda _done, _all: None
) -> Verification:
    """Read every record of every state file, and every row in them by its schema.

    Args:
        checkpoint: the checkpoint.
        on_file: called after each file with the number of files read and of all files.

    Raises:
        UnsupportedProviderError: the state is not in delta and snapshot files.
        UnknownFormatError: their codec is unknown.
        CheckpointError: a log or the metadata of an operator cannot be read.
    """
    checkpoint.require_readable()
    return _Verifier(checkpoint, on_file).run()


class _Verifier:
    def __init__(self, checkpoint: Checkpoint, on_file: Callable[[int, int], None]) -> None:
        self._checkpoint = checkpoint
        self._on_file = on_file
        self._broken: dict[str, str] = {}
        self._done = 0
        self._all = sum(len(_all_files(store)) for store in checkpoint.stores)
        self._schemas: dict[tuple[int, str], ColumnFamily | None] = {}

    def run(self) -> Verification:
        stores = (
            *(self._store(store) for store in self._checkpoint.stores),
            *(self._store(store) for store in stores_without_files(self._checkpoint)),
        )
        files = [file for store in self._checkpoint.stores for file in _all_files(store)]
        return Verification(
            path=str(self._checkpoint.location),
            sound=not self._broken and all(store.recoverable for store in stores),
            files=len(files),
            records=sum(store.records for store in stores),
            bytes=sum(file.size_bytes for file in files),
            broken=tuple(BrokenFile(path=p, error=e) for p, e in self._broken.items()),
            stores=stores,
        )

    def _store(self, store: StoreFiles) -> VerifiedStore:
        schema = self._schema(store)
        records, sound = 0, []
        for file in _all_files(store):
            try:
                records += self._file(file, schema)
                if file not in store.others:
                    sound.append(file)
            except CheckpointError as error:
                self._broken[str(file.location)] = str(error)
            self._done += 1
            self._on_file(self._done, self._all)
        versions = recoverable(
            (file.version for file in sound if file.kind == "snapshot"),
            (file.version for file in sound if file.kind == "delta"),
        )
        committed = self._checkpoint.committed
        needed = committed[-1] + 1 if committed else None
        return VerifiedStore(
            operator_id=store.operator_id,
            partition_id=store.partition_id,
            name=store.name,
            files=len(_all_files(store)),
            records=records,
            versions=as_ranges(versions),
            needed_version=needed,
            recoverable=needed is None or needed in versions,
        )

    def _file(self, file: StateFile, schema: ColumnFamily | None) -> int:
        settings = self._checkpoint.settings
        count = 0
        for records in read_records(
            file, codec=settings.codec, row_checksums=settings.row_checksums
        ):
            count += len(records)
            if schema:
                decoder = RowDecoder(records.memory, where=str(file.location))
                decoder.rows(schema.key, records.key_starts, records.key_lengths)
                rows = records.where(records.value_lengths >= 0)
                decoder.rows(schema.value, rows.value_starts, rows.value_lengths)
        return count

    def _schema(self, store: StoreFiles) -> ColumnFamily | None:
        """Return the store's schema; one that cannot be read counts as a broken file, once."""
        key = store.operator_id, store.name
        if key not in self._schemas:
            try:
                self._schemas[key] = self._checkpoint.row_schema(
                    store.operator_id, store_name=store.name
                )
            except CheckpointError as error:
                self._schemas[key] = None
                self._broken[f"schema of {store.operator_id}/{store.name}"] = str(error)
        return self._schemas[key]


def _all_files(store: StoreFiles) -> tuple[StateFile, ...]:
    return (*store.files, *store.others)
