"""`./dev kills` and `./dev soak-query`: a real query that is killed, and that runs for hours."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from devtools import delta, processes
from devtools.limits import at_least, duration
from devtools.seeds import seed
from devtools.workshop import Workshop


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to those of `./dev`."""
    kills = commands.add_parser(
        "kills",
        help="kill the processes of a query over and over, with each sink",
        description="Run a query that drops duplicates and counts, with foreachBatch, foreach, a "
        "sink of files and a Delta table in turn, and kill its driver, and in a small cluster its "
        "executors, at random moments. Exit code 0 means that what each sink holds is what one "
        "computation in batch gives, each row once, and that the state is right.",
    )
    kills.add_argument("--count", type=at_least(1), default=100, metavar="N", help="kills (100)")
    kills.add_argument("--minutes", type=duration, metavar="N", help="begin nothing after so many")
    kills.add_argument(
        "--source",
        choices=["rate", "files", "kafka"],
        default="rate",
        help="what the query reads: Spark's own numbers (rate), a folder in which files come, "
        "come late and go, or a topic of Kafka whose brokers are stopped and killed",
    )
    kills.set_defaults(run=_kills)
    soak_query = commands.add_parser(
        "soak-query",
        help="run a query for hours, through restarts and kills, and look for growth",
        description="Run one query whose state grows and shrinks for hours, with one sink after "
        "the other, stop and kill it at random, and hold each batch against what it must write. "
        "What the driver holds (heap, memory of the process, direct buffers, threads, open files) "
        "and the files in the checkpoint are written to samples.csv and drawn in soak.svg. Exit "
        "code 0 means that every batch was right and that nothing grew.",
    )
    soak_query.add_argument("--hours", type=duration, default=2, metavar="H", help="so long (2)")
    soak_query.set_defaults(run=_soak_query)
    for command in (kills, soak_query):
        command.add_argument(
            "--seed", type=at_least(0), metavar="S", help="seed of the first history"
        )
        command.add_argument("--folder", type=Path, metavar="DIR", help="where to (below target)")


def _kills(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    minutes = [] if arguments.minutes is None else [f"--minutes={arguments.minutes}"]
    options = [f"--count={arguments.count}", f"--source={arguments.source}", *minutes]
    return _run(workshop, "kills", arguments, *options)


def _soak_query(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    # What others keep would hide what the query does: the allocator of C keeps memory in each of
    # its arenas, and Py4J, where it pins threads, a connection for each that ever called Python.
    # Compilers and collector are those that users have.
    options = {
        "MALLOC_ARENA_MAX": "2",
        "PYSPARK_PIN_THREAD": "false",
        "JAVA_TOOL_OPTIONS": "-XX:+UseG1GC",
    }
    return _run(workshop, "soak-query", arguments, f"--hours={arguments.hours}", **options)


def _run(
    workshop: Workshop, name: str, arguments: argparse.Namespace, *options: str, **variables: str
) -> int:
    line = workshop.line(delta.spark_line())
    workshop.jars()
    chosen = seed(arguments)
    folder = arguments.folder or workshop.root / "target" / name
    tests = workshop.root / "tests" / "python"
    python = str(workshop.spark(line).program("python"))
    print(f"seed {chosen}, in {folder}", flush=True)
    given = [*options, f"--seed={chosen}"]
    return processes.run(
        [python, "-m", "soak.command", name, str(folder.absolute()), *given],
        env={
            **workshop.spark_variables(line),
            "PYTHONPATH": os.pathsep.join([str(tests), str(workshop.package)]),
            **variables,
        },
    )
