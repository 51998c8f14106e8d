"""Driver processes: what they report, how they fail, and that killing them kills their JVM."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast_spark.demo import driver
from holdfast_spark.demo.driver import Driver
from holdfast_spark.demo.errors import DemoError, DemoUsageError
from holdfast_spark.demo.plan import Layout

PROGRESS: dict[str, Any] = {
    "id": "a",
    "runId": "b",
    "name": None,
    "timestamp": "2013-01-01T00:00:00.000Z",
    "batchId": 3,
    "batchDuration": 5,
    "numInputRows": 7,
    "inputRowsPerSecond": 1.0,
    "processedRowsPerSecond": 1.0,
    "durationMs": {},
    "stateOperators": [],
}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def play(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Make a driver run `script`, which has `report` to report with, instead of a stage."""
    head = "import json, signal, subprocess, sys\ndef report(**r): print(json.dumps(r), flush=1)\n"
    monkeypatch.setattr(driver, "CHILD", (sys.executable, "-c", head + script))


def test_progress_and_outcome_are_reported(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    play(
        monkeypatch,
        "print('a JVM says something')\n"
        f"report(event='progress', progress=json.loads({json.dumps(json.dumps(PROGRESS))}))\n"
        "report(event='done', outcome={'stage': sys.argv[1], 'work': sys.argv[2]})\n",
    )
    with Driver("check", layout) as child:
        batches = [progress.batch_id for progress in child.progress() if progress]
    assert batches == [3]
    assert child.done
    assert child.outcome == {"stage": "check", "work": str(layout.work)}


def test_an_expected_failure_is_its_sentence_and_the_log(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, "report(event='failed', sentence='no such thing', usage=False)")
    with (
        Driver("check", layout) as child,
        pytest.raises(DemoError, match="no such thing") as raised,
    ):
        child.run()
    assert str(layout.log("check")) in str(raised.value)
    assert not isinstance(raised.value, DemoUsageError)


def test_a_usage_error_of_a_driver_is_one_of_the_demo(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, "report(event='failed', sentence='no column x', usage=True)")
    with (
        Driver("prepare", layout) as child,
        pytest.raises(DemoUsageError, match=r"^no column x.$"),
    ):
        child.run()


def test_a_sudden_end_quotes_the_log(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, "print('{\"event\": \"pro', end='')\nsys.exit('out of memory')")
    with (
        Driver("stream", layout) as child,
        pytest.raises(DemoError, match=r"driver ended with exit code 1 .*: out of memory\.$"),
    ):
        child.run()


def test_a_kill_reaches_the_processes_that_a_driver_started(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The end of the pipe, for which kill() waits, comes only when the grandchild is gone as well.
    play(
        monkeypatch,
        "grandchild = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"report(event='progress', progress={PROGRESS!r})\n"
        "grandchild.wait()\n",
    )
    with Driver("stream", layout) as child:
        for progress in child.progress(tick_seconds=0.005):
            if progress is not None:
                child.kill()
                break
    assert not child.done


def test_leaving_a_driver_ends_it(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, "signal.pause()")
    with pytest.raises(KeyboardInterrupt), Driver("stream", layout):
        raise KeyboardInterrupt


def test_a_kill_after_the_end_does_nothing(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, "report(event='done', outcome={})")
    with Driver("stream", layout) as child:
        child.run()
        child.kill()
    assert child.done
