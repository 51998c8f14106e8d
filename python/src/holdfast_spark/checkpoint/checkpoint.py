"""The checkpoint of a streaming query, read without Spark."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pyarrow as pa

from holdfast_spark._arguments import (
    COUNT,
    TEXT,
    Kind,
    instance,
    or_none,
    require_arguments,
    whole,
)
from holdfast_spark._operator_names import plain_name
from holdfast_spark.checkpoint.errors import MissingSchemaError, NotAJoinError, SchemaFrom
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.spark_types import AtomicType, StructField
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StateFile, StoreFiles
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.arrow import arrow_type
from holdfast_spark.checkpoint.rows.guess import guess_schema
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder
from holdfast_spark.checkpoint.rows.values import decode_values
from holdfast_spark.checkpoint.stores import Stores, side_store
from holdfast_spark.errors import WrongArgumentError

# Pieces of some megabytes; a few tell the number of fields.
_GUESSED_FROM = 64
_COLUMNS = ["partition_id", "key", "value"]
SCHEMA = instance("a schema, as schema_from_ddl returns it", ColumnFamily)
JOIN_SIDE = Kind("the join side left or right", lambda found: found in ("left", "right"))
STORE = instance("one of the stores of a Checkpoint", StoreFiles)


class Checkpoint(Stores):
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

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.location)!r})"

    @staticmethod
    def require(found: object, *, by: str) -> None:
        """Check that a function was given a checkpoint, and not its path.

        Args:
            found: what it was given.
            by: the function, such as `checkpoint.diff`.

        Raises:
            WrongArgumentError: it was not.
        """
        if not isinstance(found, Checkpoint):
            expected = "a Checkpoint, as Checkpoint.open(path) returns it"
            raise WrongArgumentError(function=by, expected=expected, found=found)

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
            batch_id: the batch, -1 for the empty state before the first; the newest committed one
                for None.
            partition: one partition only.
            schema: the schema of the rows, which is taken as it is given; None for that in the
                store's schema file, or, where there is none, as before Spark 3.1, for one that the
                bytes tell (`rows.guess`).

        Yields:
            Rows in no particular order: columns `partition_id`, `key` and `value`, the latter two
            structs as the schema has them. If there are no rows, none of them once.

        Raises:
            CheckpointError: what is asked for is not there, or is damaged.
        """
        require_arguments(
            "checkpoint.Checkpoint.read",
            operator_id=(operator_id, COUNT),
            store_name=(store_name, TEXT),
            batch_id=(batch_id, or_none(whole())),
            partition=(partition, or_none(COUNT)),
            schema=(schema, or_none(SCHEMA)),
        )
        version = self.version_after(batch_id)
        stores = self.stores_of(
            operator_id, store_name=store_name, version=version, partition=partition
        )
        schema_from: SchemaFrom = "caller"
        if schema is None:
            schema, schema_from = self._schema_or_guess(operator_id, store_name, stores, version)
        count = 0
        for store in stores:
            for rows in self._decoded(store, version, schema, schema_from):
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
            batch_id: the batch, -1 for the empty state before the first; the newest committed one
                for None.
            partition: one partition only.

        Yields:
            Rows as `read` does.

        Raises:
            WrongArgumentError: there is no such side, or an argument is something else.
            CheckpointError: what is asked for is not there, or is damaged.
        """
        require_arguments(
            "checkpoint.Checkpoint.read_join_side",
            side=(side, JOIN_SIDE),
            operator_id=(operator_id, COUNT),
            batch_id=(batch_id, or_none(whole())),
            partition=(partition, or_none(COUNT)),
        )
        store_name = side_store(side)
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

    def _schema_or_guess(
        self, operator_id: int, store_name: str, stores: list[StoreFiles], version: int
    ) -> tuple[ColumnFamily, SchemaFrom]:
        try:
            return self.row_schema(operator_id, store_name=store_name), "file"
        except MissingSchemaError:
            pieces = (rows for store in stores for _, rows in self.read_bytes(store, version))
            guessed = guess_schema(itertools.islice(pieces, _GUESSED_FROM))
            if guessed is None:
                raise
            return guessed, "guess"

    def read_bytes(self, store: StoreFiles, version: int) -> Iterator[tuple[StateFile, Records]]:
        """Read one version of one store without decoding it; `replay` tells of rows and errors.

        Raises:
            CheckpointError: the version is not there, or cannot be read.
        """
        require_arguments(
            "checkpoint.Checkpoint.read_bytes",
            store=(store, STORE),
            version=(version, COUNT),
        )
        self.require_readable()
        settings = self.settings
        chain = self.chain(store, version)
        return replay(chain, codec=settings.codec, row_checksums=settings.row_checksums)

    def read_version(
        self, store: StoreFiles, version: int, schema: ColumnFamily
    ) -> Iterator[pa.RecordBatch]:
        """Read one version of one store; `read` tells of rows and errors."""
        require_arguments(
            "checkpoint.Checkpoint.read_version",
            store=(store, STORE),
            version=(version, COUNT),
            schema=(schema, SCHEMA),
        )
        yield from self._decoded(store, version, schema, "file")

    def _decoded(
        self, store: StoreFiles, version: int, schema: ColumnFamily, schema_from: SchemaFrom
    ) -> Iterator[pa.RecordBatch]:
        for file, records in self.read_bytes(store, version):
            where = str(file.location)
            decoder = RowDecoder(records.memory, where=where, schema_from=schema_from)
            key = decoder.rows(schema.key, records.key_starts, records.key_lengths)
            value = decode_values(decoder, schema.value, records)
            partition = pa.repeat(pa.scalar(store.partition_id, pa.int32()), len(records))
            yield pa.RecordBatch.from_arrays([partition, key, value], names=_COLUMNS)


def _first_fields(array: pa.StructArray, count: int) -> pa.StructArray:
    fields = [array.type.field(i) for i in range(count)]
    return pa.StructArray.from_arrays([array.field(i) for i in range(count)], fields=fields)
