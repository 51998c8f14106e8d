"""What counts as growth of what a driver holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path

from soak.charts import draw
from soak.growth import BOUNDS, courses
from soak.samples import Sample, Samples

ROUND = 40
ROUNDS = 12


def sampled(heap: Callable[[int], float], *, lives: int = 1) -> list[Sample]:
    """Samples every two batches, as if each life had so many rounds."""
    return [
        Sample(
            seconds=float(batch),
            life=batch // (ROUND * ROUNDS) + 1,
            batch=batch,
            sink="file",
            rows=batch % ROUND * 100,
            heap_mib=heap(batch) + batch % ROUND,
            classes_mib=200,
            code_mib=batch / 10,
            rss_mib=900 + batch / 10,
            direct_mib=0.1,
            threads=100,
            handles=300,
            files=250,
        )
        for batch in range(0, lives * ROUND * ROUNDS, 2)
    ]


def grown(samples: list[Sample]) -> set[tuple[str, int | None]]:
    return {
        (course.bound.metric, course.life) for course in courses(samples, ROUND) if not course.holds
    }


def test_what_goes_up_and_down_with_the_state_does_not_grow() -> None:
    samples = sampled(lambda _: 100, lives=2)
    assert grown(samples) == set()
    told = [(course.bound.metric, course.life) for course in courses(samples, ROUND)]
    of_lives = [bound.metric for bound in BOUNDS if bound.of_a_life]
    assert told == [*((metric, life) for metric in of_lives for life in (1, 2)), ("files", None)]


def test_a_few_kilobytes_more_with_each_batch_are_growth() -> None:
    assert grown(sampled(lambda batch: 100 + 0.05 * batch)) == {("heap_mib", 1)}


def test_a_thread_more_in_each_fifty_batches_is_growth() -> None:
    samples = [replace(each, threads=100 + each.batch // 50) for each in sampled(lambda _: 100)]
    assert grown(samples) == {("threads", 1)}


def test_what_is_filled_in_the_first_round_is_not() -> None:
    assert grown(sampled(lambda batch: 100 + min(batch, ROUND))) == set()


def test_each_life_begins_anew_but_the_checkpoint_does_not() -> None:
    samples = sampled(lambda _: 100, lives=2)
    later = [
        replace(each, files=each.files * each.life, threads=50 * each.life) for each in samples
    ]
    assert grown(later) == {("files", None)}


def test_a_life_of_a_few_rounds_tells_nothing() -> None:
    assert [*courses(sampled(lambda _: 100)[: 11 * ROUND // 2], ROUND)] == []


def test_all_is_in_the_file_and_drawn(tmp_path: Path) -> None:
    samples = sampled(lambda _: 100, lives=2)
    file = StringIO()
    kept = Samples(file)
    for sample in samples:
        kept.add(sample)
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("seconds,life,batch,sink,rows,heap_mib,")
    assert lines[1] == "0.0,1,0,file,0,100,200,0.0,900.0,0.1,100,300,250"
    assert len(lines) == 1 + len(samples)
    svg = draw(tmp_path / "soak.svg", samples, note="a note").read_text()
    assert all(f">{text}<" in svg for text in ("threads", "minutes", "a note"))
    assert sum(one.life != later.life for one, later in pairwise(samples)) == 1
