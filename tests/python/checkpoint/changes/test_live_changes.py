"""Commands that change the checkpoint of a query which runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import SharedSpark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.since("4.0", "metadata of operators, which tells how rows are placed"),
]

APP = Path(__file__).parents[1] / "apps" / "live_changes.py"
# Every command at every moment once; `./dev live` runs more.
TRIALS = 30


def test_a_running_query_fails_at_its_next_batch_or_the_change_is_refused(
    shared_spark: SharedSpark, tmp_path: Path
) -> None:
    finished = shared_spark.python(APP, tmp_path / "trials", "1", str(TRIALS))
    found = [json.loads(line) for line in finished.out.splitlines() if line.startswith("{")]
    *trials, summary = found
    assert len(trials) == TRIALS, finished.err
    assert [trial for trial in trials if trial["wrong"]] == []
    assert set(summary["outcomes"]) >= {"done", "refused", "cut off"}
    in_a_batch = ("in the batch", "before the commit")
    running = [trial for trial in trials if trial["moment"] in in_a_batch]
    changed = {trial["command"] for trial in running if trial["outcome"] == "done"}
    # What leaves the rows as they are is no matter to a run.
    assert changed <= {"rebuild"}
