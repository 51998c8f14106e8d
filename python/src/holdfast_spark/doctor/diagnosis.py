"""What an examination finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast_spark._java import JavaFound
from holdfast_spark._spark_versions import SparkFound

About = Literal["Python", "pyspark", "Java", "jar", "session", "settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not in order.

    Attributes:
        about: what it is about: Python, pyspark, Java, jar, session or settings.
        stops: whether Holdfast does not work as long as it is so.
        error: what is wrong and what to do, in sentences.
    """

    about: About
    stops: bool
    error: str


def stop(about: About, error: str) -> Finding:
    """Return what stops Holdfast."""
    return Finding(about=about, stops=True, error=error)


def warning(about: About, error: str) -> Finding:
    """Return what is not in order, and does not stop Holdfast."""
    return Finding(about=about, stops=False, error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class PysparkFound:
    """The pyspark that this Python imports.

    Attributes:
        version: its version.
        packages: the installed packages that it is from, such as pyspark or pyspark-client.
        folder: where it is.
        vendor: who built it, where that is not Apache; null where it is.
        client_only: whether it is a client of Spark Connect, without a Spark of its own.
    """

    version: str
    packages: tuple[str, ...]
    folder: str
    vendor: str | None
    client_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What an environment has, and what is not in order.

    Attributes:
        works: whether nothing was found that stops Holdfast from working.
        holdfast: version of this package.
        lines: the Spark lines that it has jars for.
        python: version of Python.
        python_path: the program.
        pyspark: the pyspark that is installed; null without one.
        spark: the Spark that sessions are started from; null for a client of Spark Connect.
        line: the Spark line that is looked at, of the session or of pyspark; null without pyspark.
        java: the Java that would start Spark; null where none can, and where Spark runs already.
        jar: the package's jar for the line; null where there is none.
        session: version of the Spark of the active session, or of the JVM that runs; null where
            none does.
        settings_from: where the settings are from.
        settings: those that have to do with state stores, and what names Holdfast.
        findings: what is not in order, what stops Holdfast first.
    """

    works: bool
    holdfast: str
    lines: tuple[str, ...]
    python: str
    python_path: str
    pyspark: PysparkFound | None
    spark: SparkFound | None
    line: str | None
    java: JavaFound | None
    jar: str | None
    session: str | None
    settings_from: tuple[str, ...]
    settings: Mapping[str, str]
    findings: tuple[Finding, ...]
