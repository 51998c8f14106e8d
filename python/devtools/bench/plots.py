"""Plots of a benchmark's curves."""

from __future__ import annotations

from pathlib import Path

from devtools.bench.results import Result, by_size, curves, share_of_floor

_COLOURS = {
    "holdfast": "#0b6e4f",
    "hdfs": "#c8553d",
    "rocksdb": "#33658a",
    "rocksdb-defaults": "#86bbd8",
}


def draw(folder: Path, name: str, results: list[Result]) -> list[Path]:
    """Draw the curves for which there are several sizes; return the files."""
    queries = dict.fromkeys(
        str(result.run.arguments["query"]) for result in results if result.run.measure == "queries"
    )
    plots = {
        "batches": ("1,000 changes: open to commit, median, ms", _batches(results)),
        "aggregation": (
            "aggregation: a batch, as a multiple of one without state",
            by_size(results, "timesFloor"),
        ),
        "time-in-stores": (
            "aggregation: time in stores for 1,000 changes, ms",
            by_size(results, "storeMillis"),
        ),
        **{
            query: (
                f"{query}: a batch, as a multiple of one without state",
                share_of_floor(results, query),
            )
            for query in queries
        },
    }
    return [
        _draw(folder / f"{name}-{plot}.svg", title, lines)
        for plot, (title, lines) in plots.items()
        if any(len(points) > 1 for points in lines.values())
    ]


def _batches(results: list[Result]) -> dict[str, list[tuple[int, float]]]:
    thousand = [result for result in results if result.run.arguments.get("changes") == 1000]  # noqa: PLR2004
    return curves(thousand, "batches", "batchMedianMillis")


def _draw(path: Path, title: str, lines: dict[str, list[tuple[int, float]]]) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for provider, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=provider, color=_COLOURS[provider])
    axes.set(xscale="log", yscale="log", xlabel="rows in the state", title=title)
    axes.grid(visible=True, which="both", linewidth=0.3)
    axes.legend()
    figure.savefig(path)
    return path
