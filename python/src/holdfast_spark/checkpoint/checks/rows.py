"""Whether the records of a state file are whole, fit their schema and belong in its partition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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

# Keys of a file that are looked at for whether its rows bear a placement out.
SAMPLED_KEYS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """What was read of a state file.

    Attributes:
        records: number of its records.
        keys: some of the keys.
        misplaced: by placement, the error if rows belong elsewhere; None where all are in place.
    """

    records: int
    keys: list[bytes]
    misplaced: tuple[DamagedRowError | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRows:
    """What is known of the rows of a store.

    Attributes:
        partition_id: number of its partition.
        schema: their schema; None where there is none.
        placements: which partition they may belong in.
    """

    partition_id: int
    schema: ColumnFamily | None
    placements: Sequence[Placement]

    def read(
        self, file: StateFile, settings: PinnedSettings, partitions: Collection[int]
    ) -> FileRows:
        """Read a file to its last row.

        Args:
            file: the file.
            settings: what the query is bound to.
            partitions: how many there are, any of these; empty where that is not known.

        Raises:
            CheckpointError: something in it is not right.
        """
        count = 0
        keys: list[bytes] = []
        misplaced: list[DamagedRowError | None] = [None for _ in self.placements]
        for records in read_records(
            file, codec=settings.codec, row_checksums=settings.row_checksums
        ):
            if not count:
                keys = records.where(np.arange(min(len(records), SAMPLED_KEYS))).key_bytes()
            count += len(records)
            self._decode(records, file)
            for number, placement in enumerate(self.placements):
                error = self._misplaced(placement, records, file, partitions)
                misplaced[number] = misplaced[number] or error
        return FileRows(records=count, keys=keys, misplaced=tuple(misplaced))

    def _decode(self, records: Records, file: StateFile) -> None:
        if not self.schema:
            return
        decoder = RowDecoder(records.memory, where=str(file.location))
        decoder.rows(self.schema.key, records.key_starts, records.key_lengths)
        decode_values(decoder, self.schema.value, records.where(records.value_lengths >= 0))

    def _misplaced(
        self,
        placement: Placement,
        records: Records,
        file: StateFile,
        partitions: Collection[int],
    ) -> DamagedRowError | None:
        error: DamagedRowError | None = None
        for number in partitions:
            found = placement.partitions(records, number, where=str(file.location))
            strangers = np.flatnonzero(found != self.partition_id)
            if not len(strangers):
                return None
            error = DamagedRowError(
                where=str(file.location),
                expected=f"keys of partition {self.partition_id} of {number}, by their hash",
                found=f"{len(strangers)} of {len(records)} that belong elsewhere, the first in "
                f"partition {found[strangers[0]]}",
            )
        return error
