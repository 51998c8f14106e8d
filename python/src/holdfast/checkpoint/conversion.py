"""State carried between Spark's RocksDB provider and the delta and snapshot files of the others.

Key and value of a row are the same bytes in both: what differs is where they lie. Of each store the
version that the query goes on from is carried, as one snapshot.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.checkpoint.checkpoint import Checkpoint
from holdfast.checkpoint.encoding import END_MARKER, encode, writing_snapshot
from holdfast.checkpoint.errors import CheckpointError
from holdfast.checkpoint.fingerprint import Fingerprint
from holdfast.checkpoint.location import Location
from holdfast.checkpoint.logs import PROVIDER_CLASS
from holdfast.checkpoint.operators import Operator
from holdfast.checkpoint.providers import ROCKSDB
from holdfast.checkpoint.records import Records, read_records
from holdfast.checkpoint.schema_file import DEFAULT_COLUMN_FAMILY, ColumnFamily
from holdfast.checkpoint.spark_state import SparkState, SparkStore
from holdfast.checkpoint.state_files import StateFile, StoreFiles
from holdfast.checkpoint.unsafe_row import RowDecoder

# The orders of keys that every provider has (Spark's `KeyStateEncoderSpec`, 4.3).
_SHARED_ENCODERS = (None, "NoPrefixKeyStateEncoderSpec", "PrefixKeyScanStateEncoderSpec")
# Later ones keep all rows of a join in column families of one store.
_NEWEST_SHARED_JOIN_FORMAT = 2


class ConversionError(CheckpointError):
    """State that cannot be carried to another provider, or that came out different."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedStore:
    """The new files of a store, in a local folder.

    Attributes:
        folder: the folder `state` that they lie below.
        rows: number of rows in them.
    """

    folder: Path
    rows: int


def require_convertible(checkpoint: Checkpoint) -> None:
    """Check that the state is there, and laid out alike by every provider.

    Raises:
        NoBatchError: no batch is committed.
        MissingVersionError: by the names of the files, a store lacks the version to go on from.
        ConversionError: an operator's state is laid out differently, or not there.
        CheckpointError: metadata or a schema cannot be read.
    """
    path = checkpoint.location
    if any(store.has_unique_ids for store in checkpoint.stores):
        raise ConversionError(
            f"{path} has checkpoint format version 2, in which RocksDB and Holdfast name their "
            "files differently: its query stays with its provider."
        )
    for operator in checkpoint.operators:
        _require_all_partitions(operator, checkpoint)
        about = f"Operator {operator.operator_id} of {path} ({operator.name})"
        if operator.metadata_version is None:
            raise ConversionError(
                f"{about} has no metadata, which says how RocksDB orders its keys: let Spark 4.0 "
                "or newer run a batch of the query first."
            )
        if operator.name.startswith("transformWithState"):
            raise ConversionError(
                f"{about} keeps its state in column families, which only RocksDB has: its query "
                "stays with RocksDB."
            )
        join = checkpoint.settings.state_format_versions.get("join", 0)
        if operator.name == "symmetricHashJoin" and join > _NEWEST_SHARED_JOIN_FORMAT:
            raise ConversionError(
                f"{about} has state format version {join}, whose column families only RocksDB has: "
                "its query stays with RocksDB."
            )
    for store in checkpoint.stores:
        store.chain(checkpoint.newest_committed + 1)
    for operator_id, name in {(store.operator_id, store.name) for store in checkpoint.stores}:
        family = checkpoint.row_schema(operator_id, store_name=name)
        if family.key_encoder not in _SHARED_ENCODERS or family.name != DEFAULT_COLUMN_FAMILY:
            raise ConversionError(
                f"The store {operator_id}/{name} of {path} orders its keys by "
                f"{family.key_encoder}, which only RocksDB does: its query stays with RocksDB."
            )


def _require_all_partitions(operator: Operator, checkpoint: Checkpoint) -> None:
    there = {(store.operator_id, store.name, store.partition_id) for store in checkpoint.stores}
    for kind in operator.stores:
        for partition in range(kind.partitions):
            if (operator.operator_id, kind.name, partition) not in there:
                raise ConversionError(
                    f"Operator {operator.operator_id} of {checkpoint.location} ({operator.name}) "
                    f"has no files of the store {kind.name} in partition {partition}: restore them "
                    "from a copy."
                )


class Converter:
    """Carries one store after the other.

    Args:
        checkpoint: the checkpoint, which is only read.
        spark: Spark's RocksDB provider.
        work: a local folder, which holds one store in both forms at a time.
    """

    def __init__(self, checkpoint: Checkpoint, spark: SparkState, work: Path) -> None:
        self._checkpoint = checkpoint
        self._spark = spark
        self._work = work
        self._version = checkpoint.newest_committed + 1
        self._records = work / "records"

    def run(self) -> Iterator[ConvertedStore]:
        """Yield each store; its files are there until the next one is asked for.

        Raises:
            ConversionError: the rows that came out are not those that went in.
            SparkStateError: Spark cannot read or write a store.
            CheckpointError: the checkpoint cannot be read.
        """
        from_rocksdb = self._checkpoint.settings.provider_class == ROCKSDB
        for store in self._checkpoint.stores:
            folder = self._work / "made"
            schema = self._checkpoint.row_schema(store.operator_id, store_name=store.name)
            carry = self._from_rocksdb if from_rocksdb else self._to_rocksdb
            rows = carry(store, schema, folder)
            yield ConvertedStore(folder=folder, rows=rows)
            shutil.rmtree(folder)

    def _from_rocksdb(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> int:
        copy = self._work / "copy"
        (self._checkpoint.location / "state" / store).download(copy / str(store))
        self._spark.read(self._described(store, schema, copy), self._records)
        shutil.rmtree(copy)
        settings = self._checkpoint.settings
        before, after = Fingerprint(), Fingerprint()
        made = folder / str(store) / f"{self._version}.snapshot"
        with writing_snapshot(Location.of(str(made)), settings) as snapshot:
            for records in before.watch(self._rows_from_spark()):
                snapshot.write(encode(records, row_checksums=settings.row_checksums)[0])
        file = _state_file(made, self._version)
        pieces = read_records(file, codec=settings.codec, row_checksums=settings.row_checksums)
        for records in after.watch(pieces):
            decoder = RowDecoder(records.memory, where=str(store))
            decoder.rows(schema.key, records.key_starts, records.key_lengths)
            decoder.rows(schema.value, records.value_starts, records.value_lengths)
        return self._require_same(store, before, after)

    def _to_rocksdb(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> int:
        before, after = Fingerprint(), Fingerprint()
        rows = self._checkpoint.read_bytes(store, self._version)
        with self._records.open("wb") as out:
            for records in before.watch(records for _, records in rows):
                out.write(encode(records, row_checksums=False)[0])
            out.write(END_MARKER)
        (folder / str(store)).mkdir(parents=True)
        described = self._described(store, schema, folder)
        self._spark.write(described, self._records)
        self._spark.read(described, self._records)
        for records in self._rows_from_spark():
            after.add(records)
        return self._require_same(store, before, after)

    def _rows_from_spark(self) -> Iterator[Records]:
        file = _state_file(self._records, self._version)
        return read_records(file, codec=None, row_checksums=False)

    def _described(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> SparkStore:
        kinds = self._checkpoint.operator(store.operator_id).stores
        return SparkStore(
            state_folder=str(folder),
            operator_id=store.operator_id,
            partition_id=store.partition_id,
            store_name=store.name,
            version=self._version,
            key_schema=schema.key_json,
            value_schema=schema.value_json,
            prefix_columns=max(
                (kind.prefix_columns for kind in kinds if kind.name == store.name), default=0
            ),
            settings={**self._checkpoint.settings.conf, PROVIDER_CLASS: ROCKSDB},
        )

    def _require_same(self, store: StoreFiles, before: Fingerprint, after: Fingerprint) -> int:
        if before != after:
            raise ConversionError(
                f"The store {store} of {self._checkpoint.location} came out different: "
                f"{before.rows} rows went in and {after.rows} rows, or other ones, came out. "
                "Nothing was changed; please report this."
            )
        return after.rows


def _state_file(path: Path, version: int) -> StateFile:
    return StateFile(
        location=Location.of(str(path)),
        kind="snapshot",
        version=version,
        size_bytes=path.stat().st_size,
        modified=None,
    )
