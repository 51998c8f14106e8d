"""What is expected of the query, and what is said where a sink has something else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from soak.events import GENERATION_SECONDS, START_SECONDS, Events
from soak.expected import Expected, Row
from soak.judge import Turn
from soak.sinks import BATCHES, FILES, LOG_OF_FILES, begin_log

EVENTS = Events(rows=60, cycle=6)
EXPECTED = Expected(EVENTS, EVENTS.numbers)
FIRST, LAST = 10, 15


def rows_of(*batches: int) -> list[Row]:
    return [*sum((EXPECTED.output_of(batch) for batch in batches), Counter()).elements()]


def turn_of(folder: Path, rows: list[Row]) -> Turn:
    """A turn of `foreachBatch` in which a batch has written all."""
    (folder / "10.json").write_text(json.dumps(rows))
    return Turn(sink=BATCHES, out=folder, first=FIRST)


def test_the_state_grows_and_shrinks_and_each_event_is_counted_once() -> None:
    held = [len(EXPECTED.state_after(batch)) for batch in range(40)]
    assert {held[batch + 3] - held[batch] > 5 for batch in range(10, 30)} == {True, False}
    assert held[10:20] == held[16:26]
    batches = 30
    counted = sum(times for _, _, times, _ in rows_of(*range(batches)))
    ended = START_SECONDS + GENERATION_SECONDS * batches - 60
    brought = [EVENTS.event(number) for batch in range(batches) for number in EVENTS.numbers(batch)]
    events = {event for event in brought if event}
    assert counted >= sum(event.second < ended for event in events) > 300
    assert len(brought) > 1.2 * len(events)


def test_a_row_is_written_by_the_batch_that_its_window_tells() -> None:
    for batch in range(20):
        assert {EXPECTED.batch_of(row[0]) for row in rows_of(batch)} == (
            {batch} if batch > 3 else set()
        )


def test_a_turn_is_right_with_or_without_the_batch_that_the_next_sink_gets(tmp_path: Path) -> None:
    own = rows_of(*range(FIRST, LAST + 1))
    assert [*turn_of(tmp_path, own).wrong(EXPECTED, LAST)] == []
    assert [*turn_of(tmp_path, own + rows_of(LAST + 1)).wrong(EXPECTED, LAST)] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[1:], "1 are missing"),
        (lambda rows: [*rows, rows[0]], "1 too many"),
        (lambda rows: [(*rows[0][:3], rows[0][3] + 1), *rows[1:]], "1 are missing"),
        (lambda rows: rows + rows_of(LAST + 2, LAST + 3), "not its own"),
        (lambda rows: rows + rows_of(FIRST - 1, FIRST - 2), "not its own"),
    ],
)
def test_a_row_that_is_lost_doubled_wrong_or_of_another_turn_is_told(
    tmp_path: Path, change: object, said: str
) -> None:
    assert callable(change)
    rows = change(rows_of(*range(FIRST, LAST + 1)))
    (sentence,) = turn_of(tmp_path, rows).wrong(EXPECTED, LAST)
    assert said in sentence


@pytest.mark.parametrize("first", [0, 3, 9, 10, 11, 30])
def test_files_that_no_batch_has_committed_are_no_output(tmp_path: Path, first: int) -> None:
    log = tmp_path / LOG_OF_FILES
    begin_log(log, first)
    last = first + 4
    entries: list[str] = []
    for batch in range(first, last + 1):
        file = tmp_path / f"part-{batch}.json"
        rows = [dict(zip(("second", "word", "times", "total"), row)) for row in rows_of(batch)]  # noqa: B905 - a row is as long
        file.write_text("\n".join(map(json.dumps, rows)))
        (tmp_path / f"part-{batch}-again.json").write_text(file.read_text())
        entry = json.dumps({"path": file.as_uri(), "action": "add"})
        entries = [*entries, entry]
        compacts = batch % 10 == 9
        name = f"{batch}.compact" if compacts else str(batch)
        (log / name).write_text("\n".join(["v1", *(entries if compacts else [entry])]))
    turn = Turn(sink=FILES, out=tmp_path, first=first)
    assert [*turn.wrong(EXPECTED, last)] == []
    # Before the first batch of the log Spark finds all that it looks for when it compacts.
    names = {int(file.stem) for file in log.iterdir()}
    assert names == {*range(max(0, first // 10 * 10 - 1), last + 1)}
