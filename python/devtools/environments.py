"""The virtual environments below `.dev/venv`: one for the tools and one for each Spark line.

Those of the lines have pyspark and see the libraries of the tools' one, which are the same for all.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtools.errors import DevError
from devtools.java import Java
from devtools.steps import Log, Steps, fingerprint

# Hundreds of processes import pyspark and pandas, each for two seconds of a processor more where it
# has to compile them, as many containers tell Python to. Pip starts itself several times over.
KEPT_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkLine:
    """An entry of `project/spark-lines.json`.

    Attributes:
        line: name of the line, such as `4.2`.
        pyspark: version of pyspark that the line is tested with.
        jars: where the build takes Spark's jars from, `maven` or `pyspark`.
        java: the oldest Java that it runs on.
        project_id: name of the line's project in sbt (`SparkLine.projectId`).
        tested: names of all projects that are tested of it: one for each Scala, and the engine as
            they have it.
        needs: what that pyspark wants of other packages and does not say, such as `pandas<3`.
    """

    line: str
    pyspark: str
    jars: str
    java: int
    project_id: str
    tested: tuple[str, ...]
    needs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment."""

    folder: Path

    def program(self, name: str) -> Path:
        """Return the path of a program that is installed in it."""
        return self.folder / "bin" / name

    @property
    def packages(self) -> Path:
        """The folder of the packages that are installed in it."""
        return next(self.folder.glob("lib/python3*/site-packages"))

    def variables(self, java: Java, **more: str) -> dict[str, str]:
        """Return the environment variables to start Spark with: its Python and Java come first."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ.get("PATH", os.defpath)])
        return {**os.environ, "PATH": path, "JAVA_HOME": str(java.home), **more}


def spark_lines(root: Path) -> list[SparkLine]:
    """Return the supported Spark lines, oldest first.

    A line with several Scalas is in the list once for each, with pyspark where that has the Scala.
    """
    entries = json.loads((root / "project" / "spark-lines.json").read_text())
    with_pyspark = (entry for entry in entries if "pyspark" in entry)
    return [
        SparkLine(
            line=entry["line"],
            pyspark=entry["pyspark"],
            jars=entry["jars"],
            java=int(entry["java"]),
            project_id=_project_id(entry, entries),
            tested=tuple(_tested(entry["line"], entries)),
            needs=entry.get("needs", ""),
        )
        for entry in with_pyspark
    ]


def _project_id(entry: Mapping[str, str], entries: Sequence[Mapping[str, str]]) -> str:
    several = sum(other["line"] == entry["line"] for other in entries) > 1
    return f"spark_{entry['line']}{f'_scala_{_scala(entry)}' if several else ''}".replace(".", "_")


def _tested(line: str, entries: Sequence[Mapping[str, str]]) -> Iterator[str]:
    newest = entries[-1]
    for entry in entries:
        if entry["line"] == line:
            project = _project_id(entry, entries)
            # `core` is for the newest line (`SparkLine.hasCoreOf`).
            same = (_scala(entry), entry["java"]) == (_scala(newest), newest["java"])
            yield from ("core" if same else project.replace("spark_", "core_"), project)


def _scala(entry: Mapping[str, str]) -> str:
    return entry["scala"].rpartition(".")[0]


def tested_whole(lines: list[SparkLine], *, full: bool) -> list[SparkLine]:
    """Return the lines whose tests all run: the two newest, or all (`SparkLines.isTestedWhole`)."""
    return lines if full else lines[-2:]


def benchmarked(lines: list[SparkLine]) -> SparkLine:
    """Return the line that benchmarks run on: the older of the two newest."""
    return lines[-2]


def choose_line(lines: list[SparkLine], name: str | None) -> SparkLine:
    """Return the line of that name, the newest for None.

    Raises:
        DevError: there is no such line.
    """
    for line in reversed(lines):
        if name in (None, line.line):
            return line
    known = ", ".join(line.line for line in lines)
    raise DevError(f"There is no Spark line {name}: the lines are {known}.")


def tools_environment(root: Path, steps: Steps) -> Environment:
    """Make the environment with ruff, mypy and pytest, and without pyspark."""
    return _environment(root, steps, "tools", extras="report,demo", needs=("test", "lint"))


def oldest_environment(root: Path, steps: Steps) -> Environment:
    """Make the environment with the oldest libraries that the package takes, without extras."""
    _, _, described = _metadata(root / "python").partition("\ndependencies = [")
    oldest = (
        f"{name}=={version}"
        for name, version in re.findall(r'"([\w-]+)>=([\d.]+)"', described.partition("]")[0])
    )
    return _environment(root, steps, "oldest", *oldest, extras="demo", needs=("test",))


def spark_environment(root: Path, steps: Steps, line: SparkLine) -> Environment:
    """Make the environment with the pyspark of a line."""
    return _environment(
        *(root, steps, f"spark-{line.line}", f"pyspark=={line.pyspark}"),
        *line.needs.split(),
        extras="report,demo",
        needs=("test",),
        libraries=tools_environment(root, steps),
    )


def release_environment(root: Path, steps: Steps) -> Environment:
    """Make the environment that builds, checks and uploads a release."""
    return _environment(root, steps, "release", needs=("release",))


def audit_environment(root: Path, steps: Steps) -> Environment:
    """Make the environment that asks for advisories."""
    return _environment(root, steps, "audit", needs=("audit",))


def docs_environment(root: Path, steps: Steps) -> Environment:
    """Make the environment that makes the documentation site."""
    return _environment(root, steps, "docs", needs=("docs",))


def objects_environment(root: Path, steps: Steps) -> Environment:
    """Make the environment with an S3 server, and the package to read what is in it."""
    return _environment(root, steps, "objects", extras="report", needs=("objects",))


def ivy_jar(environment: Environment) -> Path:
    """Return the jar of Apache Ivy that pyspark carries."""
    return next(environment.packages.glob("pyspark/jars/ivy-*.jar"))


def _environment(  # noqa: PLR0913 - what differs between a few
    root: Path,
    steps: Steps,
    name: str,
    *requirements: str,
    needs: Sequence[str],
    extras: str | None = None,
    libraries: Environment | None = None,
) -> Environment:
    """Make an environment.

    Args:
        root: the project's folder.
        steps: does it.
        name: the environment's.
        requirements: what to install.
        needs: names of files in python/requirements, whose versions are installed too.
        extras: those of the package, which is installed as it is in the project's folder; None for
            an environment without it.
        libraries: the environment whose packages it sees, behind its own; installed is only what
            that one lacks, and the package.
    """
    environment = Environment(folder=steps.folder / "venv" / name)
    package = root / "python"
    files = [package / "requirements" / f"{need}.txt" for need in needs]
    editable = ["--editable", f"{package}[{extras}]"] if extras else []

    def make(log: Log) -> None:
        if environment.folder.is_symlink():  # to clear it would empty another folder
            environment.folder.unlink()
        without_pip = ["--without-pip"] if libraries else []
        log.run(sys.executable, "-m", "venv", "--clear", *without_pip, environment.folder)
        if libraries:
            line = f"import site; site.addsitedir({str(libraries.packages)!r})\n"
            (environment.packages / "libraries.pth").write_text(line)
        log.run(
            *(environment.program("python"), "-m", "pip", "install", "--disable-pip-version-check"),
            # Of large packages little is ever imported.
            *("--no-compile", *editable, *requirements),
            *(word for file in files for word in ("--requirement", file)),
            env={
                "DIST_EXTRA_CONFIG": str(package / "requirements" / "build.cfg"),
                **os.environ,
                **KEPT_BYTECODE,
            },
        )

    steps.do(
        f"environment {name}",
        make,
        fingerprint=fingerprint(
            *(sys.version, sys.base_prefix, extras or "", *requirements, _metadata(package)),
            files=[*files, package / "src" / "holdfast_spark" / "_version.py"],
            root=root,
        ),
        product=environment.program("python"),
    )
    return environment


def _metadata(package: Path) -> str:
    """Return what pyproject.toml says of the package itself, without the settings of tools."""
    return (package / "pyproject.toml").read_text().partition("\n[tool.")[0]
