"""What the judge says of output and versions that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast_spark.checkpoint.errors import CheckpointError
from objectstores.judge import wrong_output, wrong_versions
from objectstores.windows import Counts, lines, output_of, state_after

BATCHES = 6


def test_rows_come_are_changed_and_go() -> None:
    for batch in range(1, BATCHES):
        before, after, output = state_after(batch - 1), state_after(batch), output_of(batch)
        changed = {key for key in after if after[key] != before.get(key)}
        assert changed == output.keys()
        assert before.keys() & changed
        assert (before.keys() - after.keys() != set()) == (batch > 2)
        assert max(second for second, _ in lines(batch)) == 10 * batch + 19


def test_each_version_that_is_lost_or_wrong_is_told() -> None:
    def read(batch: int) -> Counts:
        found = state_after(batch)
        if batch == 1:
            raise CheckpointError("2.delta is gone.")
        if batch == 3:
            found.popitem()
        if batch == 4:
            found[max(found)] += 1
        return found

    lost, fewer, other = wrong_versions(read, BATCHES, retained=100)
    assert lost == "the state after batch 1 cannot be read: 2.delta is gone."
    assert fewer.startswith("the state after batch 3 is wrong: missing [(")
    assert "other counts [(50, 'word 9')]" in other
    assert list(wrong_versions(read, BATCHES, retained=1)) == []


def test_so_is_output_that_is_missing_or_wrong(tmp_path: Path) -> None:
    for batch in (0, 2):
        rows = [[*key, times] for key, times in output_of(batch).items()]
        (tmp_path / f"{batch}.json").write_text(json.dumps(rows[1:] if batch else rows))
    nothing, wrong = wrong_output(tmp_path, 3)
    assert nothing == "batch 1 has written nothing"
    assert wrong.startswith("batch 2 has written wrong: missing [(")
