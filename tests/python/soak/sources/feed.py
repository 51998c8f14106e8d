"""Sources that somebody has to feed."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from types import TracebackType

from soak.events import Events
from soak.sources import Source, SourceError

_SECONDS_OF_A_GENERATION = 0.5
_MOST_UNREAD = 4
_PATIENCE_SECONDS = 150.0


class Fed(Source):
    """A source to which a thread brings one generation after the other, until it is finished."""

    def __init__(self, events: Events, seed: int) -> None:
        """Make one that brings nothing yet.

        Args:
            events: what its numbers stand for.
            seed: says what happens to it, up to when.
        """
        super().__init__(events)
        self.random = random.Random(seed)
        self.delivering = threading.Lock()
        """Is held while a generation is brought; who else holds it has the feed wait."""
        self._of_feed = random.Random(seed + 1)
        self._next = 0
        self._read_generation = -1
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._feed, name="feed", daemon=True)

    def deliver(self, generation: int, drawn: random.Random) -> None:
        """Bring a generation."""
        raise NotImplementedError

    def __enter__(self) -> Fed:
        """Begin to bring generations."""
        self._thread.start()
        return self

    def note_read(self, numbers: Sequence[int]) -> None:
        """Take note of what the query has read: it is not left behind by more than it can bear."""
        newest = max(numbers, default=-1) // self.events.rows
        self._read_generation = max(self._read_generation, newest)

    def note_loss(self) -> None:
        """Take note that nothing is left to be read of what was brought."""
        self._read_generation = self._next - 1

    def deliver_next(self) -> None:
        """Bring the next generation; for who holds the lock."""
        self.deliver(self._next, self._of_feed)
        self._next += 1

    def check(self) -> None:
        if self._error is not None:
            raise SourceError(f"the feed has ended: {self._error}") from self._error

    def finish(self) -> None:
        self._over.set()
        self._thread.join(_PATIENCE_SECONDS)
        self.check()
        if self._thread.is_alive():
            raise SourceError("the feed does not end")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()

    def _feed(self) -> None:
        try:
            while not self._over.wait(self._of_feed.uniform(0, _SECONDS_OF_A_GENERATION)):
                if self._next - self._read_generation <= _MOST_UNREAD:
                    with self.delivering:
                        self.deliver_next()
        except BaseException as error:  # noqa: BLE001 - another thread raises it
            self._error = error
