"""A topic that is read while its brokers fall and rise, and its records go."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from soak.events import Events
from soak.sources import Stream, offset_of
from soak.sources.feed import Fed
from soak.sources.kafka.brokers import CONTROLLER, Broker
from soak.sources.kafka.start import start

if TYPE_CHECKING:
    from soak.process import Job

_TOPIC = "numbers"
_PARTITIONS, _MOST_PARTITIONS = 2, 8
_TRANSACTIONS = (1, 2, 3)
_ABORTED = 0.5


class Kafka(Fed):
    """Each generation comes in a few transactions; others are aborted.

    Brokers are stopped and killed, partitions are added, and retention removes what no query has
    read: one that reads with `failOnDataLoss` has to refuse to go on then.
    """

    def __init__(  # noqa: PLR0913 - what differs between histories
        self,
        folder: Path,
        events: Events,
        seed: int,
        *,
        nodes: int,
        at_most: int | None,
        losing: float = 0.3,
    ) -> None:
        """Start brokers, and make a topic that is fed once the source is entered.

        Args:
            folder: takes what the brokers keep.
            events: what the records stand for.
            seed: says what happens, up to when.
            nodes: how many brokers.
            at_most: so many records in a batch, any number for None.
            losing: the share of killed drivers after which retention removes records.
        """
        super().__init__(events, seed)
        self._at_most, self._losing = at_most, losing
        self._brokers, self._client = start(folder, _TOPIC, nodes=nodes, partitions=_PARTITIONS)
        self._partitions = _PARTITIONS
        self._troubles: list[Callable[[], None]] = []
        self._records: dict[tuple[int, int], int] = {}
        self._position: dict[int, int] = {}
        self._lost: set[tuple[int, int]] = set()
        self._loses = False
        self._accepts_loss = True
        self._loss: dict[int, int] = {}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._client.close()
        self._brokers.kill()

    def stream(self) -> Stream:
        options = {
            "kafka.bootstrap.servers": self._brokers.addresses,
            "kafka.isolation.level": "read_committed",
            "subscribe": _TOPIC,
            "startingOffsets": "earliest",
        }
        if self._at_most is not None:
            options["maxOffsetsPerTrigger"] = str(self._at_most)
        if self._loss and self._accepts_loss:
            options["failOnDataLoss"] = "false"
        value = "cast(cast(value as string) as long)"
        return Stream(format="kafka", options=options, schema="", value=value)

    def deliver(self, generation: int, drawn: random.Random) -> None:
        numbers = [*self.events.numbers(generation)]
        # Were they read, their events would be counted: no other number stands for them.
        aborted = [number for number in numbers if not self.events.comes_again(number)][::2]
        self._send([number for number in numbers if number not in aborted], drawn)
        if drawn.random() < _ABORTED:
            self._client.send(self._placed(aborted, drawn), commit=False)
            self.happened["transactions aborted"] += 1

    def _send(self, numbers: list[int], drawn: random.Random) -> None:
        drawn.shuffle(numbers)
        count = drawn.choice(_TRANSACTIONS)
        for first in range(count):
            placed = self._placed(numbers[first::count], drawn)
            offsets = self._client.send(placed, commit=True)
            for (partition, number), offset in zip(placed, offsets, strict=True):
                self._records[partition, offset] = number
            self.happened["transactions"] += 1

    def _placed(self, numbers: Sequence[int], drawn: random.Random) -> list[tuple[int, int]]:
        return [(drawn.randrange(self._partitions), number) for number in numbers]

    def read(self, checkpoint: Path, batch: int) -> Sequence[int]:
        reached = {int(p): to for p, to in offset_of(checkpoint, batch)[_TOPIC].items()}
        begun = {
            partition: max(self._position.get(partition, 0), self._loss.get(partition, 0))
            for partition in reached
        }
        self._position = reached
        # Batches that may read so many records only take several to get behind what is lost.
        self._loss = {p: start for p, start in self._loss.items() if reached.get(p, 0) < start}
        places = [(p, offset) for p in reached for offset in range(begun[p], reached[p])]
        numbers = [self._records[place] for place in places if place in self._records]
        self.note_read(numbers)
        return numbers

    def produced(self, read: Counter[int]) -> Counter[int]:  # noqa: ARG002 - it knows better
        kept = self._records.keys() - self._lost
        return Counter(self._records[place] for place in kept)

    def trouble(self) -> None:
        self._client.wait_for_brokers(len(self._brokers))
        if not self._troubles:
            self._troubles = [self._restart, self._kill, self._add_partitions]
            self.random.shuffle(self._troubles)
        self._troubles.pop()()

    def _restart(self) -> None:
        self._be_without(self.random.choice(self._brokers), Broker.stop)
        self.happened["brokers restarted"] += 1

    def _kill(self) -> None:
        self._be_without(self.random.choice(self._brokers), Broker.kill)
        self.happened["brokers killed"] += 1

    def _be_without(self, each: Broker, end: Callable[[Broker], None]) -> None:
        """End a broker and start it again; after the others lead its partitions, if they can."""
        node = self._brokers.index(each) + 1
        led = [*self._client.leaders().values()].count(node)
        end(each)
        if node != CONTROLLER:
            self._client.wait_for_leaders_but(node)
            self.happened["leaders changed"] += led
        each.start()

    def _add_partitions(self) -> None:
        if self._partitions < _MOST_PARTITIONS:
            self._client.add_partitions(self._partitions + 1)
            self._partitions += 1
            self.happened["partitions added"] += 1

    def moment(self, job: Job) -> Callable[[], bool] | None:
        """Have the query read all, now and then: what comes then can be lost as a whole."""
        if self.random.random() > self._losing or self._loss:
            return None
        self._loses = True
        self.delivering.acquire()
        ends = self._client.ends()

        def has_read_all() -> bool:
            batch = job.committed()
            reached = offset_of(job.checkpoint, batch).get(_TOPIC, {}) if batch >= 0 else {}
            return batch == job.planned() and all(
                reached.get(str(partition), 0) >= end for partition, end in ends.items()
            )

        return has_read_all

    def without_driver(self, job: Job) -> None:
        if not self._loses:
            return
        self._client.wait_for_brokers(len(self._brokers))
        read = offset_of(job.checkpoint, job.committed())[_TOPIC]
        self.deliver_next()
        self.deliver_next()
        self._loss = self._client.remove_all()
        self.note_loss()
        self._lost |= {
            place
            for place in self._records
            if read.get(str(place[0]), 0) <= place[1] < self._loss[place[0]]
        }
        self.happened["times that retention removed what was not read"] += 1
        self._loses, self._accepts_loss = False, False
        self.delivering.release()

    @property
    def refusal(self) -> str | None:
        return "failOnDataLoss" if self._loss and not self._accepts_loss else None

    def accept(self) -> None:
        self._accepts_loss = True
        self.happened["times that a query refused to go on"] += 1
