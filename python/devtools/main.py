"""The commands of `./dev`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from devtools import processes, searches
from devtools.audit import audit
from devtools.bench.command import bench
from devtools.bench.realtime import bench_realtime
from devtools.checks import run_checks, run_lint
from devtools.environments import benchmarked
from devtools.errors import DevError
from devtools.java import java_in
from devtools.matrix import test_matrix
from devtools.release.command import release
from devtools.site.command import docs
from devtools.steps import Log
from devtools.workshop import Workshop

_DESCRIPTION = """\
Everything that a developer does here. Each command first makes what it needs, below .dev/:
virtual environments with pyspark, sbt, the jars, which also go into the package and into the
local Maven repository. A step is done again only when its inputs changed; its output is in
.dev/logs/."""

_TEST = """\
Check the format and the types of all code and run all tests, on every Spark line. The last line
counts the tests that passed and failed; a check that fails counts as a failed test."""


def main(root: Path) -> int:
    """Run the command that the command line names; return the exit code."""
    arguments, rest = parser().parse_known_args()
    if rest and not arguments.passes_on:
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    if arguments.prints:  # needs nothing that another ./dev may be at work on
        print(arguments.prints(root))
        return 0
    try:
        with processes.ending_with_signals(), Workshop.open(root) as workshop:
            return int(arguments.run(workshop, arguments, rest))
    except DevError as e:
        print(f"./dev: {e}", file=sys.stderr)
        return 1
    except processes.EndedError as e:
        return e.code


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line.

    A command's default `run` is its function, or `prints` what it prints of the project's folder;
    `passes_on` says that the arguments that `./dev`
    does not know go to the program that the command starts.
    """
    made = argparse.ArgumentParser(prog="./dev", description=_DESCRIPTION)
    made.set_defaults(passes_on=False, prints=None)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="run the demo: a real stream that keeps its state in Holdfast",
        epilog="All other arguments go to `holdfast demo`; -- --help shows them.",
        allow_abbrev=False,
    )
    demo.add_argument("--spark", metavar="LINE", help="Spark line (default: the newest)")
    demo.set_defaults(run=_demo, passes_on=True)

    test = commands.add_parser("test", help="run all checks and tests", description=_TEST)
    test.add_argument("--only", choices=["jvm", "python"], help="check and test one language")
    test.add_argument(
        "--full",
        action="store_true",
        help="run the tests that take minutes on each Spark line, and with more settings",
    )
    test.add_argument("--spark", metavar="LINE", help="test one Spark line (default: all)")
    test.add_argument(
        "--java",
        type=Path,
        metavar="DIR",
        help="run the tests on the Java in this folder (default: the one that builds)",
    )
    test.set_defaults(run=_test)

    lint = commands.add_parser(
        "lint", help="check the format of all code, and the types of Python's"
    )
    lint.set_defaults(run=lambda workshop, _, __: run_lint(workshop))

    matrix = commands.add_parser(
        "matrix", help="print the Spark lines and JDKs that are tested outside, as JSON"
    )
    matrix.set_defaults(prints=test_matrix)

    build = commands.add_parser(
        "build",
        help="build the jars and put them into the Python package",
        description="Build the jars of all Spark lines, put them into the Python package and "
        "publish them to the local Maven repository.",
    )
    build.set_defaults(run=_build)

    _add_benchmarks(commands)

    jmh = commands.add_parser(
        "jmh",
        help="run the JMH benchmarks of store operations",
        epilog="All other arguments go to JMH, for example: "
        "./dev jmh -p provider=holdfast,hdfs -p rows=100000 StoreBench.get",
        allow_abbrev=False,
    )
    jmh.add_argument(
        "--spark", metavar="LINE", help="Spark line (default: the older of the two newest)"
    )
    jmh.set_defaults(run=_jmh, passes_on=True)

    searches.add_to(commands)

    docs_ = commands.add_parser(
        "docs",
        help="make the documentation site",
        description="Make the documentation site of the pages of the repository, in .dev/site. "
        "It fails where a link or a place in a page leads nowhere.",
    )
    docs_.set_defaults(run=lambda workshop, _, __: docs(workshop))

    audit_ = commands.add_parser(
        "audit",
        help="hold what the wheel depends on against the published advisories",
        description="Ask the service of published advisories about every package that an "
        "installation of the wheel has today. Exit code 1 means that there is an advisory, or that "
        "the service could not be asked, which is said.",
    )
    audit_.set_defaults(run=lambda workshop, _, __: audit(workshop))

    release_ = commands.add_parser(
        "release",
        help="make and check everything that is published",
        description="Make the wheel, the source distribution and the jars for Maven with their "
        "sources and documentation, check them, and install the two in empty environments. All of "
        "it lies in .dev/release then; the jars are in the local Maven repository as well, as "
        "after a build. Nothing is published without --publish.",
    )
    release_.add_argument("--publish", action="store_true", help="sign and publish what was made")
    release_.set_defaults(
        run=lambda workshop, arguments, _: release(workshop, publish=arguments.publish)
    )

    format_ = commands.add_parser("format", help="format all Scala and Python code")
    format_.set_defaults(run=_format)
    return made


def _test(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    line = workshop.line(arguments.spark) if arguments.spark else None
    java = java_in(arguments.java) if arguments.java else None
    return run_checks(workshop, arguments.only, full=arguments.full, line=line, java=java)


def _add_benchmarks(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bench = commands.add_parser(
        "bench",
        help="measure Holdfast beside Spark's providers",
        description="Measure Holdfast, Spark's default provider and its RocksDB provider in one "
        "run, and write the numbers as JSON, as a table and as plots.",
    )
    bench.add_argument("measures", nargs="*", metavar="MEASURE", help="measure only this")
    bench.add_argument("--full", action="store_true", help="measure everything, for hours")
    bench.add_argument("--out", type=Path, metavar="DIR", help="where to write (docs/benchmarks)")
    bench.add_argument(
        "--spark", metavar="LINE", help="Spark line (default: the older of the two newest)"
    )
    bench.set_defaults(run=_bench)

    bench_realtime = commands.add_parser(
        "bench-realtime",
        help="measure how long a record takes in real-time mode",
        description="Measure how long records take in real-time mode on Holdfast and on RocksDB, "
        "in turns, on the newest Spark line.",
        epilog="All other arguments go to the benchmark, such as query=deduplication keys=100000 "
        "rate=5000 batch=10 batches=6 turns=2.",
        allow_abbrev=False,
    )
    bench_realtime.set_defaults(run=_bench_realtime, passes_on=True)

    bench_python = commands.add_parser(
        "bench-python",
        help="measure transformWithState from Python with Spark's state client and Holdfast's",
        epilog="All other arguments go to the benchmark; -- --help shows them.",
        allow_abbrev=False,
    )
    bench_python.add_argument("--spark", metavar="LINE", help="Spark line (default: the newest)")
    bench_python.set_defaults(run=_bench_python, passes_on=True)


def _demo(workshop: Workshop, arguments: argparse.Namespace, rest: list[str]) -> int:
    line = workshop.line(arguments.spark)
    workshop.jars()
    environment = workshop.spark(line)
    command = [str(environment.program("holdfast")), "demo", *_without_dashes(rest)]
    return processes.run(command, env=workshop.spark_variables(line))


def _bench(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    line = benchmarked(workshop.lines)
    asked = workshop.line(arguments.spark) if arguments.spark else line
    if asked != line and not arguments.out:
        raise DevError(
            f"The numbers in docs/benchmarks are of Spark {line.line}: say with --out where those "
            f"of Spark {asked.line} are to be written."
        )
    return bench(
        workshop,
        line=asked,
        full=arguments.full,
        measures=arguments.measures,
        out=arguments.out or workshop.root / "docs" / "benchmarks",
    )


def _bench_python(workshop: Workshop, arguments: argparse.Namespace, rest: list[str]) -> int:
    line = workshop.line(arguments.spark)
    workshop.jars()
    python = str(workshop.spark(line).program("python"))
    command = [python, "-m", "devtools.bench.python_states", *_without_dashes(rest)]
    variables = {**workshop.spark_variables(line), "PYTHONPATH": str(workshop.package)}
    return processes.run(command, env=variables)


def _bench_realtime(workshop: Workshop, _: argparse.Namespace, rest: list[str]) -> int:
    return bench_realtime(workshop, _without_dashes(rest))


def _jmh(workshop: Workshop, arguments: argparse.Namespace, rest: list[str]) -> int:
    options = [f"-Dbench.line={workshop.line(arguments.spark).line}"] if arguments.spark else []
    return workshop.show_sbt(*options, shlex.join(["bench/Jmh/run", *_without_dashes(rest)]))


def _without_dashes(rest: list[str]) -> list[str]:
    """Leave out the `--` after which all arguments are for another program."""
    return rest[1:] if rest[:1] == ["--"] else rest


def _build(workshop: Workshop, _: argparse.Namespace, __: list[str]) -> int:
    for jar in workshop.jars():
        print(os.path.relpath(jar))
    return 0


def _format(workshop: Workshop, _: argparse.Namespace, __: list[str]) -> int:
    commands = [workshop.ruff("check", "--fix-only"), workshop.ruff("format")]

    def ruff(log: Log) -> None:
        for command in commands:
            log.run(*command, cwd=workshop.root)

    workshop.steps.do("format Python", ruff)
    workshop.sbt("format Scala", "scalafmtAll", "scalafmtSbt")
    return 0
