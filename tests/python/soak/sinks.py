"""The sinks that the query writes to, each into a folder of its own.

What is written is told apart by batch where a batch may be written twice: `foreachBatch` and
`foreach` have the numbers for that; the sinks of files and of Delta tables keep a log of theirs.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

BATCHES, ROWS, FILES, DELTA = "foreachBatch", "foreach", "file", "delta"
SINKS = (BATCHES, ROWS, FILES, DELTA)
WITH_LOG = (FILES, DELTA)
"""Those that know which batches they have."""
LOG_OF_FILES = "_spark_metadata"
_COMPACTED_EVERY = 10  # spark.sql.streaming.fileSink.log.compactInterval


def start(  # noqa: PLR0913 - each is another thing
    counts: DataFrame,
    sink: str,
    out: Path,
    checkpoint: Path,
    first: int,
    *,
    every: str | None = None,
) -> StreamingQuery:
    """Start a query.

    Args:
        counts: what it writes.
        sink: one of `SINKS`.
        out: folder of the sink.
        checkpoint: folder of the checkpoint, which another sink may have been used with.
        first: the batch with which this sink began.
        every: how long a batch begins after the one before, such as `3 seconds`; at once for None.
    """
    out.mkdir(parents=True, exist_ok=True)
    writer: DataStreamWriter = counts.writeStream.outputMode("append")
    writer = writer.option("checkpointLocation", str(checkpoint))
    writer = writer.trigger(processingTime=every or "0 seconds")
    if sink == BATCHES:
        return writer.foreachBatch(lambda batch, number: _keep(batch, out / f"{number}")).start()
    if sink == ROWS:
        return writer.foreach(RowKeeper(str(out))).start()
    if sink == FILES:
        begin_log(out / LOG_OF_FILES, first)
    return writer.format("json" if sink == FILES else sink).start(str(out))


def begin_log(log: Path, first: int) -> None:
    """Begin the log of a sink of files with a later batch than 0, as if those before had none.

    Spark has no such beginning: it would miss the batches before when it next compacts the log.
    """
    if log.exists():
        return
    log.mkdir(parents=True)
    compacted = first // _COMPACTED_EVERY * _COMPACTED_EVERY - 1
    for batch in range(max(0, compacted), first):
        (log / f"{batch}{'.compact' if batch == compacted else ''}").write_text("v1")


def _keep(batch: DataFrame, file: Path) -> None:
    _write(file, [list(row) for row in batch.collect()])


class RowKeeper:
    """Writes what Spark gives it for a partition of a batch, to one file."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._name = ""
        self._rows: list[list[Any]] = []

    def open(self, partition: int, batch: int) -> bool:
        """Begin a partition."""
        self._name, self._rows = f"{batch}-{partition}", []
        return True

    def process(self, row: Row) -> None:
        """Take a row."""
        self._rows.append(list(row))

    def close(self, error: Exception | None) -> None:
        """End a partition; one that failed comes again."""
        if error is None:
            _write(Path(self._folder) / self._name, self._rows)


def _write(file: Path, rows: list[list[Any]]) -> None:
    half = file.with_name(f".{file.name}-{os.getpid()}")
    half.write_text(json.dumps(rows))
    half.replace(file.with_suffix(".json"))
