"""The plots of a benchmark: `python -m devtools.bench.plots FOLDER NAME` draws its results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from devtools.bench.drawing import MILLIS, TIMES, Plot, write
from devtools.bench.eviction_runs import EVICTIONS, SHOWN
from devtools.bench.results import Result, by_size, curves, measured, read
from devtools.bench.summary import COLUMNS

_CHANGES = 1_000


def draw(folder: Path, name: str) -> list[Path]:
    """Draw what was measured for several sizes of state, from `<name>.json`; return the files."""
    results = read(folder / f"{name}.json")
    return [
        write(folder / f"{name}-{what}.svg", plot, note=measured(results))
        for what, plot in plots(results)
        if any(len(points) > 1 for points in plot.lines.values())
    ]


def plots(results: list[Result]) -> Iterator[tuple[str, Plot]]:
    """Yield the plots by the names of their files; in some there may be no sizes to compare."""
    thousand = [result for result in results if result.run.arguments.get("changes") == _CHANGES]
    yield (
        "batches",
        _plot(
            "A batch of 1,000 changes, by rows in the state",
            "from open to commit, median",
            curves(thousand, "batches", "batchMedianMillis"),
        ),
    )
    yield (
        "time-in-stores",
        _plot(
            "Aggregation: calls of the stores in a batch of 1,000 changes",
            "both tasks together, mean",
            by_size(results, "storeMillis"),
        ),
    )
    lines = by_size(results, "timesFloor")
    yield "aggregation", _as_multiple("Aggregation: a batch of 1,000 changes", lines)
    for query, name in SHOWN.items():
        lines = by_size(results, "timesFloor", group=EVICTIONS, query=query)
        what = f"{name.capitalize()}: 1,000 rows come in a batch, and as many expire"
        yield name, _as_multiple(what, lines)


def _as_multiple(what: str, lines: dict[str, list[tuple[int, float]]]) -> Plot:
    return _plot(
        f"{what}, by rows in the state",
        "times as long as without state",
        lines,
        unit=TIMES,
    )


def _plot(
    title: str, what: str, lines: dict[str, list[tuple[int, float]]], *, unit: str = MILLIS
) -> Plot:
    named = {name: lines.get(provider, []) for provider, name in COLUMNS.items()}
    return Plot(title=title, what=what, unit=unit, lines=named)


if __name__ == "__main__":
    for drawn in draw(Path(sys.argv[1]), sys.argv[2]):
        print(drawn)
