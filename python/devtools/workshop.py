"""What the commands of `./dev` work with, each thing made when a command first asks for it."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from devtools import class_data, environments, processes, test_files
from devtools.environments import Environment, SparkLine
from devtools.java import Java, find_java, find_sbt
from devtools.sbt import Sbt
from devtools.steps import Log, Steps, fingerprint

PYTHON_SOURCES = ("dev", "python", "tests/python", "examples")
_JVM_SOURCES = (
    *("build.sbt", "project", "jvm", "LICENSE"),
    *("python/pyproject.toml", "python/src/holdfast_spark/_version.py"),
)


class Workshop:
    """The project's folder with what `./dev` keeps in `.dev`; one process at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / "python"
        self.steps = Steps(folder=root / ".dev")
        self.lines = environments.spark_lines(root)
        self._sbt: tuple[list[str], Sbt] | None = None

    @classmethod
    @contextmanager
    def open(cls, root: Path) -> Iterator[Workshop]:
        """Give the workshop to this process alone, after waiting for others to leave it."""
        workshop = cls(root)
        workshop.steps.folder.mkdir(exist_ok=True)
        with (workshop.steps.folder / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                print(f"waiting for {lock.read() or 'another ./dev'} to end", file=sys.stderr)
                fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate(0)
            lock.write(f"./dev {shlex.join(sys.argv[1:])} (process {os.getpid()})")
            lock.flush()
            try:
                yield workshop
            finally:
                workshop._end_sbt()
                workshop._remove_test_files()

    @property
    def version(self) -> str:
        """The project's version, stated once, in the Python package (`ProjectVersion` of sbt)."""
        stated = self.package / "src" / "holdfast_spark" / "_version.py"
        return stated.read_text().partition('__version__ = "')[2].partition('"')[0]

    @cached_property
    def java(self) -> Java:
        """The JDK in use."""
        return find_java()

    def line(self, name: str | None) -> SparkLine:
        """Return the Spark line of that name, the newest for None."""
        return environments.choose_line(self.lines, name)

    @cached_property
    def test_files(self) -> Path | None:
        """The folder in memory where tests put their files; it goes when the workshop is left."""
        return test_files.make_folder(self.root)

    def _remove_test_files(self) -> None:
        folder = self.__dict__.get("test_files")
        if folder:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def lines_of_sbt(self) -> list[SparkLine]:
        """The lines whose pyspark sbt is started with: for its jars, and for Ivy."""
        return [line for line in self.lines if line.jars == "pyspark"] or self.lines[-1:]

    def tools(self) -> Environment:
        """Return the environment with ruff, mypy and pytest, and without pyspark."""
        return environments.tools_environment(self.root, self.steps)

    def oldest(self) -> Environment:
        """Return the environment with the oldest libraries that the package takes."""
        return environments.oldest_environment(self.root, self.steps)

    def spark(self, line: SparkLine) -> Environment:
        """Return the environment with the pyspark of a line."""
        return environments.spark_environment(self.root, self.steps, line)

    def publisher(self) -> Environment:
        """Return the environment that builds, checks and uploads a release."""
        return environments.release_environment(self.root, self.steps)

    def auditor(self) -> Environment:
        """Return the environment that asks for advisories."""
        return environments.audit_environment(self.root, self.steps)

    def writer(self) -> Environment:
        """Return the environment that makes the documentation site."""
        return environments.docs_environment(self.root, self.steps)

    def spark_variables(self, line: SparkLine) -> dict[str, str]:
        """Return the environment variables to start Spark of a line with, logging quietly."""
        variables = self.spark(line).variables(self.java)
        return {**variables, "SPARK_CONF_DIR": str(self.root / "conf")}

    def test_variables(self, line: SparkLine, java: Java) -> dict[str, str]:
        """Return the same for tests, whose JVMs live for seconds."""
        made = self.spark(line)
        archive = class_data.class_data(self.root, self.steps, line, made, java)
        options = class_data.java_options(archive)
        return made.variables(java, **class_data.variables(self.root), JAVA_TOOL_OPTIONS=options)

    def brief_variables(self, line: SparkLine, java: Java) -> dict[str, str]:
        """Return the same without an archive: for a few tests, making it would take longer."""
        return self.spark(line).variables(
            java,
            **class_data.variables(self.root),
            JAVA_TOOL_OPTIONS=class_data.BRIEF_JVM,
        )

    def sbt(self, step: str, *tasks: str, stamp: str | None = None) -> None:
        """Do sbt tasks as one step; with a stamp, only if it changed since they succeeded.

        Settings of Java, such as `-Dtests.full=true`, come before the tasks. What has the same is
        done by the same sbt.
        """
        command = self._sbt_command
        self.steps.do(step, lambda log: self._do(log, command, tasks), fingerprint=stamp)

    def _do(self, log: Log, start: Sequence[str], tasks: Sequence[str]) -> None:
        settings = [task for task in tasks if task.startswith("-D")]
        command = [*start, *settings, "shell"]
        if self._sbt is None or self._sbt[0] != command:
            self._end_sbt()
            self._sbt = command, Sbt(command, folder=self.root, env=self._sbt_variables)
        self._sbt[1].do(log, *tasks[len(settings) :])

    def _end_sbt(self) -> None:
        if self._sbt is not None:
            self._sbt[1].close()
            self._sbt = None

    def show_sbt(self, *arguments: str) -> int:
        """Run sbt with its output on the terminal; return its exit code."""
        command = [*self._sbt_command, *arguments]
        return processes.run(
            command, cwd=self.root, env=self._sbt_variables, stdin=subprocess.DEVNULL
        )

    def jars(self) -> Sequence[Path]:
        """Build the jars of all lines, publish them locally and put them into the package."""
        folder = self.package / "src" / "holdfast_spark" / "jars"
        command = self._sbt_command

        def build(log: Log) -> None:
            self._do(log, command, ["jars", "publishM2"])
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.root / "target" / "jars", folder)

        self.steps.do("jars", build, fingerprint=self.fingerprint(*_JVM_SOURCES), product=folder)
        return sorted(folder.iterdir())

    def ruff(self, *command: str) -> list[str | Path]:
        """Return the command that runs ruff on all Python code, in the project's folder."""
        config = self.package / "pyproject.toml"
        return [self.tools().program("ruff"), *command, "--config", config, *PYTHON_SOURCES]

    def fingerprint(self, *names: str) -> str:
        """Return a digest of the project's files and folders of these names."""
        return fingerprint(files=[self.root / name for name in names], root=self.root)

    @property
    def _sbt_variables(self) -> dict[str, str]:
        files = {"HOLDFAST_TEST_FILES": str(self.test_files)} if self.test_files else {}
        return {**os.environ, "JAVA_HOME": str(self.java.home), **files}

    @cached_property
    def _sbt_command(self) -> list[str]:
        """The command that starts sbt."""
        java = self.java
        made = [self.spark(line) for line in self.lines_of_sbt]
        return find_sbt(self.root, self.steps, java=java, ivy=environments.ivy_jar(made[0]))
