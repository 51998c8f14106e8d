"""One history of crashes: the query with one sink after the other, its processes killed."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from objectstores.processes import EXECUTOR, kill
from soak.judge import Turn, wrong_computation, wrong_state
from soak.process import Job, Process

LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"

# For JVMs that live for seconds: compiling takes longer than running for so few rows.
BRIEF = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.stateStore.maintenanceInterval": "300ms",
}
_LAST_WITHOUT_OUTPUT = 3
_SECONDS_OF_A_BATCH = 1.0
_SECONDS_OF_A_COMMIT = 0.02
_POLL_SECONDS = 0.05
# Chance alone would seldom meet this moment, which a sink must bear: it is written to once more.
_BETWEEN_OUTPUT_AND_COMMIT = 0.5


@dataclass(kw_only=True)
class Crashes:
    """Runs a query whose driver is killed so many times, in each sink's turn as often.

    Attributes:
        job: the query; its folder is new.
        seed: says when what is killed, up to what the scheduling of processes does.
        sinks: in the order of their turns.
        kills: of the driver.
        killed: what has been killed, and how often.
    """

    job: Job
    seed: int
    sinks: tuple[str, ...]
    kills: int
    killed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._process: Process | None = None
        self._source = self.job.source
        self._sink = self.sinks[0]
        self._expected = self.job.expected(lambda: self._sink)

    def wrong(self) -> Iterator[str]:
        """Run it to its end; yield what is wrong then, a sentence each.

        Raises:
            DriverError: the query does not go on.
        """
        try:
            for number, sink in enumerate(self.sinks):
                kills = (self.kills + number) // len(self.sinks)
                yield from self._turn(sink, kills)
            yield from self._wrong_in_all()
        finally:
            self._kill()

    def _turn(self, sink: str, kills: int) -> Iterator[str]:
        self._sink = sink
        first = self.job.committed() + 1
        turn = Turn(sink=sink, out=self.job.folder / f"{first}-{sink}", first=first)
        for _ in range(kills):
            process = self._begun(turn)
            self._wait_for(process, _LAST_WITHOUT_OUTPUT)
            self._disturb(process, turn)
            self._kill()
            self.killed["drivers"] += 1
            self.killed["drivers in a batch"] += self.job.planned() > self.job.committed()
            self._expected.follow(self.job.committed())
            self._source.without_driver(self.job)
        process = self._begun(turn)
        self._wait_for(process, self.job.committed() + 2)
        if sink == self.sinks[-1]:
            self._source.finish()
            process.wait_until(self._has_read_all, "all to be read", poll_seconds=_POLL_SECONDS)
        process.order("rest")
        last = self.job.committed()
        yield from turn.wrong(self._expected, last)
        yield from wrong_state(self.job, self._expected, last)

    def _begun(self, turn: Turn) -> Process:
        if self._process is None:
            self._process = Process(self.job)
        refusal = self._source.refusal
        if refusal:
            self._begin(self._process, turn)
            self._process.require_refusal(refusal)
            self._source.accept()
        self._begin(self._process, turn)
        return self._process

    def _begin(self, process: Process, turn: Turn) -> None:
        stream = self._source.stream()
        process.order("begin", stream=stream, sink=turn.sink, out=str(turn.out), first=turn.first)

    def _wait_for(self, process: Process, batch: int) -> None:
        """Wait for a batch, and look meanwhile at what each has read: the log does not keep it."""
        process.wait_until(
            lambda: self._followed() >= batch, f"batch {batch}", poll_seconds=_POLL_SECONDS
        )

    def _wait_until(self, process: Process, condition: Callable[[], bool], what: str) -> None:
        """Wait for a moment that is soon over, and look at what is read as well."""
        process.wait_until(lambda: self._followed() >= -1 and condition(), what)

    def _followed(self) -> int:
        self._expected.follow(self.job.committed())
        return self._expected.known

    def _has_read_all(self) -> bool:
        self._followed()
        read = self._expected.numbers
        return self._source.produced(read).total() <= read.total()

    def _disturb(self, process: Process, turn: Turn) -> None:
        """Wait until the driver is where it is to be killed; trouble others on the way."""
        if self.job.master == CLUSTER:
            self._wait_for(process, self.job.committed() + self._random.randint(0, 1))
            self._doze()
            self.killed["executors"] += kill(process.session, EXECUTOR, at_most=1)
        self._source.trouble()
        self._wait_for(process, self.job.committed() + self._random.randint(0, 2))
        moment = self._source.moment(self.job)
        if moment:
            self._wait_until(process, moment, "the source")
        elif self._random.random() < _BETWEEN_OUTPUT_AND_COMMIT:
            self._wait_until(process, lambda: self.job.planned() > self._followed(), "a batch")
            files = _count(turn.out)
            self._wait_until(process, lambda: _count(turn.out) != files, "output")
            time.sleep(self._random.choice([0, _SECONDS_OF_A_COMMIT]))
        else:
            self._doze()

    def _doze(self) -> None:
        """Wait until somewhere in the next batch, or the next few where they are short."""
        end = time.monotonic() + self._random.uniform(0, _SECONDS_OF_A_BATCH)
        while (rest := end - time.monotonic()) > 0:
            self._followed()
            time.sleep(min(rest, _POLL_SECONDS))

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _wrong_in_all(self) -> Iterator[str]:
        """Hold what was expected of each batch against Spark's own computation in one go."""
        expected, last = self._expected, self.job.committed()
        expected.follow(last)
        produced = self._source.produced(expected.numbers)
        missing, extra = produced - expected.numbers, expected.numbers - produced
        if missing or extra:
            yield (
                f"{missing.total()} numbers that were produced were not read, such as "
                f"{[*missing][:3]}, and {extra.total()} too many, such as {[*extra][:3]}"
            )
        self._source.happened["rows"] += produced.total()
        self._source.happened["rows dropped for being late"] += len(expected.late)
        assert self._process is not None
        yield from wrong_computation(self._process, self.job, expected, last)


def _count(out: Path) -> int:
    """How many files a sink has, without those that are being written."""
    return sum(not name.startswith(".") for _, _, names in os.walk(out) for name in names)
