"""The rows of an operator's stores, looked at and written anew by the partition they belong in.

In memory are some megabytes of rows, and of each store the changes in the deltas behind its
snapshot. Of the new snapshots at most 64 are open at a time: for more partitions than that the old
ones are read several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, MissingVersionError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.spark_types import StructType
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StoreFiles
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.encoding import encode, writing_snapshot
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

_OPEN_SNAPSHOTS = 64


class MisplacedRowsError(CheckpointError):
    """Rows of state are not where Spark's hash of their keys puts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What rows add up to, in whatever order and partition they are.

    Attributes:
        rows: number of rows.
        total: sum of all ints that they consist of, modulo 2^64.
    """

    rows: int = 0
    total: int = 0

    def plus(self, encoded: bytes, rows: int) -> Tally:
        """Return it with more rows, encoded without checksums."""
        more = int(np.frombuffer(encoded, ">u4").sum(dtype=np.uint64))
        return Tally(rows=self.rows + rows, total=(self.total + more) % (1 << 64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The stores of one name of an operator, one for each partition, at a version.

    Attributes:
        operator: the operator.
        name: name of the stores.
        placement: where their rows belong.
        value: schema of their values.
        stores: the stores, in order of their partitions.
        partitions: number of the query's partitions; a single store has them all.
        version: the version.
        settings: the query's settings.
    """

    operator: Operator
    name: str
    placement: Placement
    value: StructType
    stores: Sequence[StoreFiles]
    partitions: int
    version: int
    settings: PinnedSettings

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
        return 1 if self.placement.is_single else into

    def check(self, into: int) -> tuple[Tally, npt.NDArray[np.int64]]:
        """Read all rows; return what they add up to, and how many each of `into` partitions gets.

        Raises:
            MisplacedRowsError: a row is not in the partition that it belongs in.
            CheckpointError: a file is missing, or a file or row is damaged.
        """
        tally, counts = Tally(), np.zeros(into, np.int64)
        for store in self.stores:
            for records in self._rows(store):
                where = self.placement.partitions(records, self.partitions, where=str(store))
                if (where != store.partition_id).any():
                    raise self._misplaced(store, int((where != store.partition_id).sum()))
                decoder = RowDecoder(records.memory, where=str(store))
                decoder.rows(self.value, records.value_starts, records.value_lengths)
                targets = self.placement.partitions(records, into, where=str(store))
                counts += np.bincount(targets, minlength=into)
                tally = tally.plus(encode(records, row_checksums=False)[0], len(records))
        return tally, counts

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
            self._write(files, wanted[first : first + _OPEN_SNAPSHOTS], into)

    def _write(self, files: Sequence[Location], chosen: range, into: int) -> None:
        row_checksums = self.settings.row_checksums
        with ExitStack() as stack:
            writers = [
                stack.enter_context(writing_snapshot(files[i], self.settings)) for i in chosen
            ]
            for store in self.stores:
                for records in self._rows(store):
                    targets = self.placement.partitions(records, into, where=str(store))
                    order = np.argsort(targets, kind="stable")
                    bounds = np.searchsorted(targets[order], [*chosen, chosen.stop])
                    ours = records.where(order[bounds[0] : bounds[-1]])
                    content, ends = encode(ours, row_checksums=row_checksums)
                    cuts = np.concatenate([[0], ends])[bounds - bounds[0]]
                    for writer, start, end in zip(writers, cuts[:-1], cuts[1:], strict=True):
                        writer.write(content[start:end])

    def _snapshot(self, state: Location, partition: int, name: str) -> Location:
        folder = state / self.operator.operator_id / partition
        if self.name != DEFAULT_STORE:
            folder /= self.name
        return folder / f"{name}.snapshot"

    def _rows(self, store: StoreFiles) -> Iterator[Records]:
        settings = self.settings
        pieces = replay(
            store.chain(self.version), codec=settings.codec, row_checksums=settings.row_checksums
        )
        return (records for _, records in pieces)

    def _misplaced(self, store: StoreFiles, count: int) -> MisplacedRowsError:
        return MisplacedRowsError(
            f"In the store {store}, {counted(count, 'row is', 'rows are')} not in the partition "
            f"that Spark's hash of their keys gives among {self.partitions}: expected "
            f"{store.partition_id}. The query spreads its rows in another way, such as by a "
            "repartition of its own or by strings with a collation, and cannot be repartitioned "
            "here."
        )


def spreads(checkpoint: Checkpoint, partitions: int) -> list[Spread]:
    """Return the stores of all operators after the newest committed batch.

    Args:
        checkpoint: the checkpoint.
        partitions: number of partitions that the query has.

    Raises:
        UnknownPlacementError: it cannot be told where the rows of an operator belong.
        MissingVersionError: a partition has no store.
        CheckpointError: a schema or the metadata of an operator cannot be read.
    """
    found = []
    for operator in checkpoint.operators:
        known = {store.name for store in operator.stores}
        there = {s.name for s in checkpoint.stores if s.operator_id == operator.operator_id}
        for name in sorted(known | there):
            schema = checkpoint.row_schema(operator.operator_id, store_name=name)
            spread = Spread(
                operator=operator,
                name=name,
                placement=Placement(operator, store_name=name, key=schema.key),
                value=schema.value,
                stores=(),
                partitions=partitions,
                version=checkpoint.newest_committed + 1,
                settings=checkpoint.settings,
            )
            found.append(spread.among(checkpoint.stores, partitions))
    return found
