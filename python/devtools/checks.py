"""`./dev test`: all checks and tests, and their count."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from devtools import test_files
from devtools.class_data import OLDEST_JAVA
from devtools.environments import KEPT_BYTECODE, Environment, SparkLine, tested_whole
from devtools.errors import DevError
from devtools.filesystems import jars_of_tests
from devtools.java import Java
from devtools.results import Results, read_reports
from devtools.steps import Log, StepFailedError
from devtools.workshop import PYTHON_SOURCES, Workshop

# Each of these tests starts Spark in a process of its own, or shares what one of its file started,
# and waits for it most of the time. Those that take long are in folders, which come first. Spark
# gives a Python worker ten seconds to start: more tests at once, some of which start whole
# clusters, would take them from it.
_SPARKS_AT_ONCE = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
# Those of a line that has a handful of them run beside those of other lines.
_ONE_SPARK = ("-n", "1")
# The others write many small files, and a few of them take as long as all the rest.
_AT_ONCE = ("-n", "3", "--dist", "worksteal")
# The first Python for which there are none of the oldest libraries that the package takes, and the
# tests that show best that it works with them.
_NEWER_THAN_OLDEST_LIBRARIES = (3, 13)
_OF_LIBRARIES = (
    *("cli", "capacity/test_plan.py", "capacity/test_observed.py"),
    *("checkpoint/commands", "checkpoint/rows", "checkpoint/test_golden.py"),
)
# More than what is done at the same time: a thread that waits for another keeps none from its work.
_THREADS = 16
# JVM tests run two suites at a time at most (`Settings.testsAtOnce`), and last longest: what they
# need of the machine is theirs, and tests that are more at once fill what they leave.
_AFTER_THE_JVMS = ("nice", "-n", "5")
# Spark compiles what it makes of a query, which for so few rows takes longer than it saves. On the
# newest line it does, as it does with users.
_NOT_COMPILED = "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
# What the tests of this project are written in; Spark's own suite runs on what its Spark does.
_OLDEST_OF_FULL = 11
# The first Java that takes its arguments from a file, in which sbt else puts them.
_OLDEST_WITH_FILES = 9
_SCALA_SOURCES = (".scalafmt.conf", "build.sbt", "project", "jvm", "tests/jvm")


class Checks:
    """Runs checks, the ones after one that failed as well, and counts their tests.

    For any number of threads.
    """

    def __init__(self, workshop: Workshop, java: Java | None = None) -> None:
        """Check a workshop's work.

        Args:
            workshop: where the work is done.
            java: runs the tests; the one that builds for None.
        """
        self._workshop = workshop
        self._java = java
        self._results: dict[str, Results] = {}

    def run(self, name: str, check: Callable[[], object], reports: Callable[[], Results]) -> bool:
        """Run a check and read its tests' results; return whether it succeeded.

        A failure that no test reports counts as a failed test.
        """
        try:
            check()
            succeeded = True
        except StepFailedError:
            succeeded = False
        results = reports()
        if not succeeded and not results.failures:
            results += Results(failures=(name,))
        self._results[name] = results
        return succeeded

    def scala_format(self) -> None:
        """Check the format of the Scala code."""
        workshop = self._workshop
        self.run(
            "Scala format",
            lambda: workshop.sbt(
                "Scala format",
                *("scalafmtCheckAll", "scalafmtSbtCheck"),
                stamp=workshop.fingerprint(*_SCALA_SOURCES),
            ),
            Results,
        )

    def jvm(self, line: SparkLine | None, *, full: bool) -> None:
        """Check the format of the Scala code and run the JVM tests.

        Args:
            line: the Spark line that is tested, with the engine as it has it; all for None.
            full: run the slow tests on each Spark line, and not on the newest alone.
        """
        workshop = self._workshop
        self.scala_format()
        # What is compiled while others are tested may be tested last, alone.
        everything = ["Test / compile", "test"]
        tests = [f"{project}/test" for project in line.tested] if line else everything
        for report in self._jvm_reports():
            report.unlink()
        self.run(
            "JVM tests",
            lambda: workshop.sbt("JVM tests", *self._options(full=full), *tests),
            lambda: read_reports(self._jvm_reports()),
        )

    def python_format(self) -> None:
        """Check the format and the types of the Python code."""
        workshop = self._workshop
        self._command("Python format", lambda: workshop.ruff("format", "--check"))
        self._command("ruff", lambda: workshop.ruff("check"))
        self._command("mypy", self._mypy)

    def python(self) -> None:
        """Run the Python tests that need no Spark."""
        tools = self._workshop.tools
        self._pytest("Python tests", tools, "-m", "not spark", *_AT_ONCE)

    def python_with_oldest_libraries(self) -> None:
        """Run those of them again that show what libraries do, with the oldest that are taken."""
        if sys.version_info < _NEWER_THAN_OLDEST_LIBRARIES:
            self._pytest(
                "Python tests, oldest libraries",
                self._workshop.oldest,
                *("-m", "not spark", *_AT_ONCE),
                tests=_OF_LIBRARIES,
            )

    def environment(self, line: SparkLine, *, full: bool) -> bool:
        """Make what a line's Python tests start Spark with; return whether that succeeded."""
        return self.run(
            f"environment of Spark {line.line}", lambda: self.variables(line, full=full), Results
        )

    def python_with_spark(self, line: SparkLine, *, full: bool) -> None:
        """Run the Python tests that start Spark, with the jars in the package.

        Args:
            line: the Spark line to run them on.
            full: run all tests: the long ones too, the slow ones not on the newest line alone, and
                on the older lines more than the main job.
        """
        workshop = self._workshop
        at_once: tuple[str, ...] = _SPARKS_AT_ONCE
        if full:
            marks = "spark"
        elif line == workshop.line(None):
            marks = "spark and not long"
        elif line in tested_whole(workshop.lines, full=full):
            marks = "spark and not long and not slow"
        else:
            marks = "spark and main_job"
            at_once = _ONE_SPARK
        self._pytest(
            f"Python tests, Spark {line.line}",
            partial(workshop.spark, line),
            *("-m", marks, *at_once),
            env=self.variables(line, full=full),
        )

    def report(self) -> int:
        """Print the results of every check and the counts of all; return the exit code."""
        print()
        for name, results in self._results.items():
            print(f"{name}: {_counts(results) if results != Results() else 'ok'}")
            for failure in results.failures:
                print(f"  failed: {failure}")
        total = sum(self._results.values(), Results())
        print(f"{total.passed} passed, {len(total.failures)} failed")
        return 1 if total.failures else 0

    def _jvm_reports(self) -> list[Path]:
        return list(self._workshop.root.glob("jvm/**/test-reports/*.xml"))

    def _command(self, name: str, command: Callable[[], list[str | Path]]) -> None:
        def check() -> None:
            words = command()
            self._workshop.steps.do(name, lambda log: log.run(*words, cwd=self._workshop.root))

        self.run(name, check, Results)

    def _mypy(self) -> list[str | Path]:
        """The types are checked against the newest pyspark."""
        workshop = self._workshop
        newest = workshop.spark(workshop.line(None))
        return [
            workshop.tools().program("mypy"),
            *("--config-file", workshop.package / "pyproject.toml"),
            *("--python-executable", newest.program("python")),
            *("--cache-dir", workshop.steps.folder / "mypy"),
            *PYTHON_SOURCES,
        ]

    def _pytest(
        self,
        name: str,
        environment: Callable[[], Environment],
        *options: str,
        tests: Sequence[str] = ("",),
        env: dict[str, str] | None = None,
    ) -> None:
        """Run tests.

        Args:
            name: of the step.
            environment: makes the environment to run them in.
            options: of pytest.
            tests: files and folders of tests; all by default.
            env: the environment variables of tests with Spark; None for others.
        """
        workshop = self._workshop
        report = workshop.steps.folder / "reports" / f"{name.replace(' ', '-')}.xml"
        report.unlink(missing_ok=True)

        def test(log: Log) -> None:
            log.run(
                *(_AFTER_THE_JVMS if env else ()),
                environment().program("python"),
                *("-m", "pytest", *options),
                *("-c", workshop.package / "pyproject.toml", "--rootdir", workshop.root),
                *("--junit-xml", report),
                *(workshop.root / "tests" / "python" / each for each in tests),
                cwd=workshop.root,
                env={
                    **(env or os.environ),
                    **test_files.variables(workshop.test_files),
                    **KEPT_BYTECODE,
                },
            )

        self.run(
            name,
            lambda: workshop.steps.do(name, test),
            lambda: read_reports([report] if report.exists() else []),
        )

    def variables(self, line: SparkLine, *, full: bool) -> dict[str, str]:
        """Return the environment variables of a line's tests, which may take a while to make."""
        workshop = self._workshop
        java = self._java or workshop.java
        made = self._variables(line, java, full=full)
        if line == workshop.line(None):
            return {**made, **jars_of_tests(workshop)}
        if full:
            return made
        return {**made, "JAVA_TOOL_OPTIONS": f"{made['JAVA_TOOL_OPTIONS']} {_NOT_COMPILED}"}

    def _variables(self, line: SparkLine, java: Java, *, full: bool) -> dict[str, str]:
        workshop = self._workshop
        if line in tested_whole(workshop.lines, full=full) and java.version >= OLDEST_JAVA:
            return workshop.test_variables(line, java)
        return workshop.brief_variables(line, java)

    def _options(self, *, full: bool) -> Iterator[str]:
        """What sbt has to know of the tests (`Settings`)."""
        if full:
            yield "-Dtests.full=true"
        if self._java:
            yield f"-Dtests.java={self._java.home}"
            if self._java.version < _OLDEST_WITH_FILES:
                yield "-Dsbt.argsfile=false"


def _counts(results: Results) -> str:
    skipped = f", {results.skipped} skipped" if results.skipped else ""
    return f"{results.passed} passed, {len(results.failures)} failed{skipped}"


def run_lint(workshop: Workshop) -> int:
    """Check the format of all code and the types of Python's; return the exit code."""
    checks = Checks(workshop)
    if checks.run("set-up", lambda: _each(workshop.spark, workshop.lines_of_sbt), Results):
        checks.scala_format()
        checks.python_format()
    return checks.report()


def run_checks(
    workshop: Workshop,
    only: str | None,
    *,
    full: bool,
    line: SparkLine | None = None,
    java: Java | None = None,
) -> int:
    """Run the checks and tests of one language, `jvm` or `python`, or of both for None.

    All that does not need the other runs at the same time: much of a test is waiting for a Spark
    that starts.

    Args:
        workshop: where the work is done.
        only: the language.
        full: run all tests on each Spark line.
        line: the Spark line to test, all for None.
        java: runs the tests; the one that builds for None.
    """
    lines = [line] if line else workshop.lines
    if java:
        _require_fit(java, lines, full=full)
    checks = Checks(workshop, java)
    with ThreadPoolExecutor(_THREADS) as pool:
        # They need less than all others, and begin while that is made.
        without_spark = pool.submit(checks.python) if only in (None, "python") else None
        # What sbt is started with.
        if checks.run("set-up", lambda: _each(workshop.spark, workshop.lines_of_sbt), Results):
            jars = pool.submit(checks.run, "jars", workshop.jars, Results)

            def jvm() -> None:
                if jars.result():
                    checks.jvm(line, full=full)

            def python(without_spark: Future[None], jvm_tests: Future[None] | None) -> None:
                # The newest line has the most tests.
                ready = {
                    each: pool.submit(checks.environment, each, full=full)
                    for each in reversed(lines)
                }
                checks.python_format()
                without_spark.result()
                checks.python_with_oldest_libraries()
                if not jars.result():
                    return

                def with_spark(each: SparkLine) -> None:
                    if ready[each].result():
                        checks.python_with_spark(each, full=full)

                def in_turn(some: Iterable[SparkLine]) -> None:
                    for each in some:
                        with_spark(each)

                whole = [each for each in ready if each in tested_whole(workshop.lines, full=full)]
                newest = pool.submit(in_turn, whole[:1])
                # Another line has what the JVM tests leave of the machine.
                if jvm_tests:
                    wait([jvm_tests, newest], return_when=FIRST_COMPLETED)
                others = pool.submit(in_turn, whole[1:])
                newest.result()
                # A handful of tests each, one line after the other: more at a time would take from
                # the JVM tests, which last longest, what they have of the machine.
                brief = pool.submit(in_turn, [each for each in ready if each not in whole])
                for running in (others, brief):
                    running.result()

            jvm_tests = pool.submit(jvm) if only in (None, "jvm") else None
            if without_spark:
                pool.submit(python, without_spark, jvm_tests).result()
            if jvm_tests:
                jvm_tests.result()
        if without_spark:
            without_spark.result()
    return checks.report()


def _require_fit(java: Java, lines: Iterable[SparkLine], *, full: bool) -> None:
    """Check that a Java runs the tests of lines."""
    for line in lines:
        oldest = max(line.java, _OLDEST_OF_FULL) if full else line.java
        if java.version < oldest:
            what = f"The tests of Spark {line.line}{' with --full' if full else ''}"
            raise DevError(
                f"{what} need Java {oldest} or newer, and {java.home} is Java {java.version}: "
                "name a newer one, or a line that it runs with --spark."
            )


def _each(make: Callable[[SparkLine], object], lines: Iterable[SparkLine]) -> None:
    for line in lines:
        make(line)
