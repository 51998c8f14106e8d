"""The rows of an operator's stores, looked at and written anew by the partition they belong in.

In memory are some megabytes of rows, and of each store the changes in the deltas behind its
snapshot. Of the new snapshots at most 64 are open at a time: for more partitions than that the old
ones are read several times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.errors import CheckpointError, MissingVersionError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StoreFiles
from holdfast_spark.checkpoint.rows.encoding import encode
from holdfast_spark.checkpoint.rows.records import Records

_OPEN_SNAPSHOTS = 64


class MisplacedRowsError(CheckpointError):
    """Rows of state are not where Spark's hash of their keys puts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What rows add up to, in whatever order and partition they are.

    Attributes:
        rows: number of rows.
        total: sum of all ints that they consist of, modulo 2^64.
        families: number of rows by their column family; none in a store without.
    """

    rows: int = 0
    total: int = 0
    families: Mapping[str, int] = field(default_factory=dict)

    def plus(self, encoded: bytes, rows: int, *, family: str | None = None) -> Tally:
        """Return it with more rows, encoded without checksums."""
        more = int(np.frombuffer(encoded, ">u4").sum(dtype=np.uint64))
        families = self.families
        if family is not None:
            families = {**families, family: families.get(family, 0) + rows}
        return Tally(
            rows=self.rows + rows, total=(self.total + more) % (1 << 64), families=families
        )


class Writer(Protocol):
    """What writes a snapshot as it comes."""

    def write(self, encoded: bytes) -> None:
        """Write encoded rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(ABC):
    """The stores of one name of an operator, one for each partition, at a version.

    Attributes:
        operator: the operator.
        name: name of the stores.
        stores: the stores, in order of their partitions.
        partitions: number of the query's partitions; a single store has them all.
        version: the version.
        settings: the query's settings.
    """

    operator: Operator
    name: str
    stores: Sequence[StoreFiles]
    partitions: int
    version: int
    settings: PinnedSettings

    @property
    @abstractmethod
    def is_single(self) -> bool:
        """Whether there is but one partition, however many the query has."""

    @abstractmethod
    def check(self, into: int) -> tuple[Tally, npt.NDArray[np.int64]]:
        """Read all rows; return what they add up to, and how many each of `into` partitions gets.

        Raises:
            MisplacedRowsError: a row is not in the partition that it belongs in.
            CheckpointError: a file is missing, or a file or row is damaged.
        """

    @abstractmethod
    def write_some(self, files: Sequence[Location], chosen: range, into: int) -> None:
        """Write the snapshots of some of `into` partitions.

        Args:
            files: the file of each partition.
            chosen: the partitions.
            into: number of partitions.
        """

    def among(self, stores: Sequence[StoreFiles], partitions: int) -> Spread:
        """Return the same rows in other stores.

        Raises:
            MissingVersionError: a partition has no store.
        """
        ours = [
            store
            for store in stores
            if (store.operator_id, store.name) == (self.operator.operator_id, self.name)
        ]
        wanted = self.partition_count(partitions)
        chosen = {store.partition_id: store for store in ours}
        for partition in range(wanted):
            if partition not in chosen:
                raise MissingVersionError(
                    store=f"{self.operator.operator_id}/{partition}/{self.name}",
                    version=self.version,
                    missing="there is no file of it",
                    readable="none",
                )
        return replace(self, stores=[chosen[i] for i in range(wanted)], partitions=partitions)

    def partition_count(self, into: int) -> int:
        """Return how many stores there are with so many partitions of the query."""
        return 1 if self.is_single else into

    def write(self, state: Location, into: int, ids: Sequence[str]) -> None:
        """Write the rows as one snapshot for each of `into` partitions.

        Args:
            state: a new folder that is to become `state`.
            into: number of partitions.
            ids: the id of each snapshot; none in checkpoint format 1.

        Raises:
            CheckpointError: a file cannot be read or written.
        """
        version = str(self.version)
        names = [f"{version}_{id_}" for id_ in ids] or [version] * self.partition_count(into)
        files = [self._snapshot(state, i, name) for i, name in enumerate(names)]
        wanted = range(len(files))
        for first in range(0, len(wanted), _OPEN_SNAPSHOTS):
            self.write_some(files, wanted[first : first + _OPEN_SNAPSHOTS], into)

    def deal_out(
        self,
        records: Records,
        targets: npt.NDArray[np.int32],
        writers: Mapping[int, Writer],
        *,
        table: int | None = None,
    ) -> None:
        """Write rows to the partitions that they belong in.

        Args:
            records: the rows.
            targets: the partition of each.
            writers: those of partitions that follow each other; others get nothing.
            table: number of their table, in a store with column families.
        """
        order = np.argsort(targets, kind="stable")
        chosen = sorted(writers)
        bounds = np.searchsorted(targets[order], [*chosen, chosen[-1] + 1])
        ours = records.where(order[bounds[0] : bounds[-1]])
        content, ends = encode(ours, row_checksums=self.settings.row_checksums, table=table)
        cuts = np.concatenate([[0], ends])[bounds - bounds[0]]
        for partition, start, end in zip(chosen, cuts[:-1], cuts[1:], strict=True):
            writers[partition].write(content[start:end])

    def require_placed(self, store: StoreFiles, found: npt.NDArray[np.int32]) -> None:
        """Check that rows of a store belong there, by the partitions that they belong in.

        Raises:
            MisplacedRowsError: they do not.
        """
        if (found != store.partition_id).any():
            raise self._misplaced(store, int((found != store.partition_id).sum()))

    def _snapshot(self, state: Location, partition: int, name: str) -> Location:
        folder = state / self.operator.operator_id / partition
        if self.name != DEFAULT_STORE:
            folder /= self.name
        return folder / f"{name}.snapshot"

    def _misplaced(self, store: StoreFiles, count: int) -> MisplacedRowsError:
        return MisplacedRowsError(
            f"In the store {store}, {counted(count, 'row is', 'rows are')} not in the partition "
            f"that Spark's hash of their keys gives among {self.partitions}: expected "
            f"{store.partition_id}. The query spreads its rows in another way, such as by a "
            "repartition of its own or by strings with a collation, and cannot be repartitioned "
            "here."
        )
