"""What is expected follows from what the batches have read, however the numbers come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from soak.events import Events
from soak.expected import Expected, Row

EVENTS = Events(rows=60, cycle=6)
GENERATIONS = 24
NUMBERS = [number for each in range(GENERATIONS) for number in EVENTS.numbers(each)]


def expected(*batches: Sequence[int]) -> Expected:
    made = Expected(EVENTS, lambda batch: batches[batch])
    made.follow(len(batches) - 1)
    return made


def written(made: Expected) -> Counter[Row]:
    return sum((made.output_of(batch) for batch in range(made.known + 1)), start=Counter())


def test_the_same_is_written_whatever_the_batches_are() -> None:
    by_generation = expected(*(EVENTS.numbers(each) for each in range(GENERATIONS)), [])
    by_seven = expected(*(NUMBERS[first : first + 7] for first in range(0, len(NUMBERS), 7)), [])
    assert written(by_generation) == written(by_seven)
    assert written(by_generation).total() > 300
    assert by_generation.late == by_seven.late == set()


def test_a_batch_that_has_read_nothing_changes_nothing_but_what_has_ended() -> None:
    made = expected(NUMBERS[:40], NUMBERS[40:400], [], [])
    assert made.output_of(1) == Counter()
    assert made.output_of(2).total() > 0
    assert made.output_of(3) == Counter()
    assert made.state_after(2) == made.state_after(3)
    assert made.remembered_after(2) == made.remembered_after(3) < made.remembered_after(1)


def test_what_the_watermark_has_passed_is_late_in_the_batch_after() -> None:
    once = [number for number in EVENTS.numbers(0) if not EVENTS.comes_again(number)]
    held = once[0]
    others = [number for number in NUMBERS if number != held]
    in_time = expected(others, [held], [])
    too_late = expected(others, [], [held], [])
    assert in_time.late == set()
    assert too_late.late == {held}
    lost = written(in_time) - written(too_late)
    event = EVENTS.event(held)
    assert event is not None
    ((_, word, _, _),) = lost
    assert word == event.word


def test_the_watermark_stays_where_a_sink_had_all_of_a_batch_already() -> None:
    batches = [*(EVENTS.numbers(each) for each in range(GENERATIONS)), [], []]
    usual = expected(*batches)
    held = Expected(EVENTS, lambda batch: batches[batch], lambda batch: batch == 3)
    held.follow(len(batches) - 1)
    assert held.watermark(3) == held.watermark(4) == usual.watermark(3) < usual.watermark(4)
    assert held.watermark(5) == usual.watermark(5)
    assert held.remembered_after(4) > usual.remembered_after(4)
    assert written(held) == written(usual)


def test_a_window_belongs_to_the_batch_that_writes_it() -> None:
    made = expected(*(EVENTS.numbers(each) for each in range(GENERATIONS)))
    for batch in range(GENERATIONS):
        assert {made.batch_of(row[0]) for row in made.output_of(batch)} <= {batch}
    open_windows = {begin for begin, _ in made.state_after(made.known)}
    assert all(made.batch_of(begin) > made.known for begin in open_windows)


def test_what_is_forgotten_is_let_go_of_and_the_rest_goes_on() -> None:
    made = expected(*(EVENTS.numbers(each) for each in range(GENERATIONS)))
    output = made.output_of(20)
    made.forget(20)
    assert made.oldest == 20
    assert made.output_of(20) == output
