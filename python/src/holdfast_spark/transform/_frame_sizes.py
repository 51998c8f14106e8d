"""How many rows Spark's worker puts into one frame of a group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_UNLIMITED = 2**31 - 1


class FrameSizes:
    """Knows when a frame is full: at a number of rows, or by the bytes that rows had so far.

    As `pyspark.worker` of Spark 4.3 and its serializer of 4.2: by the average of all batches of the
    task, with the one that a row is in.

    Args:
        most_rows: of a frame, `spark.sql.execution.arrow.maxRecordsPerBatch`.
        most_bytes: of a frame, `spark.sql.execution.arrow.maxBytesPerBatch`.
    """

    def __init__(self, most_rows: int, most_bytes: int) -> None:
        self._most_rows = most_rows
        self._most_bytes = most_bytes
        self._rows = 0
        self._bytes = 0

    def with_batch(self, batch: pa.RecordBatch) -> int:
        """Take note of the next batch; return with how many rows of it a frame is full."""
        if self._most_bytes == _UNLIMITED:
            return self._most_rows
        self._rows += batch.num_rows
        self._bytes += sum(
            part.size for column in batch.columns for part in column.buffers() if part is not None
        )
        of_row = self._bytes / self._rows
        if not of_row:
            return self._most_rows
        full = max(1, math.ceil(self._most_bytes / of_row))
        # What is divided and rounded is not always what is multiplied and compared.
        while full > 1 and (full - 1) * of_row >= self._most_bytes:
            full -= 1
        while full * of_row < self._most_bytes:
            full += 1
        return min(self._most_rows, full)
