"""What is done to a cluster while a query runs in it."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from cluster.standalone import Standalone, Worker
from soak.process import Job, Process

MASTER = "master killed"
_SECONDS_OF_A_BATCH = 1.0
_SLOW_BATCHES = 3
_SLOW_SECONDS = 20.0
_STOPPED_SECONDS = (0.1, 0.8)
_RUNNING_SECONDS = 0.1


@dataclass(kw_only=True)
class Troubles:
    """Makes trouble in a batch, and returns when the query has come through it.

    Attributes:
        cluster: where.
        job: what runs there.
        random: says when, and what it meets.
        begin: starts a driver whose query runs.
        process: the driver.
        happened: what has been done, and how often.
    """

    cluster: Standalone
    job: Job
    random: random.Random
    begin: Callable[[], Process]
    process: Process
    happened: Counter[str]

    def make(self, kind: str) -> None:
        """Make trouble, of a kind in `KINDS`."""
        self.process.wait_for(self.job.committed() + self.random.randint(0, 2))
        self._into_a_batch()
        KINDS[kind](self)
        self._wait_for_more(1)

    def kill_executor(self) -> None:
        """An executor goes, and its worker starts another."""
        with suppress(ProcessLookupError, IndexError):  # none is there just now
            os.kill(self.random.choice(self.cluster.executors), signal.SIGKILL)
            self.happened["executors killed"] += 1

    def kill_worker(self) -> None:
        """A worker goes with its executors, and another one comes at its address."""
        self.cluster.kill_worker(self._worker())
        self.happened["workers killed"] += 1
        self._wait_for_more(1)
        self.cluster.add_worker()

    def silence_worker(self) -> None:
        """A worker and its executors stand still, are lost, and go on when others do their work."""
        with self._worker().silent():
            self._wait_for_more(2)
        self.happened["workers silent"] += 1

    def slow_executor(self) -> None:
        """An executor gets little time, so that others are given what it is at."""
        enough, end = self.job.committed() + _SLOW_BATCHES, time.monotonic() + _SLOW_SECONDS
        with suppress(ProcessLookupError, IndexError):
            executor = self.random.choice(self.cluster.executors)
            self.happened["executors slow"] += 1
            while self.job.committed() < enough and time.monotonic() < end:
                os.kill(executor, signal.SIGSTOP)
                time.sleep(self.random.uniform(*_STOPPED_SECONDS))
                os.kill(executor, signal.SIGCONT)
                time.sleep(_RUNNING_SECONDS)

    def kill_master(self) -> None:
        """The master goes; another one reads what it has left, and knows workers and query."""
        self.cluster.kill_master()
        self._wait_for_more(1)
        self.cluster.start_master()
        self.happened["masters killed"] += 1
        # It has to come from the new one.
        self.kill_executor()

    def kill_driver(self) -> None:
        """The driver goes, and another one goes on; executors of the first may still be at work."""
        worker = self._worker() if self.random.random() < 1 / 2 else None
        with worker.silent() if worker else nullcontext():
            self.process.kill()
            self.happened["drivers killed"] += 1
            self.happened["workers silent meanwhile"] += worker is not None
            self.process = self.begin()
            self._wait_for_more(1)

    def _worker(self) -> Worker:
        return self.random.choice(self.cluster.workers)

    def _into_a_batch(self) -> None:
        time.sleep(self.random.uniform(0, _SECONDS_OF_A_BATCH))

    def _wait_for_more(self, batches: int) -> None:
        self.process.wait_for(self.job.committed() + batches)


KINDS: dict[str, Callable[[Troubles], None]] = {
    "executor killed": Troubles.kill_executor,
    "worker killed": Troubles.kill_worker,
    "worker silent": Troubles.silence_worker,
    "executor slow": Troubles.slow_executor,
    MASTER: Troubles.kill_master,
    "driver killed": Troubles.kill_driver,
}
