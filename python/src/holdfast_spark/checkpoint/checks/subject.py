"""A checkpoint as the checks see it: what its logs say, what can be read of them, all its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.repeated_batches import repeated_batches
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.location import Entry, Location
from holdfast_spark.checkpoint.files.log_entries import (
    CommitEntry,
    OffsetsEntry,
    read_commit_entry,
    read_offsets_entry,
)
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS
from holdfast_spark.checkpoint.files.numbers import LARGEST_INT, whole_number
from holdfast_spark.checkpoint.unfinished_repartition import (
    UnfinishedRepartition,
    unfinished_repartition,
)

LogEntry = TypeVar("LogEntry")
_PARTS = frozenset(("metadata", ".metadata.crc", "offsets", "commits", "sources", "state"))


@dataclass(frozen=True)
class Subject:
    """The checkpoint that is verified; for one thread.

    Attributes:
        named: the checkpoint with every batch that its logs have a file of.
    """

    named: Checkpoint

    @property
    def location(self) -> Location:
        """Where it is."""
        return self.named.location

    @cached_property
    def offsets(self) -> Mapping[int, OffsetsEntry | CheckpointError]:
        """What each offsets file says, or why it cannot be read."""
        return _read(self.location / "offsets", self.named.planned, read_offsets_entry)

    @cached_property
    def commits(self) -> Mapping[int, CommitEntry | CheckpointError]:
        """What each commit file says, or why it cannot be read."""
        there = tuple(b for b in self.named.committed if f"commits/{b}" in self.entries)
        return _read(self.location / "commits", there, read_commit_entry)

    @cached_property
    def readable_offsets(self) -> Mapping[int, OffsetsEntry]:
        """Those offsets files that can be read."""
        return {b: entry for b, entry in self.offsets.items() if isinstance(entry, OffsetsEntry)}

    @cached_property
    def readable_commits(self) -> Mapping[int, CommitEntry]:
        """Those commit files that can be read."""
        return {b: entry for b, entry in self.commits.items() if isinstance(entry, CommitEntry)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, int], ...]:
        """Batches one after the other whose offsets can be read and have to go on.

        Where Holdfast has replaced the later ones, as to go back to an earlier batch, it has kept
        the former ones. A batch that repartitions goes on from the one that it repeats.
        """
        backups = (self.location / BACKUPS).files()
        replaced = {batch for entry in backups if (batch := _offsets_in(entry.path)) is not None}
        repeated = self.repartitions
        pairs = ((repeated.get(b, a), b) for a, b in pairwise(self.readable_offsets))
        return tuple((before, after) for before, after in pairs if after not in replaced)

    @cached_property
    def repartitions(self) -> Mapping[int, int]:
        """The batches by which Spark has repartitioned the query, and the batch that each repeats.

        They have its data, its time and its watermark, and another number of partitions.
        """
        return repeated_batches(self.readable_offsets)

    @cached_property
    def given_up(self) -> frozenset[int]:
        """The batches that Spark has given up to repartition: it commits them without their state.

        Their data come again in the batches that follow.
        """
        there = {*self.named.planned, *self.named.committed}
        return frozenset(
            batch
            for after, before in self.repartitions.items()
            for batch in there
            if before < batch < after
        )

    @cached_property
    def unfinished_repartition(self) -> UnfinishedRepartition | None:
        """What Spark has begun to repartition and not finished."""
        named = self.named
        return unfinished_repartition(named.planned, named.committed, self._partitions)

    def _partitions(self, batch: int) -> int | None:
        entry = self.readable_offsets.get(batch)
        conf = (entry.conf or {}) if entry else {}
        return whole_number(str(conf.get(SHUFFLE_PARTITIONS)), LARGEST_INT)

    @cached_property
    def readable(self) -> Checkpoint | None:
        """The checkpoint with the batches alone whose files can be read; None without any.

        While Spark repartitions the query, without the batch that does so: the state is still
        spread as before.
        """
        if not self.readable_offsets:
            return None
        unfinished = self.unfinished_repartition
        return Checkpoint(
            self.location,
            planned=tuple(
                batch
                for batch in self.readable_offsets
                if unfinished is None or batch != unfinished.batch_id
            ),
            committed=tuple(b for b in self.named.committed if not self._is_unreadable(b)),
        )

    def _is_unreadable(self, batch: int) -> bool:
        return isinstance(self.commits.get(batch), CheckpointError)

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """All files that Spark knows of, by their path below the checkpoint."""
        prefix = f"{self.location.path.rstrip('/')}/"
        named = {entry.path.removeprefix(prefix): entry for entry in self.location.files()}
        return {name: entry for name, entry in named.items() if name.split("/")[0] in _PARTS}

    @property
    def next_batch(self) -> int:
        """The batch that the query runs next: the newest that is planned, unless it is through.

        It starts from the version of the state that has its number.
        """
        newest = self.named.planned[-1]
        return newest + 1 if newest in self.named.committed else newest

    @property
    def reruns(self) -> bool:
        """Whether that batch is planned already."""
        return self.next_batch == self.named.planned[-1]


def _read(
    log: Location, batches: tuple[int, ...], read: Callable[[Location], LogEntry]
) -> dict[int, LogEntry | CheckpointError]:
    entries: dict[int, LogEntry | CheckpointError] = {}
    for batch in batches:
        try:
            entries[batch] = read(log / batch)
        except CheckpointError as error:
            entries[batch] = error
    return entries


def _offsets_in(path: str) -> int | None:
    folder, _, name = path.rpartition("/")
    return whole_number(name) if folder.endswith("/offsets") else None
