"""One history: a query in a standalone cluster, the troubles it meets, and what it leaves."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cluster import tasks
from cluster.held import Held, held
from cluster.standalone import Standalone
from cluster.troubles import KINDS, MASTER, Troubles
from soak.crashes import BRIEF
from soak.events import Events
from soak.judge import Turn, wrong_computation, wrong_state
from soak.process import Job, Process
from soak.sinks import BATCHES, FILES, WITH_LOG
from soak.sources import Rate

STORES = "spark.sql.streaming.stateStore"
MAINTENANCE = f"{STORES}.maintenanceInterval"
_EVENTS = Events(rows=60, cycle=6)
_QUIET_BATCHES = 3
_LET_GO_SECONDS = 120.0
# Those of Holdfast's pools, which make a thread when there is work for it, and end it later.
_MORE_THREADS = 16

_CONF = {
    **BRIEF,
    **tasks.CONF,
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "4",
    # Who is silent is given up soon.
    "spark.executor.heartbeatInterval": "1s",
    "spark.network.timeout": "10s",
    "spark.network.timeoutInterval": "2s",
    "spark.rpc.askTimeout": "60s",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "500ms",
    # What is done to them is no reason to give up the query.
    "spark.task.maxFailures": "100",
    "spark.stage.maxConsecutiveAttempts": "100",
}
_FIXED = {
    "spark.cores.max": "4",
    "spark.executor.cores": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "20s",
}
ELASTIC = {
    "spark.cores.max": "6",
    "spark.executor.cores": "1",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
    "spark.dynamicAllocation.initialExecutors": "3",
    "spark.dynamicAllocation.maxExecutors": "3",
    "spark.dynamicAllocation.executorIdleTimeout": "1s",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
}
"""Executors come when tasks wait, and go when they have nothing to do for a second."""

_BETWEEN_BATCHES = "3 seconds"
TWINS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.1",
    # Also where all tasks of a stage are on the one that is slow.
    "spark.speculation.task.duration.threshold": "1s",
}


@dataclass(kw_only=True)
class History:
    """What is drawn from a seed.

    Attributes:
        seed: all is drawn from it, but what the scheduling of processes does.
        folder: a new folder.
        troubles: their kinds, in order; drawn for None.
        conf: settings in place of those that are drawn.
        elastic: whether executors come and go as there is work; drawn for None.
        happened: what was done, and what came of it.
        quiet: the last batch that was committed before the first trouble.
    """

    seed: int
    folder: Path
    troubles: tuple[str, ...] | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    elastic: bool | None = None
    happened: Counter[str] = field(default_factory=Counter)
    quiet: int = -1

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        drawn = self._random
        elastic = drawn.random() < 1 / 4 if self.elastic is None else self.elastic
        self.elastic = elastic
        # What is told to a master that goes, no other one gets to know: a query that has sent its
        # executors away may wait for others for good.
        kinds = drawn.choices([kind for kind in KINDS if not elastic or kind != MASTER], k=4)
        self.troubles = tuple(kinds) if self.troubles is None else self.troubles
        self._sink = drawn.choice([BATCHES, FILES])
        self._workers = drawn.choice([2, 2, 3])
        choices = {
            f"{STORES}.checkpointFormatVersion": ["1", "2"],
            f"{STORES}.minDeltasForSnapshot": ["2", "5"],
            # Stores that moved are let go of at once, or what is held of them grows old.
            MAINTENANCE: ["300ms", "300ms", "1h"],
            # A task goes to its store, or to whoever is free.
            "spark.locality.wait": ["3s", "200ms", "0s"],
            # One keeps what it has, or all go between two batches.
            "spark.dynamicAllocation.minExecutors": ["1", "0"],
        }
        twins = drawn.random() < 2 / 3
        self.conf = {
            **_CONF,
            **(ELASTIC if self.elastic else _FIXED),
            **(TWINS if twins else {}),
            **{name: drawn.choice(values) for name, values in choices.items()},
            "spark.sql.streaming.minBatchesToRetain": self._retained(drawn.choice(["3", "100"])),
            "spark.eventLog.dir": str(self.logs),
            **self.conf,
        }

    def _retained(self, batches: str) -> str:
        """What a sink with a log has to have is found in the end, in the offsets of all batches."""
        return "100" if self._sink in WITH_LOG else batches

    @property
    def logs(self) -> Path:
        """The folder of the drivers' event logs."""
        return self.folder / "events"

    @property
    def draw(self) -> str:
        """What was drawn, for a person."""
        format_ = self.conf[f"{STORES}.checkpointFormatVersion"]
        return ", ".join(
            [
                *(f"{self._workers} workers", f"format {format_}", self._sink),
                f"maintenance {self.conf[MAINTENANCE]}",
                f"wait {self.conf['spark.locality.wait']}",
                *(["elastic"] if self.elastic else []),
                *(["twins"] if self.conf.get("spark.speculation") == "true" else []),
            ]
        )

    def wrong(self) -> Iterator[str]:
        """Run it to its end; yield what is wrong then, a sentence each.

        Raises:
            DriverError: the query does not go on.
        """
        self.logs.mkdir()
        source = Rate(_EVENTS)
        turn = Turn(sink=self._sink, out=self.folder / self._sink, first=0)
        with Standalone(folder=self.folder) as cluster:
            for _ in range(self._workers):
                cluster.add_worker()
            job = Job(folder=self.folder, source=source, master=cluster.url, conf=self.conf)
            expected = job.expected(lambda: turn.sink)

            def begin() -> Process:
                begun = Process(job)
                every = _BETWEEN_BATCHES if self.elastic else None
                where = {"sink": turn.sink, "out": str(turn.out), "first": 0}
                begun.order("begin", stream=source.stream(), every=every, **where)
                return begun

            made = Troubles(
                cluster=cluster,
                job=job,
                random=self._random,
                begin=begin,
                process=begin(),
                happened=self.happened,
            )
            try:
                yield from self._lived_through(made)
                last = job.committed()
                yield from turn.wrong(expected, last)
                yield from wrong_computation(made.process, job, expected, last)
            finally:
                made.process.kill()
        # Nobody changes files any more.
        for application in tasks.read(self.logs):
            self.happened += application.counts()
        self.happened["batches"] += last + 1
        yield from wrong_state(job, expected, last)

    def _lived_through(self, made: Troubles) -> Iterator[str]:
        made.process.wait_for(_QUIET_BATCHES)
        self.quiet = made.job.committed()
        before = _look(made.cluster)
        # Where none has to stay, all may have gone between two batches.
        may_be_gone = self.elastic and self.conf["spark.dynamicAllocation.minExecutors"] == "0"
        if not may_be_gone and not any(each.stores for each in before.values()):
            yield "no executor has a store"
        for kind in self.troubles or ():
            made.make(kind)
        made.process.wait_for(made.job.committed() + 2)
        made.process.order("stop")
        if self.conf[MAINTENANCE] != "1h":
            yield from self._kept(made, before)

    def _kept(self, made: Troubles, before: Mapping[int, Held]) -> Iterator[str]:
        """Yield what executors keep of a query that has ended, as soon as they look for it."""
        now, kept = self._still_kept(made)
        # A task that was opening its stores when the query was stopped may have told Spark of them
        # too late to be forgotten. Then executors keep them, as they would those of any provider.
        late = made.process.order("forget") if kept else 0
        if late and late == sum(each.stores for each in kept.values()):
            self.happened["stores that Spark was told of too late"] += late
            now, kept = self._still_kept(made)
        self.happened["executors that let go"] += len(now) - len(kept)
        for pid, each in kept.items():
            yield "\n".join(
                [
                    f"executor {pid} keeps {each.stores} stores and {each.versions} versions",
                    *each.stacks,
                    made.cluster.said_by_executors(),
                ]
            )
        for pid in before.keys() & now.keys():
            self.happened["executors that lived through all"] += 1
            then, later = before[pid].threads, now[pid].threads
            if later > then + _MORE_THREADS:
                yield f"executor {pid} had {then} threads of stores, now {later}"

    def _still_kept(self, made: Troubles) -> tuple[dict[int, Held], dict[int, Held]]:
        """Wait for executors to let go; return what each holds, and those of them that do not."""
        end = time.monotonic() + _LET_GO_SECONDS
        while True:
            now = _look(made.cluster)
            kept = {pid: each for pid, each in now.items() if each.stores or each.versions}
            if not kept or time.monotonic() > end:
                return now, kept


def _look(cluster: Standalone) -> dict[int, Held]:
    looked = {pid: held(pid) for pid in cluster.executors}
    return {pid: each for pid, each in looked.items() if each}
