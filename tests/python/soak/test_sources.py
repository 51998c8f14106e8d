"""A query that reads files, and one that reads Kafka, killed while the source is in trouble."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark import _jars
from soak.crashes import BRIEF, Crashes
from soak.events import Events
from soak.process import Job
from soak.sinks import BATCHES, FILES
from soak.sources import Source, kafka
from soak.sources.files import Files
from soak.sources.kafka.source import Kafka

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

_EVENTS = Events(rows=60, cycle=6)
_KILLS = 2


def check(folder: Path, source: Source, *sinks: str, jars: tuple[Path, ...] = ()) -> None:
    """Check that no kill changes a result, and that the query reads each number once."""
    job = Job(folder=folder, source=source, conf=BRIEF, jars=jars)
    crashes = Crashes(job=job, seed=1, sinks=sinks, kills=_KILLS)
    assert [*crashes.wrong()] == []
    assert crashes.killed["drivers"] == _KILLS


@pytest.mark.slow
def test_files_that_come_late_and_go_change_no_result(tmp_path: Path) -> None:
    with Files(tmp_path / "input", _EVENTS, seed=1, at_most=3) as source:
        check(tmp_path, source, BATCHES)
    happened = source.happened
    assert happened["files late"] > 0
    assert happened["files removed after they were read"] == _KILLS
    assert happened["rows"] > 0


def test_a_broker_that_falls_and_records_that_go_change_no_result(tmp_path: Path) -> None:
    if _jars.installed_spark_line() != kafka.spark_line():
        pytest.skip("this connector is for another line")
    with Kafka(tmp_path / "kafka", _EVENTS, seed=9, nodes=1, at_most=200) as source:
        check(tmp_path, source, FILES, jars=kafka.connector())
    happened = source.happened
    assert happened["brokers killed"] == happened["partitions added"] == 1
    assert happened["transactions aborted"] > 0
    assert happened["times that retention removed what was not read"] == 1
    assert happened["times that a query refused to go on"] == 1
