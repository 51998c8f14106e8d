"""Drawings of numbers by rows in the state, both on logarithmic axes, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MILLIS, TIMES = "ms", "x"
# A line says what is between its points; with less than three of them nobody knows.
_LEAST_FOR_A_LINE = 3
# Each who is measured has its own in all plots. Told apart by people who do not see all colours
# (Okabe and Ito's palette), and without colour by their markers.
LOOKS = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#56b4e9", "D"))
_NEARLY = 0.8
GREY = "#595959"
_INCHES = (7.4, 4.6)
STYLE: Any = {
    "font.size": 11,
    "font.family": "sans-serif",
    "text.color": "#1a1a1a",
    "text.parse_math": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#1a1a1a",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "holdfast",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """What is drawn.

    Attributes:
        title: what was done.
        what: what the vertical axis has, less being better.
        unit: of its numbers, `MILLIS` or `TIMES`.
        lines: by the name of who may be measured, numbers by rows in the state, ascending; none
            for who was not.
    """

    title: str
    what: str
    unit: str
    lines: Mapping[str, list[tuple[int, float]]]


def write(path: Path, plot: Plot, *, note: str) -> Path:
    """Draw a plot.

    Args:
        path: the SVG file.
        plot: what is drawn.
        note: what stands below it, such as machine and date.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=_INCHES, layout="constrained")
        axes = figure.subplots()
        looks = zip(plot.lines.items(), LOOKS, strict=True)
        for below, ((name, points), (color, marker)) in enumerate(looks):
            if not points:
                continue
            line = "-" if len(points) >= _LEAST_FOR_A_LINE else "none"
            axes.plot(
                *zip(*points, strict=True),
                linestyle=line,
                marker=marker,
                markersize=7,
                label=name,
                color=color,
                zorder=10 - below,
            )
        axes.set(xscale="log", yscale="log", xlabel="rows in the state")
        axes.set_ylabel(f"{plot.what} ({plot.unit})")
        _mark_axes(axes, plot)
        axes.grid(visible=True, which="major", linewidth=0.6)
        figure.legend(
            loc="outside upper left",
            ncols=len(LOOKS),
            title=plot.title,
            alignment="left",
            title_fontproperties={"weight": "bold", "size": 12},
        )
        figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")
        figure.savefig(path, metadata={"Date": None})
    return path


def _mark_axes(axes: Axes, plot: Plot) -> None:
    """Mark both axes where people expect it, with the numbers as they say them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    sizes = [rows for points in plot.lines.values() for rows, _ in points]
    values = [value for points in plot.lines.values() for _, value in points]
    for axis, ticks, text in (
        (axes.xaxis, sorted(set(sizes)), rows_text),
        (axes.yaxis, marks(values), lambda value: value_text(value, plot.unit)),
    ):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda tick, _, text=text: text(tick)))
    marked = marks(values)
    # Just below a mark nothing is worth another one.
    near = _NEARLY * marked[1]
    bottom = near if min(values) > near else marked[0]
    axes.set_ylim(bottom / 1.05, marked[-1] * 1.05)


def marks(values: Iterable[float]) -> list[float]:
    """Return where to mark a logarithmic axis, around the values.

    The marks are powers of ten, or 1, 2 and 5 times those where these alone would be few.
    """
    shown = list(values)
    least, most = min(shown), max(shown)
    for steps in ((1,), (1, 2, 5)):
        found = [step * 10.0**power for power in range(-6, 10) for step in steps]
        first = max(index for index, mark in enumerate(found) if mark <= least)
        last = min(index for index, mark in enumerate(found) if mark >= most)
        if last - first >= _LEAST_FOR_A_LINE or len(steps) > 1:
            return found[first : last + 1]
    raise AssertionError


def rows_text(rows: float) -> str:
    """Return a number of rows as people say it: `10,000`, `1 M`."""
    million = 1_000_000
    return f"{rows / million:,g} M" if rows >= million else f"{rows:,.0f}"


def value_text(value: float, unit: str) -> str:
    """Return a number with its unit as people say it: `0.1 ms`, `10 ms`, `1 s`, `2 x`."""
    second = 1_000
    if unit == MILLIS and value >= second:
        return f"{value / second:,g} s"
    return f"{value:,g} {unit}"
