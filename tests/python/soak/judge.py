"""Holds what a query has left against what it must have left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast_spark.checkpoint import Checkpoint, read_rows
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from soak import outputs
from soak.expected import Expected, Row, State
from soak.process import Job, Process

_DEDUPLICATION, _COUNTS = 1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The batches that the query wrote to one sink.

    Attributes:
        sink: its name.
        out: its folder.
        first: the first batch.
    """

    sink: str
    out: Path
    first: int

    def wrong(self, expected: Expected, last: int) -> Iterator[str]:
        """Yield what is wrong in the sink after its last committed batch, a sentence each.

        The batch after that may have been written too: the next sink gets it.
        """
        found = outputs.read(self.sink, self.out)
        written: dict[int, Counter[Row]] = defaultdict(Counter)
        expected.follow(last)
        batches = {begin: expected.batch_of(begin) for begin in {row[0] for row in found}}
        for row, times in found.items():
            written[batches[row[0]]][row] = times
        for batch in range(self.first, last + 1):
            rows = expected.output_of(batch)
            if written[batch] != rows:
                yield f"{self.sink}: batch {batch} {difference(written[batch], rows)}"
        strays = sorted(batch for batch in written if not self.first <= batch <= last + 1)
        if strays:
            yield f"{self.sink}: has rows of the batches {strays}, which are not its own"


def wrong_state(job: Job, expected: Expected, last: int) -> Iterator[str]:
    """Yield what is wrong with the states that are retained of a query that stands still."""
    opened = Checkpoint.open(str(job.checkpoint))
    verified = verify_checkpoint(opened)
    broken = [
        file
        for file in verified.broken
        if not any(f"/{name}, which is not there" in file.error for name in job.source.removed)
    ]
    stores = [store for store in verified.stores if not store.recoverable]
    if broken or stores:
        yield f"verify says that the query does not go on: {broken} {stores}"
        return
    expected.follow(last)
    for batch in range(max(expected.oldest, last - job.retained + 1), last + 1):
        try:
            yield from _wrong_version(opened, expected, batch)
        except CheckpointError as error:
            yield f"the state after batch {batch} cannot be read: {error}"


def _wrong_version(checkpoint: Checkpoint, expected: Expected, batch: int) -> Iterator[str]:
    found: State = {}
    for piece in read_rows(checkpoint, operator_id=_COUNTS, batch_id=batch):
        for row in piece.to_pylist():
            begin = int(row["key"]["window"]["start"].timestamp())
            value = row["value"]
            found[begin, row["key"]["word"]] = value["count"], value["sum"]
    if found != expected.state_after(batch):
        yield f"the counts in the state after batch {batch} are not those of its events"
    remembered = sum(
        piece.num_rows
        for piece in read_rows(checkpoint, operator_id=_DEDUPLICATION, batch_id=batch)
    )
    if remembered != expected.remembered_after(batch):
        rows = expected.remembered_after(batch)
        yield f"the state after batch {batch} remembers {remembered} events, not {rows}"


def wrong_computation(process: Process, job: Job, expected: Expected, last: int) -> Iterator[str]:
    """Hold what was expected of each batch against Spark's own computation in one go.

    Args:
        process: a driver, which computes.
        job: of the query.
        expected: what it had to write.
        last: the newest batch that it has committed.
    """
    expected.follow(last)
    produced = job.source.produced(expected.numbers)
    file = job.folder / "numbers.csv"
    kept = (number for number in produced.elements() if number not in expected.late)
    file.write_text("".join(f"{number}\n" for number in kept))
    computed = process.order("compute", numbers=str(file))
    rows = Counter((second, word, n, total) for second, word, n, total in computed)
    ended = Counter(
        {row: times for row, times in rows.items() if expected.batch_of(row[0]) <= last}
    )
    written = sum((expected.output_of(batch) for batch in range(last + 1)), start=Counter())
    if ended != written:
        yield f"computed in one go, the batches up to {last} {difference(written, ended)}"


def difference(found: Counter[Row], expected: Counter[Row]) -> str:
    """Say how rows differ from those that are expected."""
    missing, extra = expected - found, found - expected
    return (
        f"has {found.total()} rows of {expected.total()}: {missing.total()} are missing, such as "
        f"{sorted(missing)[:3]}, and {extra.total()} too many, such as {sorted(extra)[:3]}"
    )
