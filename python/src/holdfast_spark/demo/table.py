"""A titled table of values, as the check finds it and the report prints it."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of plain values below the names of their columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, title: str, rows: DataFrame, *, limit: int) -> Table:
        """Return the first `limit` rows of a DataFrame; runs a Spark job."""
        collected = rows.limit(limit).collect()
        return cls(
            title=title,
            columns=tuple(rows.columns),
            rows=tuple(tuple(as_cell(value) for value in row) for row in collected),
        )

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Table:
        """Return a table back from `dataclasses.asdict` and JSON."""
        return cls(
            title=fields["title"],
            columns=tuple(fields["columns"]),
            rows=tuple(tuple(row) for row in fields["rows"]),
        )


def as_cell(value: object) -> Cell:
    """Return a value that JSON has: numbers stay numbers, anything else becomes text."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


def as_text(cell: Cell) -> str:
    """Return a cell as it is printed: thousands apart, one digit after the point."""
    if cell is None:
        return "-"
    if isinstance(cell, bool | str):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.1f}"
