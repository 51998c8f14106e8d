"""Delta Lake, which is no part of Spark: the jars of its newest release."""

from __future__ import annotations

from pathlib import Path

from devtools import jars

_WANTED = Path(__file__).with_name("delta.xml")


def spark_line() -> str:
    """Return the Spark line that the jars are for, such as `4.2`."""
    return _WANTED.read_text().partition('"delta-spark_')[2].partition("_")[0]


def fetch() -> tuple[Path, ...]:
    """Get the jars, unless they were got before; return them."""
    return jars.fetch(_WANTED)
