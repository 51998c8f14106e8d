"""A query in a standalone cluster: the result is that of a batch job, whatever happens to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cluster import tasks
from cluster.history import MAINTENANCE, TWINS, History
from cluster.troubles import KINDS

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_STAY = {
    # Spark's default. A task whose store was on an executor that is lost waits twice as long.
    "spark.locality.wait": "3s",
    # The first batch waits for all executors.
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "5m",
}


def history(
    folder: Path, *troubles: str, conf: Mapping[str, str], elastic: bool = False
) -> History:
    settings = {MAINTENANCE: "300ms", "spark.speculation": "false", **conf}
    return History(seed=1, folder=folder, troubles=troubles, conf=settings, elastic=elastic)


@pytest.mark.slow
def test_stores_stay_until_their_worker_is_silent_and_nothing_is_lost(tmp_path: Path) -> None:
    lived = history(tmp_path, "worker silent", conf={**_STAY, _FORMAT: "2"})
    assert [*lived.wrong()] == []
    assert lived.happened["workers silent"] == 1
    assert lived.happened["executors that let go"] > 0

    (application,) = tasks.read(lived.logs)
    quiet = [task for task in application.tasks if task.batch <= lived.quiet]
    assert len({task.executor for task in quiet}) == 2
    assert len({(task.store, task.executor) for task in quiet}) == len(
        {task.store for task in quiet}
    )
    # The first batch begins with an empty state, which is in no file.
    assert [task for task in quiet if task.loaded] == []
    # What the silent one had was read from its files by the other.
    assert sum(task.loaded for task in application.tasks) > 0
    assert lived.happened["stores that moved"] > 0


@pytest.mark.long
@pytest.mark.parametrize("format_version", ["1", "2"])
def test_one_of_two_attempts_at_a_partition_counts(tmp_path: Path, format_version: str) -> None:
    # A twin goes where the store is not.
    conf = {**TWINS, "spark.locality.wait": "200ms", _FORMAT: format_version, MAINTENANCE: "1h"}
    lived = history(tmp_path, "executor slow", "executor slow", "executor slow", conf=conf)
    assert [*lived.wrong()] == []
    assert lived.happened["twins that won"] + lived.happened["twins that lost"] > 0


@pytest.mark.long
@pytest.mark.parametrize("least", ["0", "1"])
def test_executors_come_and_go_and_take_their_stores_with_them(tmp_path: Path, least: str) -> None:
    conf = {"spark.dynamicAllocation.minExecutors": least}
    lived = history(tmp_path, "executor killed", conf=conf, elastic=True)
    assert [*lived.wrong()] == []
    assert lived.happened["executors added"] > 3
    # Beside the one that was killed.
    assert lived.happened["executors removed"] > 1
    assert lived.happened["executors that let go"] >= int(least)


@pytest.mark.long
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "executor slow"])
def test_a_query_comes_through(tmp_path: Path, kind: str) -> None:
    lived = history(tmp_path, kind, conf={_FORMAT: "1"})
    assert [*lived.wrong()] == []
    assert lived.happened["stores that moved"] > 0 or kind == "driver killed"
