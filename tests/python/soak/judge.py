"""Holds what a query has left against what it must have left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast_spark.checkpoint import Checkpoint, read_rows
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from soak import outputs
from soak.events import Events, Row, State

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

    def wrong(self, events: Events, last: int) -> Iterator[str]:
        """Yield what is wrong in the sink after its last committed batch, a sentence each.

        The batch after that may have been written too: the next sink gets it.
        """
        found = outputs.read(self.sink, self.out)
        written: dict[int, Counter[Row]] = defaultdict(Counter)
        batches = {begin: events.batch_of(begin) for begin in {row[0] for row in found}}
        for row, times in found.items():
            written[batches[row[0]]][row] = times
        for batch in range(self.first, last + 1):
            expected = events.output_of(batch)
            if written[batch] != expected:
                yield f"{self.sink}: batch {batch} {difference(written[batch], expected)}"
        strays = sorted(batch for batch in written if not self.first <= batch <= last + 1)
        if strays:
            yield f"{self.sink}: has rows of the batches {strays}, which are not its own"


def wrong_state(checkpoint: Path, events: Events, last: int) -> Iterator[str]:
    """Yield what is wrong with the newest state of a query that stands still."""
    opened = Checkpoint.open(str(checkpoint))
    verified = verify_checkpoint(opened)
    if not verified.goes_on:
        yield f"verify says that the query does not go on: {verified.broken} {verified.stores}"
        return
    found: State = {}
    for piece in read_rows(opened, operator_id=_COUNTS, batch_id=last):
        for row in piece.to_pylist():
            begin = int(row["key"]["window"]["start"].timestamp())
            value = row["value"]
            found[begin, row["key"]["word"]] = value["count"], value["sum"]
    if found != events.state_after(last):
        yield f"the counts in the state after batch {last} are not those of its events"
    remembered = sum(
        piece.num_rows for piece in read_rows(opened, operator_id=_DEDUPLICATION, batch_id=last)
    )
    if remembered != events.remembered_after(last):
        expected = events.remembered_after(last)
        yield f"the state after batch {last} remembers {remembered} events, not {expected}"


def difference(found: Counter[Row], expected: Counter[Row]) -> str:
    """Say how rows differ from those that are expected."""
    missing, extra = expected - found, found - expected
    return (
        f"has {found.total()} rows of {expected.total()}: {missing.total()} are missing, such as "
        f"{sorted(missing)[:3]}, and {extra.total()} too many, such as {sorted(extra)[:3]}"
    )
