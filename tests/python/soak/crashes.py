"""One history of crashes: the query with one sink after the other, its processes killed."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from objectstores.processes import EXECUTOR, kill
from soak.judge import Turn, difference, wrong_state
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
        first = self.job.committed() + 1
        turn = Turn(sink=sink, out=self.job.folder / f"{first}-{sink}", first=first)
        for _ in range(kills):
            process = self._begun(turn)
            process.wait_for(_LAST_WITHOUT_OUTPUT)
            self._disturb(process, turn)
            self._kill()
            self.killed["drivers"] += 1
            self.killed["drivers in a batch"] += self.job.planned() > self.job.committed()
        process = self._begun(turn)
        process.wait_for(self.job.committed() + 2)
        process.order("rest")
        last = self.job.committed()
        yield from turn.wrong(self.job.events, last)
        yield from wrong_state(self.job.checkpoint, self.job.events, last)

    def _begun(self, turn: Turn) -> Process:
        if self._process is None:
            self._process = Process(self.job)
        self._process.order("begin", sink=turn.sink, out=str(turn.out), first=turn.first)
        return self._process

    def _disturb(self, process: Process, turn: Turn) -> None:
        """Wait until the driver is where it is to be killed; kill an executor on the way."""
        if self.job.master == CLUSTER:
            process.wait_for(self.job.committed() + self._random.randint(0, 1))
            self._doze()
            self.killed["executors"] += kill(process.session, EXECUTOR, at_most=1)
        process.wait_for(self.job.committed() + self._random.randint(0, 2))
        if self._random.random() < _BETWEEN_OUTPUT_AND_COMMIT:
            process.wait_until(lambda: self.job.planned() > self.job.committed(), "a batch")
            files = _count(turn.out)
            process.wait_until(lambda: _count(turn.out) != files, "output")
            time.sleep(self._random.choice([0, _SECONDS_OF_A_COMMIT]))
        else:
            self._doze()

    def _doze(self) -> None:
        """Wait until somewhere in the next batch."""
        time.sleep(self._random.uniform(0, _SECONDS_OF_A_BATCH))

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _wrong_in_all(self) -> Iterator[str]:
        """Hold what was expected of each batch against Spark's own computation in one go."""
        events, last = self.job.events, self.job.committed()
        assert self._process is not None
        computed = self._process.order("compute", batches=last + 1)
        rows = Counter((second, word, n, total) for second, word, n, total in computed)
        batches = {begin: events.batch_of(begin) for begin in {row[0] for row in rows}}
        ended = Counter({row: n for row, n in rows.items() if batches[row[0]] <= last})
        expected = sum((events.output_of(batch) for batch in range(last + 1)), start=Counter())
        if ended != expected:
            yield f"computed in one go, the batches up to {last} {difference(ended, expected)}"


def _count(out: Path) -> int:
    """How many files a sink has, without those that are being written."""
    return sum(not name.startswith(".") for _, _, names in os.walk(out) for name in names)
