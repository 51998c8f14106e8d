"""State carried to other files: one snapshot of each store, read again and compared.

Of each store the version that the query goes on from is carried. Key and value of a row are the
same bytes with every provider and in every format of checkpoints: what differs is where they lie.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import ConversionError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.rows.encoding import encode, writing_snapshot
from holdfast_spark.checkpoint.rows.fingerprint import Fingerprint
from holdfast_spark.checkpoint.rows.records import Records, read_records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder
from holdfast_spark.checkpoint.rows.values import decode_values


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedStore:
    """The new files of a store, in a local folder.

    Attributes:
        folder: the folder `state` that they lie below.
        rows: number of rows in them.
    """

    folder: Path
    rows: int


class Converter(ABC):
    """Carries one store after the other.

    Args:
        checkpoint: the checkpoint, which is only read.
        work: a local folder, which holds one store in both forms at a time.

    Attributes:
        version: the version that is carried.
    """

    def __init__(self, checkpoint: Checkpoint, work: Path) -> None:
        self.version = checkpoint.newest_committed + 1
        self._checkpoint = checkpoint
        self._work = work

    def run(self) -> Iterator[ConvertedStore]:
        """Yield each store; its files are there until the next one is asked for.

        Raises:
            ConversionError: the rows that came out are not those that went in.
            SparkStateError: Spark cannot read or write a store.
            CheckpointError: the checkpoint cannot be read.
        """
        for store in self._checkpoint.live_stores:
            folder = self._work / "made"
            yield ConvertedStore(folder=folder, rows=self.carry(store, folder))
            shutil.rmtree(folder)

    @abstractmethod
    def carry(self, store: StoreFiles, folder: Path) -> int:
        """Write a store's files below a folder, compare its rows and return their number."""

    def snapshot_of(self, store: StoreFiles, folder: Path) -> Path:
        """Return where the snapshot of a store comes to lie, in checkpoint format 1."""
        return folder / str(store) / f"{self.version}.snapshot"

    def row_schema(self, store: StoreFiles) -> ColumnFamily:
        """Return the schema of the rows of a store without column families."""
        return self._checkpoint.row_schema(store.operator_id, store_name=store.name)

    def write_snapshot(self, store: StoreFiles, folder: Path, rows: Iterable[Records]) -> int:
        """Write rows as a snapshot of checkpoint format 1, and read them again."""
        settings, schema = self._checkpoint.settings, self.row_schema(store)
        before, after = Fingerprint(), Fingerprint()
        made = self.snapshot_of(store, folder)
        with writing_snapshot(Location.of(str(made)), settings) as snapshot:
            for records in before.watch(rows):
                snapshot.write(encode(records, row_checksums=settings.row_checksums)[0])
        file = state_file(made, self.version)
        pieces = read_records(file, codec=settings.codec, row_checksums=settings.row_checksums)
        for records in after.watch(pieces):
            decoder = RowDecoder(records.memory, where=str(store))
            decoder.rows(schema.key, records.key_starts, records.key_lengths)
            decode_values(decoder, schema.value, records)
        return self.require_same(store, before, after)

    def require_same(self, store: StoreFiles, before: Fingerprint, after: Fingerprint) -> int:
        """Check that rows came out as they went in; return their number.

        Raises:
            ConversionError: they did not.
        """
        if before != after:
            raise ConversionError(
                f"The store {store} of {self._checkpoint.location} came out different: "
                f"{counted(before.rows, 'row')} went in, and {counted(after.rows, 'row')}, or "
                "other ones, came out. Nothing was changed; please report this."
            )
        return after.rows


class ToFormat1(Converter):
    """Carries delta and snapshot files of checkpoint format 2 to one snapshot of format 1."""

    def carry(self, store: StoreFiles, folder: Path) -> int:
        """Write a store's snapshot below a folder, compare its rows and return their number."""
        rows = self._checkpoint.read_bytes(store, self.version)
        return self.write_snapshot(store, folder, (records for _, records in rows))


def state_file(path: Path, version: int) -> StateFile:
    """Return a local file as what holds the records of a version."""
    return StateFile(
        location=Location.of(str(path)),
        kind="snapshot",
        version=version,
        size_bytes=path.stat().st_size,
        modified=None,
    )
