"""The stateful operators of a checkpoint, their stores and their schemas."""

from __future__ import annotations

import contextlib
from functools import cached_property, partial
from itertools import islice

from holdfast_spark._text import options_text
from holdfast_spark.checkpoint.batches import Batches
from holdfast_spark.checkpoint.column_families import why_in_column_families
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    MissingSchemaError,
    MissingVersionError,
    NoSuchStoreError,
    RocksDBStateError,
    UnknownProviderError,
    UnsupportedProviderError,
)
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import kept_state
from holdfast_spark.checkpoint.files.lineage import committed_files, committed_id
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import StateIds, batch_ids, read_state_ids
from holdfast_spark.checkpoint.files.operators import (
    UNKNOWN_OPERATOR,
    Operator,
    read_operator,
    unknown_operator,
)
from holdfast_spark.checkpoint.files.providers import PROVIDERS
from holdfast_spark.checkpoint.files.schema_file import (
    DEFAULT_COLUMN_FAMILY,
    ColumnFamily,
    StateSchema,
    read_schema_file,
)
from holdfast_spark.checkpoint.files.state_files import (
    DEFAULT_STORE,
    StateFile,
    StoreFiles,
    as_ranges,
    group_by_store,
)
from holdfast_spark.checkpoint.rows.blocks import is_in_families
from holdfast_spark.checkpoint.rows.codecs import short_name


class Stores(Batches):
    """What the state of a query is in; the part of `Checkpoint` for that."""

    def __init__(
        self, location: Location, *, planned: tuple[int, ...], committed: tuple[int, ...]
    ) -> None:
        super().__init__(location, planned=planned, committed=committed)
        self._state_ids: dict[int, StateIds] = {}
        self._is_readable = False
        self._in_families: dict[tuple[int, str], bool] = {}

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """The stateful operators, by their number; none in a query without state."""
        state = self.location / "state"
        numbers = [number for number in self._numbers if number not in self.empty_operators]
        return tuple(read_operator(state / number, batch_id=None) for number in numbers)

    @cached_property
    def empty_operators(self) -> tuple[int, ...]:
        """The numbers that a folder for an operator has, and no file in it, ascending.

        Whether there is an operator of that number, they do not tell.
        """
        state = self.location / "state"
        held = {state.below(entry.path).partition("/")[0] for entry in self.state_entries}
        return tuple(number for number in self._numbers if str(number) not in held)

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        """The numbers of the folders for operators."""
        return batch_ids(self.location / "state")

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
                self.committed_version,
                partial(self.state_id, store),
            )
            for store in found
        )

    @cached_property
    def live_stores(self) -> tuple[StoreFiles, ...]:
        """The stores without those that the query no longer has.

        Their partition is none of the number that the newest batch pins, which Spark obeys,
        whatever the metadata of the operator says: a repartitioning to fewer partitions left them
        behind. Or their name is none of those that the metadata has. And the version that the query
        starts from cannot be put together from their files: a delta of it alone is what a run from
        before the repartitioning has left, whose earlier files were moved away.
        """
        if not self.committed:
            return self.stores
        version = self.committed_version
        partitions = self.settings.shuffle_partitions
        names = self._names_of_stores()

        def is_wanted(store: StoreFiles) -> bool:
            known = names.get(store.operator_id)
            return (partitions is None or store.partition_id < partitions) and (
                not known or store.name in known
            )

        return tuple(
            store for store in self.stores if is_wanted(store) or version in store.versions
        )

    @property
    def live_names(self) -> list[tuple[int, str]]:
        """Operator and name of these stores, each once and in order."""
        return sorted({(store.operator_id, store.name) for store in self.live_stores})

    def _names_of_stores(self) -> dict[int, set[str]]:
        """Return the names of each operator's stores, as far as its metadata tells."""
        with contextlib.suppress(CheckpointError):  # which has its own check
            return {
                operator.operator_id: {kind.name for kind in operator.stores}
                for operator in self.operators
            }
        return {}

    def stores_at(self, version: int) -> tuple[StoreFiles, ...]:
        """Return the stores that have state at a version, or would have if it were not lost."""
        live = {str(store) for store in self.live_stores}
        return tuple(s for s in self.stores if str(s) in live or version in s.versions)

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
        self,
        operator_id: int,
        *,
        store_name: str = DEFAULT_STORE,
        version: int | None = None,
        partition: int | None = None,
    ) -> list[StoreFiles]:
        """Return the stores of that name, one for each partition or for the one asked for.

        Args:
            operator_id: the operator.
            store_name: the name.
            version: leave out partitions that the query did not have at this version, as those of
                an earlier number of them; none for None.
            partition: this partition alone.

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
            choose = f"Choose one with {options_text('store_name')}"
            advice = f"{choose}." if store_name == DEFAULT_STORE else None
            if advice and side_store("left") in known:
                advice = (
                    f"{choose}; holdfast show has the rows of a side, too, with "
                    f"{options_text('join_side')}."
                )
            raise NoSuchStoreError(
                what="store", name=store_name, path=path, known=known, advice=advice
            )
        if partition is None and version is not None:
            there = {str(store) for store in self.stores_at(version)}
            return [store for store in named if str(store) in there] or named
        chosen = [store for store in named if partition in (None, store.partition_id)]
        if not chosen:
            known_ids = [store.partition_id for store in named]
            raise NoSuchStoreError(what="partition", name=partition, path=path, known=known_ids)
        return chosen

    def chain(self, store: StoreFiles, version: int) -> tuple[StateFile, ...]:
        """Return the files that make a version of a store; `StoreFiles.chain` tells of them.

        Raises:
            MissingVersionError: a file is missing, perhaps since a change of the checkpoint.
            UnreadablePathError: the file system refuses to tell.
        """
        try:
            return store.chain(version)
        except MissingVersionError:
            kept = kept_state(self.location) if version < min(store.versions, default=0) else None
            if kept is None:
                raise
            raise MissingVersionError(
                store=str(store),
                version=version,
                missing=f"it is the state after batch {version - 1}, and a change of the "
                f"checkpoint has put the files of earlier batches than {min(store.versions) - 1} "
                f"into {kept}",
                readable=as_ranges(store.versions),
            ) from None

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
        return self.schema_files(operator_id, store_name=store_name)[-1]

    def schema_files(
        self, operator_id: int, *, store_name: str = DEFAULT_STORE
    ) -> tuple[Location, ...]:
        """Return where the schemas are that an operator's stores of that name have had.

        Those of column families are in files of their own, the oldest first.

        Raises:
            NoSuchStoreError: there is no such operator.
            MalformedFileError: the metadata of an operator is damaged.
        """
        folder = self.location / "state" / operator_id
        for store in self.operator(operator_id).stores:
            if store.name == store_name and store.schema_files:
                names = (file.partition("/_stateSchema/")[2] for file in store.schema_files)
                return tuple(folder / "_stateSchema" / name for name in names)
        of_first = folder / 0 if store_name == DEFAULT_STORE else folder / 0 / store_name
        return (of_first / "_metadata" / "schema",)

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

    def in_families(self, operator_id: int, *, store_name: str = DEFAULT_STORE) -> bool:
        """Tell whether stores keep their rows in column families.

        The operator's metadata tells; where none can be read, the newest file of one of them does.

        Raises:
            NoSuchStoreError: there is no such operator.
            CheckpointError: that file cannot be read.
        """
        wanted = operator_id, store_name
        if wanted not in self._in_families:
            operator = unknown_operator(operator_id)
            with contextlib.suppress(MalformedFileError):
                operator = self.operator(operator_id)
            if operator.name != UNKNOWN_OPERATOR:
                found = why_in_column_families(operator, self.settings) is not None
            else:
                ours = (s for s in self.stores if (s.operator_id, s.name) == wanted and s.files)
                found = any(is_in_families(store.files[-1]) for store in islice(ours, 1))
            self._in_families[wanted] = found
        return self._in_families[wanted]

    def require_one_family(self, operator_id: int, *, store_name: str = DEFAULT_STORE) -> None:
        """Check that stores have one column family, as all have that were made before Spark 3.1.

        Raises:
            UnsupportedProviderError: they have several, which this library does not read.
            CheckpointError: their schema file is damaged, or there is no such operator.
        """
        with contextlib.suppress(MissingSchemaError):
            self.row_schema(operator_id, store_name=store_name)

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
        return RocksDBStateError(path=str(self.location))


def side_store(side: str) -> str:
    """Return the store that has the rows of a side of a join."""
    return f"{side}-keyWithIndexToValue"
