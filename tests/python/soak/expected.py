"""What has to come of the query's input, in Python alone, by the batches that brought it.

The query drops events that it has seen, and those that are late, counts the events of each word in
windows of ten seconds, and writes a window when the watermark has passed its end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence

from soak.events import DELAY_SECONDS, START_SECONDS, WINDOW_SECONDS, Event, Events

Row = tuple[int, int, int, int]
"""Begin of the window in seconds, word, number of events, sum of their amounts."""

State = dict[tuple[int, int], tuple[int, int]]
"""Number and sum of amounts, by begin of the window and word."""


class Expected:
    """What each batch has to write, and what the state has to hold after it."""

    def __init__(
        self,
        events: Events,
        read: Callable[[int], Sequence[int]],
        is_passed_over: Callable[[int], bool] = lambda _: False,
    ) -> None:
        """Expect what follows from what the batches have read.

        Args:
            events: what the numbers stand for.
            read: gives the numbers that a batch has read; each batch is asked for once, in order.
            is_passed_over: tells whether nobody looked at the times of a batch, since its sink had
                all of it when it was made again; asked when the batch after it is there.
        """
        self._events = events
        self._read = read
        self._is_passed_over = is_passed_over
        self._watermarks = [0]
        self._counts: State = {}
        self._seen: dict[tuple[int, int], int] = {}
        self._outputs: dict[int, Counter[Row]] = {}
        self._states: dict[int, State] = {}
        self._remembered: dict[int, int] = {}
        self.numbers: Counter[int] = Counter()
        """All that was read, and how often."""
        self.late: set[int] = set()
        """What the query drops, since its watermark has passed it."""

    @property
    def known(self) -> int:
        """The last batch whose input is known, -1 if there is none."""
        return len(self._watermarks) - 2

    @property
    def oldest(self) -> int:
        """The oldest batch that is not forgotten."""
        return min(self._outputs, default=0)

    def follow(self, last: int) -> None:
        """Take in what the batches up to one have read."""
        while self.known < last:
            self._take(self.known + 1)

    def forget(self, batch: int) -> None:
        """Let go of what was expected of the batches before one."""
        for kept in (self._outputs, self._states, self._remembered):
            for each in [each for each in kept if each < batch]:
                del kept[each]
        self.numbers.clear()
        self.late.clear()

    def watermark(self, batch: int) -> int:
        """Return the watermark of a batch in seconds: it is behind the batches before."""
        self.follow(batch - 1)
        return self._watermarks[batch] if batch >= 0 else 0

    def output_of(self, batch: int) -> Counter[Row]:
        """Return the rows that a batch writes: those of the windows that have ended by now."""
        self.follow(batch)
        return self._outputs[batch]

    def batch_of(self, begin: int) -> int:
        """Return the batch that writes the rows of a window, by its begin in seconds.

        It is later than the one after the last known if that does not write them.
        """
        return bisect_left(self._watermarks, begin + WINDOW_SECONDS)

    def state_after(self, batch: int) -> State:
        """Return the rows of the counts in the state after a batch: windows that have not ended."""
        self.follow(batch)
        return self._states[batch]

    def remembered_after(self, batch: int) -> int:
        """Return how many events are in the state after a batch, to know them again."""
        self.follow(batch)
        return self._remembered[batch]

    def _take(self, batch: int) -> None:
        if batch > 0 and self._is_passed_over(batch - 1):
            self._watermarks[batch] = self._watermarks[batch - 1]
        now, before = self._watermarks[batch], self.watermark(batch - 1)
        newest = now + DELAY_SECONDS
        numbers = self._read(batch)
        self.numbers.update(numbers)
        for number in numbers:
            event = self._events.event(number)
            if event is not None:
                newest = max(newest, event.second)
                if event.second <= before:
                    self.late.add(number)
                else:
                    self._count(event)
        ended = {key: value for key, value in self._counts.items() if _end(key) <= now}
        self._outputs[batch] = Counter((*key, *value) for key, value in ended.items())
        for key in ended:
            del self._counts[key]
        self._seen = {key: second for key, second in self._seen.items() if second > now}
        self._states[batch] = dict(self._counts)
        self._remembered[batch] = len(self._seen)
        self._watermarks.append(newest - DELAY_SECONDS)

    def _count(self, event: Event) -> None:
        if (event.generation, event.row) not in self._seen:
            self._seen[event.generation, event.row] = event.second
            key = event.second - (event.second - START_SECONDS) % WINDOW_SECONDS, event.word
            times, total = self._counts.get(key, (0, 0))
            self._counts[key] = times + 1, total + event.amount


def _end(key: tuple[int, int]) -> int:
    return key[0] + WINDOW_SECONDS
