"""The jars that this package carries, one for each Spark line."""

import re
from collections.abc import Mapping
from pathlib import Path

from holdfast_spark._artifacts import artifact_of, build_of
from holdfast_spark._spark_versions import spark_home, spark_in
from holdfast_spark._version import __version__
from holdfast_spark.errors import (
    NoJarForScalaError,
    NoJarForSparkLineError,
    PySparkNotInstalledError,
)

JARS_FOLDER = Path(__file__).with_name("jars")

_RELEASE = re.compile(r"\d+\.\d+\.(?P<number>\d+)")


def spark_line(version: str) -> str:
    """Return the line of a Spark version: `4.2` for `4.2.1`."""
    return ".".join(version.split(".")[:2])


def installed_spark_line() -> str:
    """Return the line of the pyspark that this environment imports.

    Raises:
        PySparkNotInstalledError: there is no pyspark.
    """
    return spark_line(installed_spark_version())


def installed_spark_version() -> str:
    """Return the version of the pyspark that this environment imports.

    Raises:
        PySparkNotInstalledError: there is no pyspark.
    """
    try:
        from pyspark.version import __version__ as version
    except ModuleNotFoundError as e:
        raise PySparkNotInstalledError from e
    return version


def jar_paths() -> dict[str, Path]:
    """Return the jars of this installation by Spark line, oldest line first.

    Of a line that has a jar for each Scala it is the one for the Spark that pyspark starts, and the
    one for the oldest Scala, which PyPI's pyspark has, where that Spark is of another line.
    """
    found = _by_scala()
    return {line: _of_scala(line, found[line]) for line in sorted(found, key=_numbers)}


def _by_scala() -> dict[str, dict[str, Path]]:
    """Return the jars of this installation by Spark line and Scala."""
    found: dict[str, dict[str, Path]] = {}
    for path in JARS_FOLDER.glob(f"*-{__version__}.jar"):
        if artifact := artifact_of(str(path)):
            found.setdefault(artifact.line, {})[artifact.scala] = path
    return found


def _of_scala(line: str, paths: Mapping[str, Path]) -> Path:
    oldest = min(paths, key=_numbers)
    if len(paths) == 1:
        return paths[oldest]
    try:
        here = spark_in(spark_home())
    except ModuleNotFoundError:  # no pyspark
        return paths[oldest]
    is_of_line = here.version is not None and spark_line(here.version) == line
    return paths[here.scala if is_of_line and here.scala and here.scala in paths else oldest]


def is_before(line: str, other: str) -> bool:
    """Tell whether a Spark line is older than another one."""
    return _numbers(line) < _numbers(other)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def jar_path(
    line: str, *, scala: str | None = None, vendor: str | None = None, was_named: bool = False
) -> Path:
    """Return the path of the jar for a Spark line such as `4.2`.

    Args:
        line: name of the line.
        scala: the Scala of the Spark, such as `2.13`; as `jar_paths` chooses for None.
        vendor: who built the Spark that the jar is for, None for Apache.
        was_named: whether the user has named the line, who could name another one.

    Raises:
        NoJarForSparkLineError: this installation has no jar for the line.
        NoJarForScalaError: it has one, and none for that Scala.
    """
    found = _by_scala()
    if line not in found:
        lines = sorted(found, key=_numbers)
        raise NoJarForSparkLineError(line=line, available=lines, vendor=vendor, was_named=was_named)
    of_line = found[line]
    if scala is None:
        return _of_scala(line, of_line)
    if scala not in of_line:
        raise NoJarForScalaError(line=line, scala=scala, available=sorted(of_line, key=_numbers))
    return of_line[scala]


def too_old_for(jar: Path, version: str) -> str | None:
    """Return the first Spark of its line that a jar fits where a version is older, else None.

    Spark has changed within a line what providers are compiled with: 4.0.0 has not what 4.0.1 has.
    A line alone, such as 4.0, is no version that could be older.
    """
    release = _RELEASE.match(version)
    oldest = build_of(jar)["oldestSpark"]
    first = _RELEASE.match(oldest)
    is_older = release and first and int(release["number"]) < int(first["number"])
    return oldest if is_older else None
