"""State carried between Spark's RocksDB provider and the snapshot files of the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from holdfast_spark.checkpoint.changes.conversion import Converter, state_file
from holdfast_spark.checkpoint.changes.family_conversion import (
    spark_families,
    values_fingerprint,
    version_fingerprint,
    with_rows,
    write_family_snapshot,
    write_values,
)
from holdfast_spark.checkpoint.changes.family_definitions import (
    FamilyDefinitions,
    family_definitions,
)
from holdfast_spark.checkpoint.changes.rocksdb_copy import copy_in_format_1
from holdfast_spark.checkpoint.changes.spark_state import SparkState, SparkStore
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import CODEC, PROVIDER_CLASS
from holdfast_spark.checkpoint.files.providers import ROCKSDB
from holdfast_spark.checkpoint.files.spark_types import without_classes
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.rows.codecs import short_name
from holdfast_spark.checkpoint.rows.encoding import END_MARKER, encode
from holdfast_spark.checkpoint.rows.families import Families
from holdfast_spark.checkpoint.rows.fingerprint import Fingerprint
from holdfast_spark.checkpoint.rows.records import Records, read_records

_OF_STORES = "spark.sql.streaming.stateStore."
# What lies between the values of a list in RocksDB. Where a query has none pinned, Spark takes the
# first (`OffsetSeqMetadata.relevantSQLConfDefaultValues`, 4.2), whatever new queries have.
_MERGING, _FIRST_MERGING = f"{_OF_STORES}rocksdb.mergeOperatorVersion", "1"
_ENCODING, _AVRO = f"{_OF_STORES}encodingFormat", "avro"
_NOTHING = '{"type":"struct","fields":[]}'


class RocksDBConverter(Converter):
    """Carries the stores of a query from RocksDB, or to it if they are not there.

    Args:
        checkpoint: the checkpoint, which is only read.
        spark: Spark's RocksDB provider.
        work: a local folder, which holds one store in both forms at a time.
    """

    def __init__(self, checkpoint: Checkpoint, spark: SparkState, work: Path) -> None:
        super().__init__(checkpoint, work)
        self._spark = spark
        self._records = work / "records"
        self._known: dict[tuple[int, str], FamilyDefinitions] = {}

    def carry(self, store: StoreFiles, folder: Path) -> int:
        """Write a store's files below a folder, compare its rows and return their number."""
        from_rocksdb = self._checkpoint.settings.provider_class == ROCKSDB
        if self._checkpoint.in_families(store.operator_id, store_name=store.name):
            carry = self._families_from_rocksdb if from_rocksdb else self._families_to_rocksdb
        else:
            carry = self._from_rocksdb if from_rocksdb else self._to_rocksdb
        return carry(store, folder)

    def _from_rocksdb(self, store: StoreFiles, folder: Path) -> int:
        self._read_copy(store, self._described(store))
        return self.write_snapshot(store, folder, self._rows_from_spark())

    def _to_rocksdb(self, store: StoreFiles, folder: Path) -> int:
        before, after = Fingerprint(), Fingerprint()
        rows = self._checkpoint.read_bytes(store, self.version)
        with self._records.open("wb") as out:
            for records in before.watch(records for _, records in rows):
                out.write(encode(records, row_checksums=False)[0])
            out.write(END_MARKER)
        self._write_and_read(store, folder, self._described(store))
        for records in self._rows_from_spark():
            after.add(records)
        return self.require_same(store, before, after)

    def _families_from_rocksdb(self, store: StoreFiles, folder: Path) -> int:
        definitions = self._definitions(store)
        self._read_copy(store, self._in_families(store, definitions.all()))
        values, settings = self._values(), self._checkpoint.settings
        families = with_rows(definitions, values)
        made = self.snapshot_of(store, folder)
        before = write_family_snapshot(Location.of(str(made)), settings, families, values)
        version = FamilyVersion([state_file(made, self.version)])
        return self.require_same(store, before, version_fingerprint(version, store=str(store)))

    def _families_to_rocksdb(self, store: StoreFiles, folder: Path) -> int:
        version = FamilyVersion(store.chain(self.version))
        before = write_values(self._records, version)
        self._write_and_read(store, folder, self._in_families(store, version.families))
        return self.require_same(
            store, before, values_fingerprint(self._values(), version.families)
        )

    def _read_copy(self, store: StoreFiles, described: SparkStore) -> None:
        copy = self._work / "copy"
        copy_in_format_1(self._checkpoint, store, self.version, copy / str(store))
        self._spark.read(replace(described, state_folder=str(copy)), self._records)
        shutil.rmtree(copy)

    def _write_and_read(self, store: StoreFiles, folder: Path, described: SparkStore) -> None:
        (folder / str(store)).mkdir(parents=True)
        described = replace(described, state_folder=str(folder))
        self._spark.write(described, self._records)
        self._spark.read(described, self._records)

    def _values(self) -> StateFile:
        return state_file(self._records, self.version)

    def _rows_from_spark(self) -> Iterator[Records]:
        return read_records(self._values(), codec=None, row_checksums=False)

    def _definitions(self, store: StoreFiles) -> FamilyDefinitions:
        kind = store.operator_id, store.name
        if kind not in self._known:
            self._known[kind] = family_definitions(self._checkpoint, kind[0], store_name=kind[1])
        return self._known[kind]

    def _in_families(self, store: StoreFiles, families: Families) -> SparkStore:
        settings = self._settings()
        numbered = settings.get(_ENCODING) == _AVRO
        history = self._definitions(store).history if numbered else {}
        return replace(
            self._store(store, settings),
            families=spark_families(families, history, store=str(store), numbered=numbered),
        )

    def _described(self, store: StoreFiles) -> SparkStore:
        schema = self.row_schema(store)
        kinds = self._checkpoint.operator(store.operator_id).stores
        return replace(
            self._store(store, self._settings()),
            key_schema=without_classes(schema.key_json),
            value_schema=without_classes(schema.value_json),
            prefix_columns=max(
                (kind.prefix_columns for kind in kinds if kind.name == store.name), default=0
            ),
        )

    def _store(self, store: StoreFiles, settings: Mapping[str, str]) -> SparkStore:
        return SparkStore(
            state_folder="",
            operator_id=store.operator_id,
            partition_id=store.partition_id,
            store_name=store.name,
            version=self.version,
            key_schema=_NOTHING,
            value_schema=_NOTHING,
            prefix_columns=0,
            settings=settings,
        )

    def _settings(self) -> dict[str, str]:
        """Return what the provider goes by, with no class that the checkpoint names."""
        settings = self._checkpoint.settings
        path = str(self._checkpoint.location / "offsets")
        conf = {name: value for name, value in settings.conf.items() if name.startswith(_OF_STORES)}
        pinned = {CODEC: short_name(settings.codec, path=path), PROVIDER_CLASS: ROCKSDB}
        return {_MERGING: _FIRST_MERGING, **conf, **pinned}
