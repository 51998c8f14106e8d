"""The state files, read to the last record, store after store."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.needed import chain_of
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.rows import StoreRows
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, DamagedRowError
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles
from holdfast_spark.checkpoint.rows.partitioning import Placement, UnknownPlacementError


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
        self._schema = cache(self._read_schema)
        self._placement = cache(self._find_placement)

    def read(self, store: StoreFiles) -> tuple[int, list[Problem]]:
        """Read a store; return the number of records, and the files that are not right."""
        rows, chain = self._rows(store), chain_of(store, self._subject.next_batch)
        count, problems = 0, []
        for file in all_files(store):
            try:
                count += rows.check(file, self._checkpoint.settings, self._partitions(file))
            except DamagedRowError as error:
                # Spark does not see it.
                problems.append(_problem(file, error, stops=file in chain))
            except CheckpointError as error:
                problems.append(_problem(file, error))
            self._done += 1
            self._on_file(self._done, self._all)
        return count, problems

    def _rows(self, store: StoreFiles) -> StoreRows:
        schema = self._schema(store.operator_id, store.name)
        placement = self._placement(store.operator_id, store.name)
        return StoreRows(
            partition_id=store.partition_id,
            schema=schema,
            placement=placement,
        )

    def _read_schema(self, operator_id: int, name: str) -> ColumnFamily | None:
        try:
            return self._checkpoint.row_schema(operator_id, store_name=name)
        except CheckpointError:
            return None  # which has its own check, or is none in checkpoints before Spark 3.1

    def _find_placement(self, operator_id: int, name: str) -> Placement | None:
        schema = self._schema(operator_id, name)
        if schema is None:
            return None
        try:
            operator = self._checkpoint.operator(operator_id)
            return Placement(operator, store_name=name, key=schema.key)
        except (CheckpointError, UnknownPlacementError):
            return None

    def _partitions(self, file: StateFile) -> set[int]:
        """Return how many partitions a file may be of.

        A batch makes the version behind its number, with the partitions that it pins; a change by
        Holdfast that of the next batch, with those that the next one pins. What fits the newest
        number is where the query looks for it.
        """
        logs = self._subject.readable_offsets
        confs = (logs[b].conf or {} for b in (file.version - 1, file.version) if b in logs)
        pinned = {int(text) for c in confs if (text := str(c.get(SHUFFLE_PARTITIONS))).isdecimal()}
        newest = self._checkpoint.settings.shuffle_partitions
        return (pinned | ({newest} if newest else set())) - {0}


def _problem(file: StateFile, error: CheckpointError, *, stops: bool | None = None) -> Problem:
    return Problem(location=file.location, kind="state file", error=str(error), stops=stops)
