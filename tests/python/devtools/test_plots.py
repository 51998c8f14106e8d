"""The plots of a benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from devtools.bench import drawing, plots, results
from devtools.bench.drawing import MILLIS, TIMES
from devtools.bench.eviction_runs import SHOWN
from devtools.bench.results import Machine, Result
from devtools.bench.run import Run
from devtools.bench.runs import full_runs
from harness import ROOT

MACHINE = Machine(
    cpu="a processor",
    cores=2,
    memory_gib=8,
    java="java 17",
    spark="4.2.0",
)
BATCHES = {
    "holdfast": {10_000: 0.9, 100_000: 1.0, 1_000_000: 1.5, 50_000_000: 2.1},
    "rocksdb-defaults": {10_000: 30.0, 1_000_000: 48.0},
}
COMMITTED = ROOT / "docs" / "benchmarks"


def measured() -> list[Result]:
    return [
        Result(
            Run("batches", provider, {"rows": rows, "changes": 1_000}),
            {"batchMedianMillis": millis},
            "abc",
            MACHINE,
            "2026-11-20",
        )
        for provider, by_rows in BATCHES.items()
        for rows, millis in by_rows.items()
    ]


def texts(svg: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg.read_text())


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    results.write(tmp_path, "some", measured())
    (path,) = plots.draw(tmp_path, "some")
    return path


def test_a_plot_says_what_it_has_in_words_and_units_of_people(drawn: Path) -> None:
    found = texts(drawn)
    assert {"1 ms", "10 ms", "100 ms"} <= {*found}
    assert {"10,000", "100,000", "1 M", "50 M"} <= {*found}
    assert {"from open to commit, median (ms)", "rows in the state"} <= {*found}
    assert {"Holdfast", "RocksDB, defaults"} <= {*found}
    assert "Measured 2026-11-20, a processor, 2 cores, 8 GiB, java 17, Spark 4.2.0." in found


def test_only_three_sizes_make_a_line(drawn: Path) -> None:
    svg = drawn.read_text()
    holdfast, rocksdb = (f"stroke: {colour}" for colour in ("#0072b2", "#56b4e9"))
    lines = [path for path in re.findall(r"<path[^>]*fill: none[^>]*>", svg) if "clip-path" in path]
    lines = re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; ([^"]*)"', svg)
    drawn_as = [style for _, style in lines]
    assert any(holdfast in style for style in drawn_as)
    assert not any(rocksdb in style for style in drawn_as)


def test_a_plot_is_drawn_the_same_again(drawn: Path, tmp_path: Path) -> None:
    before = drawn.read_bytes()
    plots.draw(tmp_path, "some")
    assert drawn.read_bytes() == before


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.9, 200.0], [0.1, 1, 10, 100, 1000]),
        ([1.0, 1000.0], [1, 10, 100, 1000]),
        ([1.05, 7.9], [1, 2, 5, 10]),
        ([3.0, 3.0], [2, 5]),
    ],
)
def test_axes_are_marked_around_the_values(values: list[float], expected: list[float]) -> None:
    assert drawing.marks(values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [(0.1, MILLIS, "0.1 ms"), (20, MILLIS, "20 ms"), (2000, MILLIS, "2 s"), (5, TIMES, "5 x")],
)
def test_marks_have_units(value: float, unit: str, expected: str) -> None:
    assert drawing.value_text(value, unit) == expected


def test_the_plots_that_are_there_are_of_the_results_that_are_there() -> None:
    there = results.read(COMMITTED / "full.json")
    note = results.measured(there)
    of_results = {
        f"full-{name}.svg"
        for name, plot in plots.plots(there)
        if any(len(points) > 1 for points in plot.lines.values())
    }
    assert {path.name for path in COMMITTED.glob("*.svg")} == of_results
    for name in of_results:
        assert note in (found := texts(COMMITTED / name)), name
        assert any(text.endswith((f" {MILLIS}", " s", f" {TIMES}")) for text in found), name


def test_what_is_drawn_by_rows_is_measured_for_three_sizes() -> None:
    for query in SHOWN:
        sizes = {
            size
            for run in full_runs()
            if run.group == "evictions" and run.arguments["query"] == query
            for size in str(run.arguments.get("sizes", "")).split(",")
        }
        assert len(sizes - {""}) > 2, query
