"""Drawings of several numbers in the course of time, one above the other, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devtools.bench.drawing import GREY, LOOKS, STYLE

_WIDTH_INCHES = 7.4
_PANEL_INCHES = 1.15
_ROOM_ABOVE = 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One of the numbers.

    Attributes:
        what: what it is, with its unit.
        points: minutes and values, ascending.
    """

    what: str
    points: Sequence[tuple[float, float]]


def write(
    path: Path, panels: Sequence[Panel], *, title: str, marks: Sequence[float], note: str
) -> Path:
    """Draw panels with one axis of time, each of them from zero on.

    Args:
        path: the SVG file.
        panels: from above to below.
        title: what was done.
        marks: minutes at which a vertical line stands.
        note: what stands below, such as what the lines are.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**STYLE, "font.size": 9}):
        size = _WIDTH_INCHES, _PANEL_INCHES * (len(panels) + 1)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
        for axes, panel in zip(grid[:, 0], panels, strict=True):
            axes.plot(*zip(*panel.points, strict=True), color=LOOKS[0][0], linewidth=0.8)
            axes.set_ylim(0, max(1.0, _ROOM_ABOVE * max(value for _, value in panel.points)))
            axes.set_title(panel.what, loc="left", fontsize=9)
            axes.grid(visible=True, axis="y", linewidth=0.6)
            for minute in marks:
                axes.axvline(minute, color=GREY, linewidth=0.6, linestyle=":")
        grid[-1, 0].set_xlabel("minutes")
        figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=12)
        figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")
        figure.savefig(path, metadata={"Date": None})
    return path
