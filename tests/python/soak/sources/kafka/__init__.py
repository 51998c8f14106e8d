"""A real Kafka on this machine, and all that may happen to it."""

from __future__ import annotations

from pathlib import Path

from devtools import jars

_HERE = Path(__file__).parent


def spark_line() -> str:
    """Return the Spark line that the connector is for, such as `4.2`."""
    version = (_HERE / "connector.xml").read_text().partition('2.13" rev="')[2]
    return version[: version.index(".", version.index(".") + 1)]


def connector() -> tuple[Path, ...]:
    """Return the jars that a query needs to read from Kafka."""
    return jars.fetch(_HERE / "connector.xml")


def broker() -> tuple[Path, ...]:
    """Return the jars of a broker, with its clients."""
    return jars.fetch(_HERE / "broker.xml")
