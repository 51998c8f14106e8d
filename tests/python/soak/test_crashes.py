"""A query with every sink, its driver killed over and over: the result is that of a batch job."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools import delta
from holdfast_spark import _jars
from soak.crashes import BRIEF, Crashes
from soak.events import Events
from soak.process import Job
from soak.sinks import BATCHES, DELTA, FILES, ROWS
from soak.sources import Rate

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

_EVENTS = Events(rows=60, cycle=6)


@pytest.mark.slow
def test_ten_kills_change_no_result(tmp_path: Path) -> None:
    job = Job(folder=tmp_path, source=Rate(_EVENTS), conf=BRIEF)
    crashes = Crashes(job=job, seed=1, sinks=(BATCHES, ROWS, FILES), kills=10)
    assert [*crashes.wrong()] == []
    assert crashes.killed["drivers"] == 10


@pytest.mark.long
def test_four_kills_change_no_delta_table(tmp_path: Path) -> None:
    if _jars.installed_spark_line() != delta.spark_line():
        pytest.skip("this Delta is for another line")
    job = Job(folder=tmp_path, source=Rate(_EVENTS), conf=BRIEF, jars=delta.fetch())
    crashes = Crashes(job=job, seed=2, sinks=(DELTA,), kills=4)
    assert [*crashes.wrong()] == []
    assert crashes.killed["drivers"] == 4
