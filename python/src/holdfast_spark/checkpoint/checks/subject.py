"""A checkpoint as the checks see it: what its logs say, what can be read of them, all its files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.repeated_batches import repeated_batches
from holdfast_spark.checkpoint.errors import CheckpointError, UnreadablePathError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.log_entries import (
    CommitEntry,
    OffsetsEntry,
    read_commit_entry,
    read_offsets_entry,
)
from holdfast_spark.checkpoint.files.logs import SHUFFLE_PARTITIONS, PinnedSettings
from holdfast_spark.checkpoint.files.numbers import LARGEST_INT, whole_number
from holdfast_spark.checkpoint.files.operators import UNKNOWN_OPERATOR, Operator, read_operator
from holdfast_spark.checkpoint.unfinished_repartition import (
    UnfinishedRepartition,
    unfinished_repartition,
)

Read = TypeVar("Read")
_PARTS = frozenset(("metadata", ".metadata.crc", "offsets", "commits", "sources", "state"))
_OPERATOR = re.compile(r"state/(\d+)/.*")
_SCHEMA_BESIDE_PARTITIONS = re.compile(r"state/(\d+)/_stateSchema/.*")
# What is a folder, also where a link to it leads nowhere.
_FOLDER = re.compile(r"offsets|commits|sources(/[^/]+)?|state(/\d+){0,2}")


@dataclass(frozen=True)
class Subject:
    """The checkpoint that is verified; for one thread.

    Attributes:
        named: the checkpoint with every batch that its logs have a file of.
        shared_sources: whether the query is known to read a source in several places.
        set_back: whether the query is known to have been set back: files of versions that no batch
            has planned are then left of batches that were given up, and are no sign of a lost plan.
    """

    named: Checkpoint
    shared_sources: bool = False
    set_back: bool = False

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
    def passes_over_snapshots(self) -> bool:
        """Whether the query goes on past a snapshot that cannot be read, by older files.

        Spark does since 4.2 (`autoSnapshotRepair`).
        """
        newest = max(self.readable_offsets, default=None)
        conf = self.readable_offsets[newest].conf if newest is not None else None
        return conf is None or PinnedSettings(conf).are_of_spark_4_2

    @cached_property
    def readable_commits(self) -> Mapping[int, CommitEntry]:
        """Those commit files that can be read."""
        return {b: entry for b, entry in self.commits.items() if isinstance(entry, CommitEntry)}

    @cached_property
    def operators(self) -> Mapping[int, Operator | CheckpointError]:
        """What the metadata of each operator with a file says, or why it cannot be read."""
        numbers = {int(m[1]) for name in self.entries if (m := _OPERATOR.fullmatch(name))}
        return _read(
            self.location / "state",
            tuple(sorted(numbers)),
            lambda folder: read_operator(folder, batch_id=None),
        )

    @cached_property
    def without_their_metadata(self) -> frozenset[int]:
        """The operators whose metadata is gone: Spark writes it wherever there are column families.

        Schemas beside the partitions tell of these, and state files do.
        """
        beside = {
            int(found[1])
            for name in self.entries
            if (found := _SCHEMA_BESIDE_PARTITIONS.fullmatch(name))
        }
        return frozenset(
            number
            for number, operator in self.operators.items()
            if isinstance(operator, Operator)
            and operator.name == UNKNOWN_OPERATOR
            and (number in beside or self._has_files_of_families(number))
        )

    def _has_files_of_families(self, operator_id: int) -> bool:
        try:
            return self.named.in_families(operator_id)
        except CheckpointError:
            return False  # which have their own checks

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
        links = [(self.location / name).path for name in self.linked_folders]
        found = self.location.files(without=links)
        named = {self.location.below(entry.path): entry for entry in found}
        return {name: entry for name, entry in named.items() if name.split("/")[0] in _PARTS}

    @cached_property
    def linked_folders(self) -> Mapping[str, UnreadablePathError]:
        """The folders that are links out of the checkpoint, by their path below it, and what of it.

        Nobody follows them, so that nothing in them is read.
        """
        found: dict[str, UnreadablePathError] = {}
        root = self.location.path if self.location.is_local else None
        for part in sorted(_PARTS) if root else ():
            for name in _links(root or "", part):
                try:
                    (self.location / name).require_inside("list")
                except UnreadablePathError as error:
                    found[name] = error
        return found

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


def _links(root: str, part: str) -> Iterator[str]:
    """Yield the links to folders at and below a part of a local checkpoint, also dead ones."""
    names = [part] if os.path.islink(f"{root}/{part}") else []  # noqa: PTH114
    for folder, folders, files in () if names else os.walk(f"{root}/{part}"):
        below = folder.removeprefix(f"{root.rstrip('/')}/")
        names += [f"{below}/{name}" for name in (*folders, *files)]
    for name in names:
        path = f"{root}/{name}"
        if os.path.islink(path) and (os.path.isdir(path) or _FOLDER.fullmatch(name)):  # noqa: PTH112, PTH114
            yield name


def _read(
    folder: Location, numbers: tuple[int, ...], read: Callable[[Location], Read]
) -> dict[int, Read | CheckpointError]:
    """Return what is read at each number in a folder, or why it cannot be."""
    found: dict[int, Read | CheckpointError] = {}
    for number in numbers:
        try:
            found[number] = read(folder / number)
        except CheckpointError as error:
            # A query that runs has removed an old one since it was listed; and the newest one,
            # when it has come far enough, so that there are newer ones to look at.
            if (folder / number).is_there():
                found[number] = error
            elif number == numbers[-1]:
                raise
    return found


def _offsets_in(path: str) -> int | None:
    folder, _, name = path.rpartition("/")
    return whole_number(name) if folder.endswith("/offsets") else None
