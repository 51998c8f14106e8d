"""What the judge says of output and versions that are wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from holdfast_spark.checkpoint.errors import CheckpointError
from objectstores.judge import newest_files, wrong_output, wrong_versions
from objectstores.windows import Counts, lines, output_of, state_after

BATCHES = 6
NEWEST = range(BATCHES)


def test_rows_come_are_changed_and_go() -> None:
    for batch in range(1, BATCHES):
        before, after = state_after(NEWEST, batch - 1), state_after(NEWEST, batch)
        output = output_of(NEWEST, batch)
        changed = {key for key in after if after[key] != before.get(key)}
        assert changed == output.keys()
        assert before.keys() & changed
        assert (before.keys() - after.keys() != set()) == (batch > 2)
        assert max(second for second, _ in lines(batch)) == 10 * batch + 19


def test_each_version_that_is_lost_or_wrong_is_told() -> None:
    def read(batch: int) -> Counts:
        found = state_after(NEWEST, batch)
        if batch == 1:
            raise CheckpointError("2.delta is gone.")
        if batch == 3:
            found.popitem()
        if batch == 4:
            found[max(found)] += 1
        return found

    lost, fewer, other = wrong_versions(read, NEWEST, retained=100)
    assert lost == "the state after batch 1 cannot be read: 2.delta is gone."
    assert fewer.startswith("the state after batch 3 is wrong: missing [(")
    assert "other counts [(50, 'word 9')]" in other
    assert list(wrong_versions(read, NEWEST, retained=1)) == []


def write_output(folder: Path, batch: int, newest: Sequence[int], *, but: int = 0) -> None:
    rows = [[*key, times] for key, times in output_of(newest, batch).items()]
    (folder / f"{batch}.json").write_text(json.dumps(rows[but:]))


def test_so_is_output_that_is_missing_or_wrong(tmp_path: Path) -> None:
    for batch in (0, 2):
        write_output(tmp_path, batch, NEWEST, but=batch // 2)
    [ends] = wrong_output(tmp_path, 3)
    assert ends == "the newest files of the batches are [0], of 3 files"
    [gap] = wrong_output(tmp_path, 1)
    assert gap == "batch 1 has written nothing, of 3 batches"
    write_output(tmp_path, 1, NEWEST)
    [wrong] = wrong_output(tmp_path, 3)
    assert wrong.startswith("batch 2 has written wrong: missing [(")


def test_a_batch_may_read_a_file_that_was_planned_before_with_the_next(tmp_path: Path) -> None:
    newest = [0, 1, 2, 4, 5]
    for batch in range(5):
        write_output(tmp_path, batch, newest)
    assert newest_files(tmp_path) == newest
    assert list(wrong_output(tmp_path, 6)) == []
    # Its watermark is that of the batch before, so a window ends a batch later.
    held, alone = state_after(newest, 3), state_after(NEWEST, 4)
    assert {key: times for key, times in held.items() if key[0] >= 20} == alone
    assert {second for second, _ in held.keys() - alone.keys()} == {10}
    assert output_of(newest, 3).keys() == output_of(NEWEST, 3).keys() | output_of(NEWEST, 4).keys()
    assert state_after(newest, 4) == state_after(NEWEST, 5)


def test_files_that_no_batch_has_read_or_two_are_told(tmp_path: Path) -> None:
    for batch in range(3):
        write_output(tmp_path, batch, NEWEST)
    assert list(wrong_output(tmp_path, 4)) == [
        "the newest files of the batches are [0, 1, 2], of 4 files"
    ]
    write_output(tmp_path, 1, [0, 2])
    assert "[0, 2, 2]" in next(wrong_output(tmp_path, 3))
