"""Holds what a query has left against what it should have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from holdfast_spark.checkpoint import Checkpoint, read_rows
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from objectstores.windows import Counts, newest_file, output_of, state_after


def newest_files(folder: Path) -> list[int]:
    """Return the newest file that each batch has read, as what the query has written says."""
    return [newest_file(rows) for rows in _written(folder)]


def wrong_output(folder: Path, files: int) -> Iterator[str]:
    """Yield what is wrong with the files that the query has written, one for each batch.

    Args:
        folder: what it has written.
        files: how many there were to read.
    """
    newest = newest_files(folder)
    if newest != sorted({*newest, files - 1}):
        yield f"the newest files of the batches are {newest}, of {files} files"
        return
    if len(newest) < (there := len(list(folder.glob("*.json")))):
        yield f"batch {len(newest)} has written nothing, of {there + 1} batches"
    for batch, found in enumerate(_written(folder)):
        if found != output_of(newest, batch):
            yield f"batch {batch} has written {_difference(found, output_of(newest, batch))}"


def wrong_state(checkpoint: Checkpoint, newest: Sequence[int], *, retained: int) -> Iterator[str]:
    """Yield what is wrong with the newest states, of as many batches as are retained."""
    if checkpoint.newest_committed != len(newest) - 1:
        committed = checkpoint.newest_committed
        yield f"the newest committed batch is {committed}, of {len(newest)} batches"
        return
    verified = verify_checkpoint(checkpoint)
    if not verified.goes_on:
        yield f"verify says that the query does not go on: {verified.broken} {verified.stores}"
    yield from wrong_versions(partial(_rows, checkpoint), newest, retained=retained)


def wrong_versions(
    read: Callable[[int], Counts], newest: Sequence[int], *, retained: int
) -> Iterator[str]:
    """Yield what is wrong with what is read of the newest states, by their batches."""
    for batch in range(max(0, len(newest) - retained), len(newest)):
        try:
            found = read(batch)
        except CheckpointError as error:
            yield f"the state after batch {batch} cannot be read: {error}"
            continue
        if found != (expected := state_after(newest, batch)):
            yield f"the state after batch {batch} is {_difference(found, expected)}"


def _written(folder: Path) -> Iterator[Counts]:
    """Yield what each batch has written, up to the first that has written nothing."""
    batch = 0
    while (file := folder / f"{batch}.json").exists():
        yield {(second, word): times for second, word, times in json.loads(file.read_text())}
        batch += 1


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
