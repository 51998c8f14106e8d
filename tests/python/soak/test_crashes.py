"""A query with every sink, its driver killed over and over: the result is that of a batch job."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools import delta
from holdfast_spark import _jars
from soak.crashes import BRIEF, Crashes
from soak.events import Events
from soak.process import Job
from soak.sinks import BATCHES, FILES, ROWS, SINKS
from soak.sources import Rate

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

_EVENTS = Events(rows=60, cycle=6)


def check(folder: Path, *sinks: str, jars: tuple[Path, ...] = ()) -> None:
    """Check that ten kills change no result."""
    job = Job(folder=folder, source=Rate(_EVENTS), conf=BRIEF, jars=jars)
    crashes = Crashes(job=job, seed=1, sinks=sinks, kills=10)
    assert [*crashes.wrong()] == []
    assert crashes.killed["drivers"] == 10


def test_ten_kills_change_no_result(tmp_path: Path) -> None:
    if _jars.installed_spark_line() != delta.spark_line():
        pytest.skip("this Delta is for another line")
    check(tmp_path, *SINKS, jars=delta.fetch())


@pytest.mark.long
def test_ten_kills_change_no_result_where_there_is_no_delta(tmp_path: Path) -> None:
    check(tmp_path, BATCHES, ROWS, FILES)
