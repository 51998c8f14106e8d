"""What `verify` makes of the times of files: they are worth a note, and no proof."""

from __future__ import annotations

import os
from pathlib import Path

from checkpoint.checks.harm import (
    STATE_FILE,
    copied,
    exchanged,
    gone,
    invoke,
    rewrite,
    text,
    verified,
)
from checkpoint.whole import BATCHES


def test_deltas_that_another_batch_wrote_are_noted(path: Path) -> None:
    exchanged(STATE_FILE, "state/0/0/4.delta")(path)
    found = verified(path)
    assert (found.sound, found.broken) == (True, ())
    assert [note.partition(" may not be of version ")[0] for note in found.notes] == [
        str(path / "state/0/0/4.delta"),
        str(path / STATE_FILE),
    ]
    assert "written while batch 4 ran, found one of" in found.notes[1]
    assert "while batch 3 ran. If it has not been copied or restored since" in found.notes[1]


def test_two_deltas_exchanged_among_few_are_noted(path: Path) -> None:
    for version in (1, 2, 3):  # of which the time says nothing, so that seven are left
        file = path / f"state/0/1/{version}.delta"
        os.utime(file, (10 * version - 1, 10 * version - 1))
    assert verified(path).notes == ()
    exchanged(STATE_FILE, "state/0/0/4.delta")(path)
    assert len(verified(path).notes) == 2


def test_a_delta_copied_to_another_version_is_noted(path: Path) -> None:
    copied("state/0/0/2.delta", "state/0/0/4.delta")(path)
    (note,) = verified(path).notes
    assert note.startswith(f"{path / 'state/0/0/4.delta'} may not be of version 4: ")


def test_a_file_that_was_restored_at_another_time_does_not_fail_the_command(path: Path) -> None:
    os.utime(path / STATE_FILE, (35, 35))  # batch 3 ran then
    result = invoke("verify", path)
    assert result.exit_code == 0, result.stderr
    assert f"note: {path / STATE_FILE} may not be of version 5" in result.stdout
    assert "The query goes on with batch 5." in result.stdout


def test_a_commit_that_is_older_than_its_batch_is_noted(path: Path) -> None:
    for batch in range(BATCHES):
        rewrite(path / f"commits/{batch}", b"v1\n{}")
    assert verified(path).sound
    gone("commits/4")(path)
    copied("commits/0", "commits/4")(path)
    found = verified(path)
    (note,) = found.notes
    assert found.sound
    assert note.startswith(f"{path / 'commits/4'} is older than the offsets of its batch")


def test_times_of_a_copy_say_nothing(path: Path) -> None:
    for file in sorted(path.rglob("*")):
        os.utime(file)
    found = verified(path)
    assert (found.sound, found.notes) == (True, ())


def test_a_batch_that_was_planned_before_the_one_before_it_is_noted(path: Path) -> None:
    text("offsets/4", '"batchTimestampMs": 5000', '"batchTimestampMs": 3500')(path)
    found = verified(path)
    (note,) = found.notes
    assert found.sound
    assert note.startswith(f"{path / 'offsets/4'} is of an earlier time than the batch before it: ")
    assert "expected at least 4000 for batchTimestampMs, found 3500" in note
