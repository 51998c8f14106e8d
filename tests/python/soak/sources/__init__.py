"""Where the query's numbers come from, and what happens to that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

from soak.events import Events

if TYPE_CHECKING:
    from soak.process import Job

RATE, FILES, KAFKA = "rate", "files", "kafka"
SOURCES = (RATE, FILES, KAFKA)


class Stream(TypedDict):
    """How a driver reads a source.

    Attributes:
        format: its name.
        options: of the reader.
        schema: as SQL has it, empty if the source has one.
        value: the number of a row, as SQL.
    """

    format: str
    options: dict[str, str]
    schema: str
    value: str


class SourceError(RuntimeError):
    """A source does not bring anything any more."""


class Source(AbstractContextManager["Source"]):
    """A source to which nothing happens, and that is never finished, unless a subclass knows more.

    Its methods are called by one thread.

    Attributes:
        events: what its numbers stand for.
        happened: what has happened to it, and how often.
        removed: names of files that were removed on purpose, though the checkpoint names them.
    """

    def __init__(self, events: Events) -> None:
        self.events = events
        self.happened: Counter[str] = Counter()
        self.removed: set[str] = set()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what it runs."""

    def stream(self) -> Stream:
        """Return how a driver that begins now reads it."""
        raise NotImplementedError

    def read(self, checkpoint: Path, batch: int) -> Sequence[int]:
        """Return the numbers that a committed batch has read; asked for in order, each once."""
        raise NotImplementedError

    def check(self) -> None:
        """Check that it still brings something.

        Raises:
            SourceError: it does not.
        """

    def trouble(self) -> None:
        """Have something happen to it, while the query runs."""

    def moment(self, job: Job) -> Callable[[], bool] | None:
        """Return when the driver is best killed next, if that is not any time."""

    def without_driver(self, job: Job) -> None:
        """Have something happen to it, or nothing, after a driver was killed."""

    @property
    def refusal(self) -> str | None:
        """What has to be in the error of a query that begins now; none if it has to go on."""
        return None

    def accept(self) -> None:
        """Have queries go on from now on after what they refused."""

    def finish(self) -> None:
        """Bring no more."""

    def produced(self, read: Counter[int]) -> Counter[int]:
        """Return the numbers that the query has to have read in the end, and how often.

        Args:
            read: what it has read: all there is to say of a source that goes on forever.
        """
        return read


class Rate(Source):
    """Spark's own source of numbers, a generation in each batch."""

    def stream(self) -> Stream:
        options = {"rowsPerBatch": str(self.events.rows), "numPartitions": "2"}
        return Stream(format="rate-micro-batch", options=options, schema="", value="value")

    def read(self, checkpoint: Path, batch: int) -> Sequence[int]:  # noqa: ARG002 - it is known
        return self.events.numbers(batch)


def offset_of(checkpoint: Path, batch: int) -> Any:  # noqa: ANN401 - as the source writes it
    """Return where a batch of a query with one source has read to.

    Raises:
        SourceError: the checkpoint does not have that any more: it was asked for too late.
    """
    file = checkpoint / "offsets" / str(batch)
    try:
        return json.loads(file.read_text().splitlines()[-1])
    except FileNotFoundError:
        raise SourceError(f"{file} is gone before anybody has looked at it") from None
