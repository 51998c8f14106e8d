"""State carried between Spark's RocksDB provider and the snapshot files of the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from holdfast_spark.checkpoint.changes.conversion import Converter, state_file
from holdfast_spark.checkpoint.changes.rocksdb_copy import copy_in_format_1
from holdfast_spark.checkpoint.changes.spark_state import SparkState, SparkStore
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.logs import CODEC, PROVIDER_CLASS
from holdfast_spark.checkpoint.files.providers import ROCKSDB
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import without_classes
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.rows.codecs import short_name
from holdfast_spark.checkpoint.rows.encoding import END_MARKER, encode
from holdfast_spark.checkpoint.rows.fingerprint import Fingerprint
from holdfast_spark.checkpoint.rows.records import Records, read_records

_OF_STORES = "spark.sql.streaming.stateStore."


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

    def carry(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> int:
        """Write a store's files below a folder, compare its rows and return their number."""
        if self._checkpoint.settings.provider_class == ROCKSDB:
            return self._from_rocksdb(store, schema, folder)
        return self._to_rocksdb(store, schema, folder)

    def _from_rocksdb(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> int:
        copy = self._work / "copy"
        copy_in_format_1(self._checkpoint, store, self.version, copy / str(store))
        self._spark.read(self._described(store, schema, copy), self._records)
        shutil.rmtree(copy)
        return self.write_snapshot(store, schema, folder, self._rows_from_spark())

    def _to_rocksdb(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> int:
        before, after = Fingerprint(), Fingerprint()
        rows = self._checkpoint.read_bytes(store, self.version)
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
        return self.require_same(store, before, after)

    def _rows_from_spark(self) -> Iterator[Records]:
        file = state_file(self._records, self.version)
        return read_records(file, codec=None, row_checksums=False)

    def _described(self, store: StoreFiles, schema: ColumnFamily, folder: Path) -> SparkStore:
        kinds = self._checkpoint.operator(store.operator_id).stores
        return SparkStore(
            state_folder=str(folder),
            operator_id=store.operator_id,
            partition_id=store.partition_id,
            store_name=store.name,
            version=self.version,
            key_schema=without_classes(schema.key_json),
            value_schema=without_classes(schema.value_json),
            prefix_columns=max(
                (kind.prefix_columns for kind in kinds if kind.name == store.name), default=0
            ),
            settings=self._settings(),
        )

    def _settings(self) -> dict[str, str]:
        """Return what the provider goes by, with no class that the checkpoint names."""
        settings = self._checkpoint.settings
        path = str(self._checkpoint.location / "offsets")
        conf = {name: value for name, value in settings.conf.items() if name.startswith(_OF_STORES)}
        return {**conf, CODEC: short_name(settings.codec, path=path), PROVIDER_CLASS: ROCKSDB}
