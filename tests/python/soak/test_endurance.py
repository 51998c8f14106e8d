"""The long run of a query, made short: what it goes through is right, and is written down."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from soak.crashes import BRIEF
from soak.endurance import Endurance
from soak.events import Events
from soak.process import Job
from soak.samples import Samples
from soak.sinks import BATCHES, FILES, ROWS
from soak.sources import Rate

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_spark_settings")]

_KILLS = 2
_SAMPLES = 2


@pytest.mark.long
def test_a_query_goes_through_restarts_kills_and_sinks(tmp_path: Path) -> None:
    samples = Samples(StringIO())
    told: list[str] = []
    run = Endurance(
        job=Job(folder=tmp_path, source=Rate(Events(rows=60, cycle=2)), conf=BRIEF),
        seed=1,
        sinks=(BATCHES, ROWS, FILES),
        samples=samples,
        say=told.append,
        over=lambda: run.happened["kills"] >= _KILLS and len(samples.taken) >= _SAMPLES,
        rounds=(0,),
    )
    run.run()
    assert run.wrong == []
    assert run.happened["kills"] >= _KILLS
    assert told
    assert all(sentence.endswith(": right") for sentence in told)
    assert run.happened["batches judged"] == run.job.committed() + 1
    for sample in samples.taken:
        assert 10 < sample.heap_mib < sample.rss_mib
        assert min(sample.rows, sample.threads, sample.handles, sample.files) > 0
