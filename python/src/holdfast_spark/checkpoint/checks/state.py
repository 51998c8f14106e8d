"""The state files, read to the last record, store after store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.family_files import FamilyStoreFiles
from holdfast_spark.checkpoint.checks.lost_schemas import PlacedRows, misplaced_schema
from holdfast_spark.checkpoint.checks.needed import chain_of
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.rows import FileRows, StoreRows
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    DamagedRowError,
    GoneFileError,
    MissingSchemaError,
    NewerFileError,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS
from holdfast_spark.checkpoint.files.numbers import LARGEST_INT, whole_number
from holdfast_spark.checkpoint.files.operators import Operator, unknown_operator
from holdfast_spark.checkpoint.files.schema_file import (
    DEFAULT_COLUMN_FAMILY,
    ColumnFamily,
    read_schema_file,
)
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.supposed_placement import Support, placements


def all_files(store: StoreFiles) -> tuple[StateFile, ...]:
    """Return the files of a store, with those of attempts that did not count."""
    return (*store.files, *store.others)


class StateReader:
    """Reads the files of one store after the other; for one thread.

    Args:
        subject: the checkpoint.
        checkpoint: what can be read of it.
        on_file: called after each file with the number of files read and of all files.
    """

    def __init__(
        self, subject: Subject, checkpoint: Checkpoint, on_file: Callable[[int, int], None]
    ) -> None:
        self._subject = subject
        self._checkpoint = checkpoint
        self._on_file = on_file
        self._done = 0
        self._all = sum(len(all_files(store)) for store in checkpoint.stores)
        # Files that a query that runs has removed since they were listed.
        self.gone: set[Location] = set()
        self._schema = cache(self._read_schema)
        self._kind = cache(self._find_kind)

    def read(self, store: StoreFiles) -> tuple[int, list[Problem]]:
        """Read a store; return the number of records, and the files that are not right.

        Those that are gone meanwhile are in `gone`.

        Raises:
            NewerFileError: a newer Holdfast has written a file.
        """
        read = self._reader(store)
        count, problems = 0, []
        for file in all_files(store):
            try:
                if found := self._read_if_there(read, file):
                    count += found.records
                    self._weigh(store, file, found)
            except DamagedRowError as error:
                problems.append(self._unseen(store, file, error))
            except NewerFileError:
                raise  # of which nothing can be said, and nothing may be done
            except CheckpointError as error:
                problems.append(_problem(file, error))
            self._done += 1
            self._on_file(self._done, self._all)
        return count, problems

    def _read_if_there(
        self, read: Callable[[StateFile], FileRows], file: StateFile
    ) -> FileRows | None:
        """Read a file; None where it is gone. A query removes its checksums before it."""
        try:
            return read(file)
        except GoneFileError:
            if file.checksums:
                return self._read_if_there(read, file.without_checksums)
            if file.location.is_there():
                raise  # as a link that leads nowhere
            self.gone.add(file.location)
            return None

    def _reader(self, store: StoreFiles) -> Callable[[StateFile], FileRows]:
        """Return what reads one file of a store after the other."""
        if in_families(self._checkpoint, store):
            files = FamilyStoreFiles(self._operator(store.operator_id), store.partition_id)
            committed = {file.location for file in store.files}
            return lambda file: files.read(
                file, self._partitions(file, store), is_committed=file.location in committed
            )
        rows = StoreRows(
            partition_id=store.partition_id,
            schema=self._schema(store.operator_id, store.name),
            placements=self._kind(store.operator_id, store.name).placements,
        )
        settings = self._checkpoint.settings
        return lambda file: rows.read(file, settings, self._partitions(file, store))

    def misplaced(self, store: StoreFiles) -> list[Problem]:
        """Return the files of a store with rows of another partition, when all have been read."""
        kind = self._kind(store.operator_id, store.name)
        place = self._place(store.operator_id, kind)
        if place is None:
            return []
        return [
            self._unseen(store, file, error)
            for file in all_files(store)
            if (error := kind.misplaced.get((file.location, place)))
        ]

    def has_schema(self, operator_id: int, name: str) -> bool:
        """Tell whether the rows of an operator's stores of a name can be told apart by columns."""
        store = StoreFiles(operator_id=operator_id, partition_id=0, name=name, files=())
        families = in_families(self._checkpoint, store)  # whose files have the schemas
        return families or self._schema(operator_id, name) is not None

    def placed(self, operator_id: int, name: str) -> PlacedRows:
        """Return what is known of where rows lie, when all have been read."""
        kind = self._kind(operator_id, name)
        place = self._place(operator_id, kind)
        are_right = place is not None and all(which != place for _, which in kind.misplaced)
        several = self._count(operator_id) > 1
        return PlacedRows(
            are_right=are_right, may_be_wrong=several and kind.has_rows and place is None
        )

    def _place(self, operator_id: int, kind: _Kind) -> int | None:
        """Return which of the placements is the right one; None where none is known to be."""
        number = self._checkpoint.settings.shuffle_partitions or self._count(operator_id)
        supports = enumerate(kind.supports)
        return next((n for n, each in supports if kind.is_known or each.is_enough(number)), None)

    def _weigh(self, store: StoreFiles, file: StateFile, found: FileRows) -> None:
        if not found.records:
            return
        kind = self._kind(store.operator_id, store.name)
        kind.has_rows = True
        for place, (support, error) in enumerate(zip(kind.supports, found.misplaced, strict=True)):
            support.add(file.location, found.keys, fits=error is None)
            if error:
                kind.misplaced[file.location, place] = error

    def _unseen(self, store: StoreFiles, file: StateFile, error: DamagedRowError) -> Problem:
        """Return a problem that Spark does not see."""
        return _problem(file, error, stops=file in chain_of(store, self._subject.next_batch))

    def _read_schema(self, operator_id: int, name: str) -> ColumnFamily | None:
        try:
            return self._checkpoint.row_schema(operator_id, store_name=name)
        except MissingSchemaError:
            return self._read_misplaced_schema(operator_id, name)
        except CheckpointError:
            return None  # which has its own check

    def _read_misplaced_schema(self, operator_id: int, name: str) -> ColumnFamily | None:
        """Return a schema that lies with another partition; there is none before Spark 3.1."""
        file = misplaced_schema(self._subject, operator_id, name)
        if file is None:
            return None
        try:
            families = read_schema_file(file).column_families
        except CheckpointError:
            return None  # which has its own check
        return families[DEFAULT_COLUMN_FAMILY] if [*families] == [DEFAULT_COLUMN_FAMILY] else None

    def _operator(self, operator_id: int) -> Operator:
        try:
            return self._checkpoint.operator(operator_id)
        except CheckpointError:  # which has its own check
            return unknown_operator(operator_id)

    def _find_kind(self, operator_id: int, name: str) -> _Kind:
        store = StoreFiles(operator_id=operator_id, partition_id=0, name=name, files=())
        if in_families(self._checkpoint, store):
            return _Kind((), is_known=True, supports=1)
        schema = self._schema(operator_id, name)
        if schema is None:
            return _Kind((), is_known=False)
        operator = self._operator(operator_id)
        conf = self._checkpoint.settings.conf
        found, is_known = placements(operator, store_name=name, key=schema.key, conf=conf)
        return _Kind(found, is_known=is_known)

    def _partitions(self, file: StateFile, store: StoreFiles) -> set[int]:
        """Return how many partitions a file may be of.

        A batch makes the version behind its number, with the partitions that it pins; a change by
        Holdfast that of the next batch, with those that the next one pins. What fits the newest
        number is where the query looks for it. Before Spark 2.3 nothing was pinned, and the state
        alone tells.
        """
        logs = self._subject.readable_offsets
        confs = (logs[b].conf or {} for b in (file.version - 1, file.version) if b in logs)
        pinned = {whole_number(str(conf.get(SHUFFLE_PARTITIONS)), LARGEST_INT) for conf in confs}
        newest = self._checkpoint.settings.shuffle_partitions or self._count(store.operator_id)
        return {number for number in (*pinned, newest) if number}

    def _count(self, operator_id: int) -> int:
        stores = (s for s in self._checkpoint.stores if s.operator_id == operator_id)
        return max((store.partition_id + 1 for store in stores), default=0)


class _Kind:
    """The stores of one name of an operator: where their rows may belong, and what bears it out."""

    def __init__(
        self, found: Sequence[Placement], *, is_known: bool, supports: int | None = None
    ) -> None:
        self.placements = found
        self.is_known = is_known
        self.has_rows = False
        self.supports: list[Support[Location]] = [
            Support() for _ in range(len(found) if supports is None else supports)
        ]
        self.misplaced: dict[tuple[Location, int], DamagedRowError] = {}


def in_families(checkpoint: Checkpoint, store: StoreFiles) -> bool:
    """Tell whether a store keeps its rows in column families; False where nothing tells."""
    try:
        return checkpoint.in_families(store.operator_id, store_name=store.name)
    except CheckpointError:
        return False  # metadata that cannot be read has its own check


def _problem(file: StateFile, error: CheckpointError, *, stops: bool | None = None) -> Problem:
    return Problem(location=file.location, kind="state file", error=str(error), stops=stops)
