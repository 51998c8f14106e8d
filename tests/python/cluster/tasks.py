"""What Spark's event logs tell of tasks that had state: where they ran, and what they loaded."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CONF = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
"""Has the logs written as they are read here; `spark.eventLog.dir` says where to."""

_LOADED = "count of versions loaded from files"
_OF_STATE = "StateStoreRDD"
_BATCH = "streaming.sql.batchId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An attempt that has ended.

    Attributes:
        batch: its number.
        store: operator and partition; operators are counted in the order of their stages.
        executor: its number.
        twin: whether it was begun beside one that took long.
        succeeded: whether it was the one that counted.
        loaded: how many versions it loaded from files, 0 where Spark does not say: see `succeeded`.
    """

    batch: int
    store: tuple[int, int]
    executor: str
    twin: bool
    succeeded: bool
    loaded: int


@dataclass(slots=True)
class Application:
    """What one driver's log has.

    Attributes:
        tasks: of operators with state, in the order in which they ended.
        executors: how many came, and how many were lost or sent away.
    """

    tasks: list[Task] = field(default_factory=list)
    executors: Counter[str] = field(default_factory=Counter)

    def counts(self) -> Counter[str]:
        """Count what happened to stores and executors."""
        counted = Counter(self.executors)
        visited: dict[tuple[int, int], list[str]] = defaultdict(list)
        for task in self.tasks:
            counted["twins that won"] += task.twin and task.succeeded
            counted["twins that lost"] += task.twin and not task.succeeded
            places = visited[task.store]
            if task.succeeded and places[-1:] != [task.executor]:
                counted["stores that moved"] += bool(places)
                counted["stores that came back"] += task.executor in places
                places.append(task.executor)
        return counted


def read(logs: Path) -> list[Application]:
    """Return what all logs in a folder have, of drivers that were killed too."""
    return [_read(log) for log in sorted(logs.iterdir())]


def _read(log: Path) -> Application:
    found = Application()
    stages: dict[int, tuple[int, int]] = {}
    of_batch: Counter[int] = Counter()
    for event in _events(log):
        kind = event["Event"].removeprefix("SparkListener")
        if kind == "ExecutorAdded":
            found.executors["executors added"] += 1
        elif kind == "ExecutorRemoved":
            found.executors["executors removed"] += 1
        elif kind == "StageSubmitted" and _has_state(event):
            stage, batch = event["Stage Info"]["Stage ID"], int(event["Properties"][_BATCH])
            if stage not in stages:
                stages[stage] = batch, of_batch[batch] % 2
                of_batch[batch] += 1
        elif kind == "TaskEnd" and event["Stage ID"] in stages:
            batch, operator = stages[event["Stage ID"]]
            info = event["Task Info"]
            task = Task(
                batch=batch,
                store=(operator, info["Index"]),
                executor=info["Executor ID"],
                twin=info["Speculative"],
                succeeded=event["Task End Reason"]["Reason"] == "Success",
                loaded=sum(
                    int(each["Update"])
                    for each in info["Accumulables"]
                    if each["Name"] == _LOADED and "Update" in each
                ),
            )
            found.tasks.append(task)
    return found


def _has_state(event: dict[str, Any]) -> bool:
    return any(rdd["Name"] == _OF_STATE for rdd in event["Stage Info"]["RDD Info"])


def _events(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text(errors="replace").splitlines():
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:  # what a driver that was killed wrote last
            return
        yield event
