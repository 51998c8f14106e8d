"""Drawings of numbers as SVG, of the width of a phone's screen."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES = (4.6, 2.6)
# Told apart by people who do not see all colours: Okabe and Ito's palette.
BLUE, ORANGE = "#0072b2", "#d55e00"
_GREY = "#595959"
# More bars than these would touch each other.
_MANY = 150
# Fewer points than these are marked, so that one between gaps is seen.
_FEW = 40
# Each version of matplotlib types the names in its own way.
_STYLE: Any = {
    "font.size": 11.5,
    "font.family": "sans-serif",
    "text.color": "#1a1a1a",
    "text.parse_math": False,
    "axes.edgecolor": _GREY,
    "axes.labelcolor": "#1a1a1a",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "legend.fontsize": 11,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "holdfast",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """What numbers are drawn in.

    Attributes:
        size: how many of what is drawn make one.
        name: what stands behind a number, empty for plain counts.
    """

    size: int
    name: str


COUNT = Unit(1, "")
_SIZES = tuple(Unit(1 << shift, name) for shift, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")))


def unit_of_bytes(values: Iterable[int | None]) -> Unit:
    """Return the unit in which the largest of some sizes in bytes reads best."""
    most = max((value for value in values if value is not None), default=0)
    return next((unit for unit in _SIZES if most >= unit.size), Unit(1, "B"))


class Drawing:
    """One plot with a horizontal axis of whole numbers. For one thread.

    Args:
        across: what the horizontal axis has, such as `version`.
        unit: what the vertical axis is drawn in.
    """

    def __init__(self, *, across: str, unit: Unit = COUNT) -> None:
        self._unit = unit
        with mpl.rc_context(_STYLE):
            self._figure = Figure(figsize=_INCHES, layout="constrained")
            self._axes: Axes = self._figure.add_subplot()
            self._axes.set_xlabel(across)
            self._axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
            self._axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=unit == COUNT))
            self._axes.yaxis.set_major_formatter(FuncFormatter(self._tick))

    def line(self, places: Sequence[int], values: Sequence[float | None]) -> None:
        """Draw a line, interrupted where there is no value."""
        few = sum(value is not None for value in values) < _FEW
        marker = "o" if few else None
        self._axes.plot(places, self._scaled(values), color=BLUE, marker=marker, markersize=3.5)
        self._axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)

    def bars(
        self,
        places: Sequence[int],
        values: Sequence[float],
        *,
        label: str | None = None,
        color: str = BLUE,
        on: Sequence[float] | None = None,
    ) -> None:
        """Draw a bar for each value, standing on those of `on`."""
        values, below = self._scaled(values), self._scaled(on or [0] * len(values))
        self._axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
        if len(places) <= _MANY:
            self._axes.bar(places, values, bottom=below, label=label, color=color)
        else:
            tops = [low + value for low, value in zip(below, values, strict=True)]
            self._axes.fill_between(
                places, below, tops, step="mid", label=label, color=color, linewidth=0
            )

    def marks(self, places: Sequence[int], *, label: str) -> None:
        """Draw a mark on the horizontal axis at each place."""
        self._axes.plot(
            *(places, [0] * len(places), "D"),
            color=ORANGE,
            markersize=6,
            label=label,
            clip_on=False,
            zorder=5,
        )

    def level(self, value: float, *, label: str) -> None:
        """Draw a horizontal line."""
        self._axes.axhline(value / self._unit.size, color=ORANGE, linestyle="--", label=label)

    def as_data_url(self) -> str:
        """Return the drawing, an SVG image, as a `data:` URL."""
        with mpl.rc_context(_STYLE):
            self._axes.set_ylim(bottom=0)
            if self._axes.get_legend_handles_labels()[0]:
                self._figure.legend(loc="outside upper left", ncols=2)
            content = io.BytesIO()
            self._figure.savefig(content, format="svg", metadata={"Date": None})
        return f"data:image/svg+xml;base64,{base64.b64encode(content.getvalue()).decode()}"

    def _scaled(self, values: Sequence[float | None]) -> list[float]:
        return [float("nan") if value is None else value / self._unit.size for value in values]

    def _tick(self, value: float, _: int) -> str:
        return f"{value:,.10g} {self._unit.name}".rstrip()
