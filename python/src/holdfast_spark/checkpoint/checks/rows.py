"""Whether the records of a state file are whole, fit their schema and belong in its partition."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from holdfast_spark.checkpoint.errors import DamagedRowError
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.files.schema_file import ColumnFamily
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.records import Records, read_records
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder
from holdfast_spark.checkpoint.rows.values import decode_values


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRows:
    """What is known of the rows of a store.

    Attributes:
        partition_id: number of its partition.
        schema: their schema; None where there is none.
        placement: which partition they belong in; None where that cannot be told.
    """

    partition_id: int
    schema: ColumnFamily | None
    placement: Placement | None

    def check(self, file: StateFile, settings: PinnedSettings, partitions: Collection[int]) -> int:
        """Read a file to its last row; return the number of records.

        Args:
            file: the file.
            settings: what the query is bound to.
            partitions: how many there are, any of these; empty where that is not known.

        Raises:
            CheckpointError: something in it is not right.
        """
        count = 0
        for records in read_records(
            file, codec=settings.codec, row_checksums=settings.row_checksums
        ):
            count += len(records)
            self._decode(records, file)
            self._place(records, file, partitions)
        return count

    def _decode(self, records: Records, file: StateFile) -> None:
        if not self.schema:
            return
        decoder = RowDecoder(records.memory, where=str(file.location))
        decoder.rows(self.schema.key, records.key_starts, records.key_lengths)
        decode_values(decoder, self.schema.value, records.where(records.value_lengths >= 0))

    def _place(self, records: Records, file: StateFile, partitions: Collection[int]) -> None:
        if not self.placement:
            return
        error: DamagedRowError | None = None
        for number in partitions:
            found = self.placement.partitions(records, number, where=str(file.location))
            strangers = np.flatnonzero(found != self.partition_id)
            if not len(strangers):
                return
            error = DamagedRowError(
                where=str(file.location),
                expected=f"keys of partition {self.partition_id} of {number}, by their hash",
                found=f"{len(strangers)} of {len(records)} that belong elsewhere, the first in "
                f"partition {found[strangers[0]]}",
            )
        if error:
            raise error
