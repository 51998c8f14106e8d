"""What Holdfast's artifacts are called, and which one a jar is, whatever its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from holdfast_spark._class_paths import local_path

GROUP = "io.holdfast"
# What a jar was built as and for (`BuildInfo`).
BUILD = "io/holdfast/holdfast.properties"
_NAME = re.compile(
    r"holdfast-spark_(?P<line>\d+\.\d+)_(?P<scala>\d+\.\d+)"
    r"(?:[-:](?P<version>\d[^/:]*?)(?:\.jar)?$)?"
)
_PROPERTY = re.compile(r"^(\w+)=(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A jar of Holdfast.

    Attributes:
        line: the Spark line that it is built for.
        scala: the line of the Scala that it is built for.
        version: version of Holdfast, None where the name of the jar does not say it.
    """

    line: str
    scala: str
    version: str | None

    @property
    def name(self) -> str:
        """What it is called in a Maven repository, and before the version in a file's name."""
        return f"holdfast-spark_{self.line}_{self.scala}"

    @property
    def coordinates(self) -> str:
        """What Maven knows it by, as `spark.jars.packages` takes it."""
        return f"{GROUP}:{self.name}:{self.version}"


def artifact_of(jar: str) -> Artifact | None:
    """Tell which jar of Holdfast a path, URL or Maven coordinates stand for, None for any other.

    A file of this machine whose name does not say it is looked into.
    """
    if found := _NAME.search(jar):
        return Artifact(line=found["line"], scala=found["scala"], version=found["version"])
    place = local_path(jar)
    if ":" in place or not Path(place).is_file():
        return None
    try:
        built = build_of(Path(place))
        scala = ".".join(built["scalaVersion"].split(".")[:2])
        return Artifact(line=built["sparkLine"], scala=scala, version=built["version"])
    except (OSError, BadZipFile, KeyError):  # no jar, or another one
        return None


def build_of(jar: Path) -> dict[str, str]:
    """Return what a jar of Holdfast was built as and for.

    Raises:
        OSError: there is no such file, or it cannot be read.
        BadZipFile: it is no jar.
        KeyError: it is a jar of something else.
    """
    with ZipFile(jar) as archive:
        return dict(_PROPERTY.findall(archive.read(BUILD).decode()))
