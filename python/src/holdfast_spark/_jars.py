"""The jars that this package carries, one for each Spark line."""

import re
from pathlib import Path

from holdfast_spark._version import __version__
from holdfast_spark.errors import NoJarForSparkLineError, PySparkNotInstalledError

JARS_FOLDER = Path(__file__).with_name("jars")

_ARTIFACT = re.compile(r"holdfast-spark_(?P<line>\d+\.\d+)_\d+\.\d+")


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


def line_of_artifact(name: str) -> str | None:
    """Return the Spark line in a Holdfast jar's path or Maven coordinates, None for any other."""
    found = _ARTIFACT.search(name)
    return found and found["line"]


def jar_paths() -> dict[str, Path]:
    """Return the jars of this installation by Spark line, oldest line first."""
    paths = JARS_FOLDER.glob(f"*-{__version__}.jar")
    by_line = {line: path for path in paths if (line := line_of_artifact(path.name))}
    return dict(sorted(by_line.items(), key=lambda item: [int(n) for n in item[0].split(".")]))


def jar_path(line: str, *, vendor: str | None = None) -> Path:
    """Return the path of the jar for a Spark line such as `4.2`.

    Args:
        line: name of the line.
        vendor: who built the Spark that the jar is for, None for Apache.

    Raises:
        NoJarForSparkLineError: this installation has no jar for the line.
    """
    paths = jar_paths()
    if line not in paths:
        raise NoJarForSparkLineError(line=line, available=paths, vendor=vendor)
    return paths[line]
