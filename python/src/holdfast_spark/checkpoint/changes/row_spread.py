"""The rows of stores without column families, by the partition they belong in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdfast_spark.checkpoint.changes.family_spread import FamilySpread
from holdfast_spark.checkpoint.changes.spread import Spread, Tally
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.spark_types import StructType
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.encoding import encode, writing_snapshot
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder
from holdfast_spark.checkpoint.rows.values import decode_values


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSpread(Spread):
    """The stores of one name, whose rows are all of one kind.

    Attributes:
        placement: where their rows belong.
        value: schema of their values.
    """

    placement: Placement
    value: StructType

    @property
    def is_single(self) -> bool:
        """Whether there is but one partition, however many the query has."""
        return self.placement.is_single

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
                self.require_placed(store, where)
                decoder = RowDecoder(records.memory, where=str(store))
                decode_values(decoder, self.value, records)
                targets = self.placement.partitions(records, into, where=str(store))
                counts += np.bincount(targets, minlength=into)
                tally = tally.plus(encode(records, row_checksums=False)[0], len(records))
        return tally, counts

    def write_some(self, files: Sequence[Location], chosen: range, into: int) -> None:
        """Write the snapshots of some partitions."""
        with ExitStack() as stack:
            writers = {
                i: stack.enter_context(writing_snapshot(files[i], self.settings)) for i in chosen
            }
            for store in self.stores:
                for records in self._rows(store):
                    targets = self.placement.partitions(records, into, where=str(store))
                    self.deal_out(records, targets, writers)

    def _rows(self, store: StoreFiles) -> Iterator[Records]:
        settings = self.settings
        pieces = replay(
            store.chain(self.version), codec=settings.codec, row_checksums=settings.row_checksums
        )
        return (records for _, records in pieces)


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
    found: list[Spread] = []
    for operator in checkpoint.operators:
        known = {store.name for store in operator.stores}
        there = {s.name for s in checkpoint.live_stores if s.operator_id == operator.operator_id}
        for name in sorted(known | there):
            spread: Spread
            if checkpoint.in_families(operator.operator_id, store_name=name):
                spread = FamilySpread(
                    operator=operator,
                    name=name,
                    stores=(),
                    partitions=partitions,
                    version=checkpoint.newest_committed + 1,
                    settings=checkpoint.settings,
                )
                found.append(spread.among(checkpoint.stores, partitions))
                continue
            schema = checkpoint.row_schema(operator.operator_id, store_name=name)
            spread = RowSpread(
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
