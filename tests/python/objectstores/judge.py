"""Holds what a query has left against what it should have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from holdfast_spark.checkpoint import Checkpoint, read_rows
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from objectstores.windows import Counts, output_of, state_after


def wrong_output(folder: Path, batches: int) -> Iterator[str]:
    """Yield what is wrong with the files that the query has written, one for each batch."""
    for batch in range(batches):
        file = folder / f"{batch}.json"
        if not file.exists():
            yield f"batch {batch} has written nothing"
            continue
        found = {(second, word): times for second, word, times in json.loads(file.read_text())}
        if found != output_of(batch):
            yield f"batch {batch} has written {_difference(found, output_of(batch))}"


def wrong_state(checkpoint: Checkpoint, batches: int, *, retained: int) -> Iterator[str]:
    """Yield what is wrong with the newest states, of as many batches as are retained."""
    if checkpoint.newest_committed != batches - 1:
        yield f"the newest committed batch is {checkpoint.newest_committed}, of {batches} batches"
        return
    verified = verify_checkpoint(checkpoint)
    if not verified.goes_on:
        yield f"verify says that the query does not go on: {verified.broken} {verified.stores}"
    yield from wrong_versions(partial(_rows, checkpoint), batches, retained=retained)


def wrong_versions(read: Callable[[int], Counts], batches: int, *, retained: int) -> Iterator[str]:
    """Yield what is wrong with what is read of the newest states, by their batches."""
    for batch in range(max(0, batches - retained), batches):
        try:
            found = read(batch)
        except CheckpointError as error:
            yield f"the state after batch {batch} cannot be read: {error}"
            continue
        if found != state_after(batch):
            yield f"the state after batch {batch} is {_difference(found, state_after(batch))}"


def _rows(checkpoint: Checkpoint, batch: int) -> Counts:
    rows: Counts = {}
    for piece in read_rows(checkpoint, batch_id=batch):
        for row in piece.to_pylist():
            begin: datetime = row["key"]["window"]["start"]
            rows[int(begin.timestamp()), row["key"]["word"]] = row["value"]["count"]
    return rows


def _difference(found: Counts, expected: Counts) -> str:
    missing = sorted(expected.keys() - found.keys())
    extra = sorted(found.keys() - expected.keys())
    other = sorted(key for key in found.keys() & expected.keys() if found[key] != expected[key])
    return f"wrong: missing {missing[:3]}, superfluous {extra[:3]}, other counts {other[:3]}"
