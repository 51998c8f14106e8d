"""The query's input, and what has to come of it, in Python alone.

Batch N brings events, more and more of them and then less and less, so that the state grows and
shrinks. Some rows bring an event of the batch before once more, or one of the same batch. The query
drops those, counts the events of each word in windows of ten seconds, to which two batches bring
events, and writes a window when the watermark has passed its end: from the fifth on each batch
writes one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

START_SECONDS = 1_700_000_000
"""Time of the first event; a window begins there."""

BATCH_SECONDS = 10
SPREAD_SECONDS = 20
"""The times of a batch's events are so far apart."""

WINDOW_SECONDS = 10
DELAY_SECONDS = 30
LEAST_ROWS = 20

Row = tuple[int, int, int, int]
"""Begin of the window in seconds, word, number of events, sum of their amounts."""

State = dict[tuple[int, int], tuple[int, int]]
"""Number and sum of amounts, by begin of the window and word."""


@dataclass(frozen=True, slots=True)
class Events:
    """What a query reads.

    Attributes:
        rows: of the largest batch.
        cycle: after so many batches they are as large as before.
    """

    rows: int
    cycle: int

    def size(self, batch: int) -> int:
        """Return how many rows a batch has."""
        phase = batch % self.cycle
        climbed = min(phase, self.cycle - phase)
        return max(LEAST_ROWS, self.rows * (1 + climbed) // (1 + self.cycle // 2))

    def origin(self, batch: int, row: int) -> tuple[int, int]:
        """Return batch and row in which the event of a row came first."""
        if row % 5 == 4 and batch > 0 and row - 4 < self.size(batch - 1):
            return batch - 1, row - 4
        if row % 5 == 3:
            return batch, row - 1
        return batch, row

    def new(self, batch: int) -> Iterator[tuple[int, int, int]]:
        """Yield the events that a batch brings for the first time: second, word, amount."""
        size = self.size(batch)
        for row in range(size):
            if self.origin(batch, row) == (batch, row):
                second = START_SECONDS + BATCH_SECONDS * batch + row % SPREAD_SECONDS
                yield second, row % (size // 2 + 1), 3 * row + batch

    def watermark(self, batch: int) -> int:
        """Return the watermark of a batch in seconds: it is behind the batches before."""
        if batch == 0:
            return 0
        return max(second for second, _, _ in self.new(batch - 1)) - DELAY_SECONDS

    def output_of(self, batch: int) -> Counter[Row]:
        """Return the rows that a batch writes: those of the windows that have ended by now."""
        rows: Counter[Row] = Counter()
        if batch > 0:
            before, now = self.watermark(batch - 1), self.watermark(batch)
            for key, value in self._counted(max(0, batch - 8), batch).items():
                if before < key[0] + WINDOW_SECONDS <= now:
                    row = (*key, *value)
                    rows[row] += 1
        return rows

    def batch_of(self, begin: int) -> int:
        """Return the batch that writes the rows of a window, by its begin in seconds."""
        end = begin + WINDOW_SECONDS
        batch = (begin - START_SECONDS) // BATCH_SECONDS
        while self.watermark(batch) < end:
            batch += 1
        return batch

    def state_after(self, batch: int) -> State:
        """Return the rows of the counts in the state after a batch: windows that have not ended."""
        now = self.watermark(batch)
        counted = self._counted(max(0, batch - 8), batch)
        return {key: value for key, value in counted.items() if key[0] + WINDOW_SECONDS > now}

    def remembered_after(self, batch: int) -> int:
        """Return how many events are in the state after a batch, to know them again."""
        now = self.watermark(batch)
        earlier = range(max(0, batch - 8), batch + 1)
        return sum(second > now for each in earlier for second, _, _ in self.new(each))

    def _counted(self, first: int, last: int) -> State:
        counts: State = {}
        for batch in range(first, last + 1):
            for second, word, amount in self.new(batch):
                key = second - (second - START_SECONDS) % WINDOW_SECONDS, word
                times, total = counts.get(key, (0, 0))
                counts[key] = times + 1, total + amount
        return counts
