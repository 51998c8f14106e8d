"""The query's input in Python: what its numbers stand for.

The query reads numbers, which stand for the rows of generations. Generation N brings events, more
and more of them and then less and less, so that the state grows and shrinks. Some rows bring an
event of the generation before once more, or one of the same generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

START_SECONDS = 1_700_000_000
"""Time of the first event; a window begins there."""

GENERATION_SECONDS = 10
SPREAD_SECONDS = 20
"""The times of a generation's events are so far apart."""

WINDOW_SECONDS = 10
DELAY_SECONDS = 30
LEAST_ROWS = 20


class Event(NamedTuple):
    """What a number stands for; several may stand for the same.

    Attributes:
        generation: in which it came first.
        row: of that generation, in which it came first.
        second: its time.
        word: by which it is counted.
        amount: which is added up.
    """

    generation: int
    row: int
    second: int
    word: int
    amount: int


@dataclass(frozen=True, slots=True)
class Events:
    """What a query reads.

    Attributes:
        rows: of the largest generation; so many numbers belong to each.
        cycle: after so many generations they are as large as before.
    """

    rows: int
    cycle: int

    def size(self, generation: int) -> int:
        """Return how many rows a generation has."""
        phase = generation % self.cycle
        climbed = min(phase, self.cycle - phase)
        return max(LEAST_ROWS, self.rows * (1 + climbed) // (1 + self.cycle // 2))

    def numbers(self, generation: int) -> range:
        """Return the numbers of a generation that stand for events."""
        first = generation * self.rows
        return range(first, first + self.size(generation))

    def event(self, number: int) -> Event | None:
        """Return what a number stands for, None if it has no row in its generation."""
        generation, row = divmod(number, self.rows)
        if row >= self.size(generation):
            return None
        generation, row = self._origin(generation, row)
        return Event(
            generation=generation,
            row=row,
            second=START_SECONDS + GENERATION_SECONDS * generation + row % SPREAD_SECONDS,
            word=row % (self.size(generation) // 2 + 1),
            amount=3 * row + generation,
        )

    def comes_again(self, row: int) -> bool:
        """Return whether a row may bring an event that another row brings too."""
        return row % 5 != 1

    def _origin(self, generation: int, row: int) -> tuple[int, int]:
        if row % 5 == 4 and generation > 0 and row - 4 < self.size(generation - 1):
            return generation - 1, row - 4
        if row % 5 == 3:
            return generation, row - 1
        return generation, row
