"""Which Spark is installed, and who built it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# What Apache's own versions are, and what comes between two of them: 4.2.0, 4.3.0.dev0, 4.0.0-rc1,
# 4.1.0-preview2, 4.3.0-SNAPSHOT.
_OF_APACHE = re.compile(
    r"\d+\.\d+(\.\d+)?([.-]?(dev|rc|preview|SNAPSHOT)[-.\d]*)?", re.IGNORECASE | re.ASCII
)
# What vendors put behind the version of Spark that theirs was made from.
_MARKS: Mapping[str, str] = {
    "amzn": "Amazon EMR",
    "databricks": "Databricks",
    "cdh": "Cloudera",
    "cdp": "Cloudera",
    "cloudera": "Cloudera",
}
# Databricks counts its runtimes by versions of their own: 15.4, 16.4.x-scala2.12.
_FIRST_RUNTIME_OF_DATABRICKS = 7
_RUNTIME = "DATABRICKS_RUNTIME_VERSION"
_HOME = "SPARK_HOME"
# What pyspark starts in a Spark, on Windows the second.
_PROGRAMS = ("spark-submit", "spark-submit.cmd")
_RELEASE = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_CORE = re.compile(r"spark-core_(?P<scala>\d+\.\d+)-(?P<version>\d.*)\.jar")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkFound:
    """The Spark that sessions of this environment are started from.

    Attributes:
        home: its folder.
        version: its version; null where its jars do not say it.
        scala: line of the Scala that it is built with, such as 2.13; null as `version`.
        vendor: who built it, where that is not Apache; null where it is.
    """

    home: str
    version: str | None
    scala: str | None
    vendor: str | None


def vendor_of(version: str) -> str | None:
    """Return who built a version of Spark, None for one of Apache's."""
    if runtime := os.environ.get(_RUNTIME):
        return f"Databricks Runtime {runtime}"
    if mark := next((name for sign, name in _MARKS.items() if sign in version.lower()), None):
        return mark
    if int(version.partition(".")[0]) >= _FIRST_RUNTIME_OF_DATABRICKS:
        return "Databricks"
    return None if _OF_APACHE.fullmatch(version) else "a vendor"


def spark_home() -> Path:
    """Return the Spark distribution that pyspark starts: SPARK_HOME, else pyspark itself."""
    import pyspark

    return Path(os.environ.get(_HOME) or Path(pyspark.__file__).parent)


def is_named() -> bool:
    """Tell whether SPARK_HOME says which Spark pyspark starts."""
    return bool(os.environ.get(_HOME))


def lost_home() -> str | None:
    """Return what SPARK_HOME says where no Spark is there to be started, None where all is well.

    Pyspark takes an empty one for the current folder (`find_spark_home` of pyspark 4.3).
    """
    named = os.environ.get(_HOME)
    if named is None or any((Path(named) / "bin" / program).exists() for program in _PROGRAMS):
        return None
    return named


def same_release(version: str, other: str) -> bool:
    """Tell whether two versions are of one release, whatever a vendor or preview adds to them."""
    found, of_other = _RELEASE.match(version), _RELEASE.match(other)
    return not (found and of_other) or found[0] == of_other[0]


def spark_in(home: Path) -> SparkFound:
    """Return the Spark in a folder, by the names of its jars."""
    found = next(filter(None, map(_CORE.fullmatch, _jar_names(home))), None)
    return SparkFound(
        home=str(home),
        version=found and found["version"],
        scala=found and found["scala"],
        vendor=vendor_of(found["version"]) if found else None,
    )


def _jar_names(home: Path) -> list[str]:
    try:
        return sorted(path.name for path in (home / "jars").iterdir())
    except OSError:  # a client of Spark Connect has none
        return []
