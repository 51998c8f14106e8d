"""The long run of a query: restarts, kills and sinks in turn, until the time is over."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from soak.judge import Turn, wrong_state
from soak.process import Job, Process
from soak.samples import Samples, take

SAMPLE_BATCHES = 4
_POLL_SECONDS = 0.1
_SECONDS_OF_A_BATCH = 1.0
_BATCHES_TO_A_RESTART = (5, 30)


@dataclass(kw_only=True)
class Endurance:
    """Runs a query that is stopped and killed at random.

    A sink's turn is of one cycle of the state's size. Then its output is judged and thrown away.

    Attributes:
        job: the query; its folder is new.
        seed: says when it is stopped and killed, up to what the scheduling of processes does.
        sinks: in the order of their turns.
        samples: takes what the drivers hold.
        say: is told of each turn.
        over: says that it may end; what is under way is judged then.
        rounds: how many each driver lives, over and over, and a part of one.
        wrong: what was wrong, a sentence each.
        happened: how often it was stopped, killed and judged.
    """

    job: Job
    seed: int
    sinks: tuple[str, ...]
    samples: Samples
    say: Callable[[str], None]
    over: Callable[[], bool]
    rounds: tuple[int, ...] = (13, 2, 4, 30, 6)
    wrong: list[str] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._begun = time.monotonic()
        self._lives = 0
        self._expected = self.job.expected(lambda: self._turn.sink)
        self._turn = self._next_turn(0)

    @property
    def batches_of_a_round(self) -> int:
        """After so many batches the same sink writes of a state of the same size."""
        return self._batches_of_a_turn * len(self.sinks)

    @property
    def _batches_of_a_turn(self) -> int:
        return self.job.source.events.cycle

    @property
    def _end_of_turn(self) -> int:
        """The batch that the next sink begins with, or a little later; a round has all of them."""
        return (self._turn.first // self._batches_of_a_turn + 1) * self._batches_of_a_turn

    def run(self) -> None:
        """Run it until it is over, or something is wrong.

        Raises:
            DriverError: the query does not go on.
        """
        while not self.over() and not self.wrong:
            with Process(self.job) as process:
                self._lives += 1
                self._live(process)

    def _live(self, process: Process) -> None:
        """Let a driver run until it is to be killed; what leaves it kills it."""
        rounds = self.rounds[(self._lives - 1) % len(self.rounds)] + self._random.random()
        last = self.job.committed() + int(rounds * self.batches_of_a_round)
        self._begin(process)
        restart = self._restart_after(self.job.committed())
        sample = self._next_sample()
        while not self.wrong:
            time.sleep(self._random.uniform(0, 2 * _POLL_SECONDS))
            batch = self.job.committed()
            self._expected.follow(batch)
            if self.over():
                self._end_turn(process)
                return
            if batch >= last:
                time.sleep(self._random.uniform(0, _SECONDS_OF_A_BATCH))
                self.happened["kills"] += 1
                return
            if batch + 1 >= self._end_of_turn:
                self._end_turn(process)
                self._begin(process)
            elif batch >= restart:
                process.order("stop")
                self.happened["restarts"] += 1
                restart = self._restart_after(batch)
                self._begin(process)
            elif batch >= sample:
                self._sample(process)
                sample = self._next_sample()

    def _begin(self, process: Process) -> None:
        turn = self._turn
        stream = self.job.source.stream()
        process.order("begin", stream=stream, sink=turn.sink, out=str(turn.out), first=turn.first)
        process.wait_for(self.job.committed() + 1)

    def _restart_after(self, batch: int) -> int:
        return batch + self._random.randint(*_BATCHES_TO_A_RESTART)

    def _end_turn(self, process: Process) -> None:
        process.order("rest")
        turn, last = self._turn, self.job.committed()
        self.wrong += turn.wrong(self._expected, last)
        self.wrong += wrong_state(self.job, self._expected, last)
        self.happened["batches judged"] += last + 1 - turn.first
        state = "; ".join(self.wrong) or "right"
        self.say(f"{turn.sink}: batches {turn.first} to {last}, life {self._lives}: {state}")
        if not self.wrong:
            shutil.rmtree(turn.out)
            self._expected.forget(last + 1)
            self._turn = self._next_turn(last + 1)

    def _next_turn(self, first: int) -> Turn:
        sink = self.sinks[first // self._batches_of_a_turn % len(self.sinks)]
        return Turn(sink=sink, out=self.job.folder / f"{first}-{sink}", first=first)

    def _next_sample(self) -> int:
        """The batch to sample at: the same ones in each round, at each size of the state."""
        return (self.job.committed() // SAMPLE_BATCHES + 1) * SAMPLE_BATCHES

    def _sample(self, process: Process) -> None:
        seconds = time.monotonic() - self._begun
        self.samples.add(
            take(process, self.job, seconds=seconds, life=self._lives, sink=self._turn.sink)
        )
