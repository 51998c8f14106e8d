"""What is counted of Spark's event logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cluster import tasks

LOADED = "count of versions loaded from files"


def stage(number: int, batch: int, *rdds: str) -> dict[str, Any]:
    return {
        "Event": "SparkListenerStageSubmitted",
        "Stage Info": {"Stage ID": number, "RDD Info": [{"Name": rdd} for rdd in rdds]},
        "Properties": {"streaming.sql.batchId": str(batch)},
    }


def task(
    number: int, partition: int, executor: str, *, twin: bool = False, reason: str = "Success"
) -> dict[str, Any]:
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": number,
        "Task End Reason": {"Reason": reason},
        "Task Info": {
            "Index": partition,
            "Executor ID": executor,
            "Speculative": twin,
            "Accumulables": [
                {"Name": LOADED, "Update": "2"},
                {"Name": LOADED},
                {"Name": "number of total state rows", "Update": "7"},
            ],
        },
    }


def test_moves_returns_and_twins_of_stores_are_counted_and_a_torn_line_is_the_end(
    tmp_path: Path,
) -> None:
    state, other = "StateStoreRDD", "MapPartitionsRDD"
    events = [
        {"Event": "SparkListenerExecutorAdded"},
        {"Event": "SparkListenerExecutorAdded"},
        {"Event": "SparkListenerExecutorRemoved"},
        *(stage(0, 4, other), stage(1, 4, other, state), stage(2, 4, state)),
        *(task(0, 0, "a"), task(1, 0, "a"), task(2, 0, "b")),
        *(stage(3, 5, other), stage(4, 5, state), stage(5, 5, state)),
        task(4, 0, "b", twin=True),
        task(4, 0, "a", reason="TaskKilled"),
        *(task(5, 0, "b"), task(5, 1, "b"), task(5, 1, "a", twin=True, reason="TaskKilled")),
        *(stage(6, 6, state), task(6, 0, "a")),
    ]
    lines = [json.dumps(event) for event in [*events, task(6, 0, "b")]]
    (tmp_path / "app").write_text("\n".join(lines)[:-9])
    (application,) = tasks.read(tmp_path)
    assert application.counts() == {
        "executors added": 2,
        "executors removed": 1,
        "twins that won": 1,
        "twins that lost": 1,
        "stores that moved": 2,
        "stores that came back": 1,
    }
    first, *_, last = application.tasks
    assert (first.batch, first.store, first.executor, first.loaded) == (4, (0, 0), "a", 2)
    assert (last.batch, last.store, last.executor, last.twin) == (6, (0, 0), "a", False)
    assert [task.store for task in application.tasks if task.batch == 5][-1] == (1, 1)
