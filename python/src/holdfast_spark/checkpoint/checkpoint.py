"""The checkpoint of a streaming query, read without Spark."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from os import PathLike
from typing import Any

import pyarrow as pa

from holdfast_spark._operator_names import plain_name
from holdfast_spark.checkpoint.column_families import any_in_column_families
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    LostOffsetsError,
    MissingSchemaError,
    NoBatchError,
    NoSuchStoreError,
    NotACheckpointError,
    NotAJoinError,
    RocksDBStateError,
    UnknownProviderError,
    UnsupportedProviderError,
)
from holdfast_spark.checkpoint.files.journals import standing_fences
from holdfast_spark.checkpoint.files.lineage import committed_files, committed_id
from holdfast_spark.checkpoint.files.location import Entry, Location
from holdfast_spark.checkpoint.files.logs import (
    Batch,
    PinnedSettings,
    StateIds,
    batch_ids,
    read_batch,
    read_state_ids,
)
from holdfast_spark.checkpoint.files.operators import Operator, read_operator
from holdfast_spark.checkpoint.files.providers import PROVIDERS
from holdfast_spark.checkpoint.files.schema_file import (
    DEFAULT_COLUMN_FAMILY,
    ColumnFamily,
    StateSchema,
    read_schema_file,
)
from holdfast_spark.checkpoint.files.spark_types import AtomicType, StructField
from holdfast_spark.checkpoint.files.state_files import (
    DEFAULT_STORE,
    StateFile,
    StoreFiles,
    group_by_store,
)
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.arrow import arrow_type
from holdfast_spark.checkpoint.rows.codecs import short_name
from holdfast_spark.checkpoint.rows.guess import guess_schema
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder
from holdfast_spark.checkpoint.rows.values import decode_values

# Pieces of some megabytes; a few tell the number of fields.
_GUESSED_FROM = 64
_COLUMNS = ["partition_id", "key", "value"]


class Checkpoint:
    """The checkpoint of a streaming query.

    It shows what the file system had when each part was first asked for; open it again to see a
    later state. Nothing in it is ever changed. For one thread.

        from holdfast_spark.checkpoint import Checkpoint

        checkpoint = Checkpoint.open("/data/checkpoints/clicks")
        for rows in checkpoint.read(operator_id=0):
            print(rows.to_pylist())

    Attributes:
        location: where it is.
        planned: the batches in `offsets/`, ascending.
        committed: the batches in `commits/`, ascending; all but the newest one in checkpoints of
            Spark 2.1, which had no such log and ran the newest one again.
    """

    def __init__(
        self, location: Location, *, planned: tuple[int, ...], committed: tuple[int, ...]
    ) -> None:
        self.location = location
        self.planned = planned
        self.committed = committed
        self._state_ids: dict[int, StateIds] = {}
        self._is_readable = False

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, storage_options: Mapping[str, Any] | None = None
    ) -> Checkpoint:
        """Open a checkpoint.

        Args:
            path: what the query has as `checkpointLocation`: a local path or a URL of any file
                system that fsspec knows.
            storage_options: what fsspec gives to the file system, such as credentials.

        Raises:
            NotACheckpointError: there is no checkpoint.
            LostOffsetsError: there is one, and its log of planned batches is gone.
            UnreadablePathError: the file system refuses the path.
        """
        location = Location.of(path, storage_options=storage_options)
        logs = {name: batch_ids(location / name) for name in ("offsets", "commits")}
        for log, _, batch in (name.partition("/") for name in standing_fences(location)):
            logs[log] = tuple(number for number in logs[log] if str(number) != batch)
        planned, committed = logs["offsets"], logs["commits"]
        if not planned:
            names = location.names()
            if committed or {"metadata", "state"} <= set(names):
                raise LostOffsetsError(path=str(location / "offsets"))
            raise NotACheckpointError(path=str(path), found=_what_is_there(location))
        if not committed and _is_before_commits(location, planned[-1]):
            committed = planned[:-1]
        return cls(location, planned=planned, committed=committed)

    def batch(self, batch_id: int | None = None) -> Batch:
        """Return a batch as it was planned, the newest for None.

        Raises:
            NoBatchError: there is no such batch.
            MalformedFileError: its offsets file is damaged.
        """
        wanted = self.planned[-1] if batch_id is None else batch_id
        if wanted not in self.planned:
            raise self._no_batch(wanted)
        return read_batch(self.location / "offsets" / wanted)

    def version_after(self, batch_id: int | None) -> int:
        """Return the version that state has after a batch, the newest committed one for None.

        Raises:
            NoBatchError: the query has not come to that batch, or has not committed any.
        """
        if batch_id is not None and batch_id > self.planned[-1]:
            raise self._no_batch(batch_id)
        return (self.newest_committed if batch_id is None else batch_id) + 1

    def _no_batch(self, batch_id: int) -> NoBatchError:
        return NoBatchError(
            f"{self.location} has no batch {batch_id}: it has the batches {self.planned[0]} to "
            f"{self.planned[-1]}."
        )

    @cached_property
    def settings(self) -> PinnedSettings:
        """The settings that the query is bound to: those of its newest batch."""
        return self.batch().settings

    @property
    def newest_committed(self) -> int:
        """The newest batch that is through.

        Raises:
            NoBatchError: no batch is.
        """
        if not self.committed:
            raise NoBatchError(
                f"{self.location} has no committed batch: the query has not finished its first one."
            )
        return self.committed[-1]

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """The stateful operators, by their number; none in a query without state."""
        state = self.location / "state"
        numbers = sorted(int(name) for name in state.names() if name.isdecimal())
        return tuple(read_operator(state / number, batch_id=None) for number in numbers)

    def operator(self, operator_id: int) -> Operator:
        """Return an operator.

        Raises:
            NoSuchStoreError: there is none of that number.
        """
        for operator in self.operators:
            if operator.operator_id == operator_id:
                return operator
        raise NoSuchStoreError(
            what="stateful operator",
            name=operator_id,
            path=str(self.location),
            known=[operator.operator_id for operator in self.operators],
        )

    @cached_property
    def state_entries(self) -> tuple[Entry, ...]:
        """All files below `state`, from one listing."""
        return tuple((self.location / "state").files())

    @cached_property
    def stores(self) -> tuple[StoreFiles, ...]:
        """The state stores of all operators and partitions, with their files.

        In checkpoint format 2 the commit log says which files count. Those of RocksDB, whose names
        do not tell what they are based on, are all taken.

        Raises:
            MalformedFileError: a commit file of checkpoint format 2 is damaged.
        """
        found = group_by_store(self.location / "state", self.state_entries)
        return tuple(
            store
            if store.is_rocksdb or not store.has_unique_ids
            else committed_files(
                store,
                self.committed[-1] + 1 if self.committed else 0,
                partial(self.state_id, store),
            )
            for store in found
        )

    def state_id(self, store: StoreFiles, version: int) -> str | None:
        """Return the id that the commit log has of a store's version; None in checkpoint format 1.

        Raises:
            MalformedFileError: the commit file is damaged.
        """
        batch = version - 1
        if batch not in self.committed:
            return None
        if batch not in self._state_ids:
            self._state_ids[batch] = read_state_ids(self.location / "commits" / batch)
        return committed_id(store, self._state_ids[batch])

    def stores_of(
        self, operator_id: int, *, store_name: str = DEFAULT_STORE, partition: int | None = None
    ) -> list[StoreFiles]:
        """Return the stores of that name, one for each partition or for the one asked for.

        Raises:
            NoSuchStoreError: there is no such operator, store or partition.
        """
        self.require_readable()
        path = str(self.location / "state" / operator_id)
        self.operator(operator_id)
        ours = [store for store in self.stores if store.operator_id == operator_id]
        named = [store for store in ours if store.name == store_name]
        if not named:
            known = sorted({store.name for store in ours})
            advice = "Choose one with --store-name." if store_name == DEFAULT_STORE else None
            if advice and _side_store("left") in known:
                advice = "Choose one with --store-name, or the rows of a side with --join-side."
            raise NoSuchStoreError(
                what="store", name=store_name, path=path, known=known, advice=advice
            )
        chosen = [store for store in named if partition in (None, store.partition_id)]
        if not chosen:
            known_ids = [store.partition_id for store in named]
            raise NoSuchStoreError(what="partition", name=partition, path=path, known=known_ids)
        return chosen

    def schema(self, operator_id: int, *, store_name: str = DEFAULT_STORE) -> StateSchema:
        """Return the schema of an operator's stores of that name.

        Raises:
            NoSuchStoreError: there is no such operator.
            MissingSchemaError: there is no schema file.
            MalformedFileError: it is damaged.
            UnknownFormatError: it has a version or a type that is unknown.
        """
        file = self.schema_file(operator_id, store_name=store_name)
        if not file.exists():
            raise MissingSchemaError(path=str(file))
        return read_schema_file(file)

    def schema_file(self, operator_id: int, *, store_name: str = DEFAULT_STORE) -> Location:
        """Return where the schema of an operator's stores of that name is, or would be.

        Raises:
            NoSuchStoreError: there is no such operator.
            MalformedFileError: the metadata of an operator is damaged.
        """
        folder = self.location / "state" / operator_id / 0
        if store_name != DEFAULT_STORE:
            folder /= store_name
        file = folder / "_metadata" / "schema"
        for store in self.operator(operator_id).stores:
            if store.name == store_name and store.schema_files:
                name = store.schema_files[-1].partition("/_stateSchema/")[2]
                file = self.location / "state" / operator_id / "_stateSchema" / name
        return file

    def read(
        self,
        *,
        operator_id: int = 0,
        store_name: str = DEFAULT_STORE,
        batch_id: int | None = None,
        partition: int | None = None,
        schema: ColumnFamily | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows that an operator's stores have after a batch.

        The memory in use is that of some megabytes of rows, and of the changes in the delta files
        behind a snapshot.

        Args:
            operator_id: the operator.
            store_name: the store; operators with several have them named.
            batch_id: the batch, the newest committed one for None.
            partition: one partition only.
            schema: the schema of the rows; None for that in the store's schema file, or, where
                there is none, as before Spark 3.1, for one that the bytes tell (`rows.guess`).

        Yields:
            Rows in no particular order: columns `partition_id`, `key` and `value`, the latter two
            structs as the schema has them. If there are no rows, none of them once.

        Raises:
            CheckpointError: what is asked for is not there, or is damaged.
        """
        version = self.version_after(batch_id)
        stores = self.stores_of(operator_id, store_name=store_name, partition=partition)
        if schema is None:
            schema = self._schema_or_guess(operator_id, store_name, stores, version)
        count = 0
        for store in stores:
            for rows in self.read_version(store, version, schema):
                count += len(rows)
                yield rows
        if not count:
            types = [pa.int32(), arrow_type(schema.key), arrow_type(schema.value)]
            yield pa.RecordBatch.from_arrays([pa.array([], kind) for kind in types], names=_COLUMNS)

    def read_join_side(
        self,
        side: str,
        *,
        operator_id: int = 0,
        batch_id: int | None = None,
        partition: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows that a stream-stream join keeps of one side.

        They are those of the store `<side>-keyWithIndexToValue`, without the index in the key and,
        as in Spark's source, without the column `matched` in the value.

        Args:
            side: `left` or `right`.
            operator_id: the join.
            batch_id: the batch, the newest committed one for None.
            partition: one partition only.

        Yields:
            Rows as `read` does.

        Raises:
            CheckpointError: what is asked for is not there, or is damaged.
        """
        store_name = _side_store(side)
        self._require_join(operator_id, store_name)
        self.stores_of(operator_id, store_name=store_name, partition=partition)
        pieces = self.read(
            operator_id=operator_id, store_name=store_name, batch_id=batch_id, partition=partition
        )
        schema = self.row_schema(operator_id, store_name=store_name)
        # State format version 1 has no column `matched`.
        hidden = schema.value.fields[-1] == StructField("matched", AtomicType("boolean"))
        for rows in pieces:
            key, value = rows["key"], rows["value"]
            shown = _first_fields(value, len(schema.value.fields) - hidden)
            yield pa.RecordBatch.from_arrays(
                [rows["partition_id"], _first_fields(key, len(schema.key.fields) - 1), shown],
                names=_COLUMNS,
            )

    def _require_join(self, operator_id: int, store_name: str) -> None:
        self.require_readable()
        operator = self.operator(operator_id)
        ours = {store.name for store in self.stores if store.operator_id == operator_id}
        if ours and store_name not in ours:
            raise NotAJoinError(
                path=str(self.location),
                operator_id=operator_id,
                name=plain_name(operator.name),
            )

    def row_schema(self, operator_id: int, *, store_name: str = DEFAULT_STORE) -> ColumnFamily:
        """Return the schema of key and value of stores that have one column family.

        Raises:
            UnsupportedProviderError: they have several, which this library does not read.
        """
        families = self.schema(operator_id, store_name=store_name).column_families
        if list(families) != [DEFAULT_COLUMN_FAMILY]:
            raise UnsupportedProviderError(
                path=str(self.location / "state" / operator_id),
                provider=f"{self.settings.provider_class} with column families",
            )
        return families[DEFAULT_COLUMN_FAMILY]

    def require_one_family(self, operator_id: int, *, store_name: str = DEFAULT_STORE) -> None:
        """Check that stores have one column family, as all have that were made before Spark 3.1.

        Raises:
            UnsupportedProviderError: they have several, which this library does not read.
            CheckpointError: their schema file is damaged, or there is no such operator.
        """
        with contextlib.suppress(MissingSchemaError):
            self.row_schema(operator_id, store_name=store_name)

    def _schema_or_guess(
        self, operator_id: int, store_name: str, stores: list[StoreFiles], version: int
    ) -> ColumnFamily:
        try:
            return self.row_schema(operator_id, store_name=store_name)
        except MissingSchemaError:
            pieces = (rows for store in stores for _, rows in self.read_bytes(store, version))
            guessed = guess_schema(itertools.islice(pieces, _GUESSED_FROM))
            if guessed is None:
                raise
            return guessed

    def read_bytes(self, store: StoreFiles, version: int) -> Iterator[tuple[StateFile, Records]]:
        """Read one version of one store without decoding it; `replay` tells of rows and errors.

        Raises:
            CheckpointError: the version is not there, or cannot be read.
        """
        self.require_readable()
        settings = self.settings
        chain = store.chain(version)
        return replay(chain, codec=settings.codec, row_checksums=settings.row_checksums)

    def require_readable(self) -> None:
        """Check that this library can read the state: its provider's files and its codec.

        Raises:
            UnsupportedProviderError: only the provider that wrote it can.
            UnknownFormatError: the codec is unknown.
            MalformedFileError: the newest offsets file is damaged.
        """
        if self._is_readable:
            return
        settings = self.settings
        if any(store.is_rocksdb for store in self.stores):
            raise self.rocksdb_error()
        if not self.stores and settings.provider_class not in PROVIDERS.values():
            raise UnknownProviderError(path=str(self.location), provider=settings.provider_class)
        short_name(settings.codec, path=str(self.location / "offsets" / self.planned[-1]))
        self._is_readable = True

    def rocksdb_error(self) -> RocksDBStateError:
        """Return what there is to say of state in files of Spark's RocksDB provider."""
        convertible = True
        with contextlib.suppress(CheckpointError):  # metadata that cannot be read
            convertible = not any_in_column_families(self.operators, self.settings)
        return RocksDBStateError(path=str(self.location), convertible=convertible)

    def read_version(
        self, store: StoreFiles, version: int, schema: ColumnFamily
    ) -> Iterator[pa.RecordBatch]:
        """Read one version of one store; `read` tells of rows and errors."""
        for file, records in self.read_bytes(store, version):
            decoder = RowDecoder(records.memory, where=str(file.location))
            key = decoder.rows(schema.key, records.key_starts, records.key_lengths)
            value = decode_values(decoder, schema.value, records)
            partition = pa.repeat(pa.scalar(store.partition_id, pa.int32()), len(records))
            yield pa.RecordBatch.from_arrays([partition, key, value], names=_COLUMNS)


def _side_store(side: str) -> str:
    """Return the store that has the rows of a side of a join."""
    return f"{side}-keyWithIndexToValue"


def _what_is_there(location: Location) -> str:
    """Return what is at a path that is no checkpoint, and where one is nearby."""
    if not location.exists():
        return "nothing at that path"
    if location.is_file():
        return "a file"
    if location.folder.path and batch_ids(location.folder / "offsets"):
        name = location.path.rpartition("/")[2]
        return f"the folder {name} of the checkpoint {location.folder}"
    names = sorted(location.names())
    within = [name for name in names if batch_ids(location / name / "offsets")]
    if within:
        some = ", ".join(str(location / name) for name in within[:5])
        return f"a folder with the {'checkpoints' if within[1:] else 'checkpoint'} {some}"
    return ", ".join(names[:5]) or "nothing"


def _is_before_commits(location: Location, newest: int) -> bool:
    """Tell whether Spark 2.1 or 2.2 wrote a batch: it has no settings yet."""
    try:
        return not read_batch(location / "offsets" / newest).settings.conf
    except CheckpointError:
        return False


def _first_fields(array: pa.StructArray, count: int) -> pa.StructArray:
    fields = [array.type.field(i) for i in range(count)]
    return pa.StructArray.from_arrays([array.field(i) for i in range(count)], fields=fields)
