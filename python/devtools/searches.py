"""The commands of `./dev` that look for failures until the time is over."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from devtools import cluster, fuzz, processes, races, simulator, soaks
from devtools.filesystems import filesystems
from devtools.limits import at_least, duration
from devtools.objects import objects
from devtools.seeds import seed
from devtools.workshop import Workshop


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands that look for failures until the time is over."""
    soak = commands.add_parser(
        "soak",
        help="run random scripts on Holdfast and on Spark's default provider, side by side",
        description="Run random scripts of store operations on Holdfast and on Spark's default "
        "provider side by side, until one differs, the time is over or Ctrl-C is pressed. A script "
        "that differs is shown in its smallest form, with the seed that brings it back.",
    )
    soak.add_argument("--minutes", type=duration, metavar="N", help="end after N minutes")
    soak.add_argument("--seed", type=at_least(0), metavar="S", help="seed of the first scripts")
    soak.add_argument("--spark", metavar="LINE", help="Spark line (default: the newest)")
    soak.set_defaults(run=_soak)

    soaks.add_to(commands)
    cluster.add_to(commands)
    simulator.add_to(commands)
    races.add_to(commands)
    fuzz.add_to(commands)

    mutate = commands.add_parser(
        "mutate",
        help="damage checkpoints at random, and hold verify against what Spark then does",
        description="Damage checkpoints of every kind of query at random, ask holdfast verify "
        "about each, and let Spark go on from it. Exit code 0 means that nothing that stops a "
        "query or changes its result was called sound or superfluous. What Spark did is kept in "
        "the folder, so that a search that was interrupted goes on, and the same seeds again ask "
        "verify alone.",
    )
    mutate.add_argument(
        "--count", type=at_least(1), default=2000, metavar="N", help="mutations (2000)"
    )
    mutate.add_argument(
        "--seed", type=at_least(0), default=1, metavar="S", help="seed of the first one"
    )
    mutate.add_argument("--spark", metavar="LINE", help="Spark line (default: the newest)")
    mutate.add_argument("--folder", type=Path, metavar="DIR", help="where to (target/mutate-LINE)")
    mutate.set_defaults(run=_mutate)

    live = commands.add_parser(
        "live",
        help="change the checkpoints of running queries, over and over",
        description="Let every command that changes a checkpoint do so while the query runs: idle, "
        "between batches, in a batch, in maintenance, failed, and cut off itself. Each trial ends "
        "with the right result, or with a refusal and then the right result; one that does not is "
        "shown, and the exit code is 1.",
    )
    live.add_argument("--trials", type=at_least(1), default=200, metavar="N", help="so many (200)")
    live.add_argument("--seed", type=at_least(0), metavar="S", help="seed of the trials")
    live.add_argument("--spark", metavar="LINE", help="Spark line (default: the newest)")
    live.set_defaults(run=_live)

    objects_ = commands.add_parser(
        "objects",
        help="run a query in a store of objects whose requests fail, and kill its processes",
        description="Run a query on executor processes, with its checkpoint in an S3 server on "
        "this machine: requests fail, are lost, late and cut off, and executors and drivers are "
        "killed. Exit code 0 means that the output was right each time, and every version of the "
        "state that had to be there.",
    )
    objects_.add_argument("--minutes", type=duration, default=30, metavar="N", help="so long (30)")
    objects_.add_argument("--seed", type=at_least(0), metavar="S", help="seed of the first history")
    objects_.add_argument(
        "--count",
        action="store_true",
        help="count the requests of each batch instead, beside Spark's provider",
    )
    objects_.set_defaults(run=_objects)

    filesystems_ = commands.add_parser(
        "filesystems",
        help="try checkpoint files on every file system, and a query on a disturbed HDFS",
        description="Try what a checkpoint asks of a file system on local disks, on HDFS and on "
        "s3a, all on this machine, with the file managers of each. Then run a query with its "
        "checkpoint on HDFS, over and over: DataNodes stop, the NameNode restarts and is in safe "
        "mode, drivers and executors are killed. Exit code 0 means that every case was as it "
        "should be, the output right each time, and every version of the state that had to be "
        "there.",
    )
    filesystems_.add_argument(
        "--minutes", type=duration, default=30, metavar="N", help="so long (30)"
    )
    filesystems_.add_argument(
        "--seed", type=at_least(0), metavar="S", help="seed of the first history"
    )
    filesystems_.set_defaults(run=_filesystems)


def _soak(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    limit = [] if arguments.minutes is None else [str(arguments.minutes)]
    project = workshop.line(arguments.spark).project_id
    task = f"{project}/Test/runMain io.holdfast.differential.Soak"
    return workshop.show_sbt(" ".join([task, str(seed(arguments)), *limit]))


def _mutate(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    line = workshop.line(arguments.spark)
    workshop.jars()
    folder = arguments.folder or workshop.root / "target" / f"mutate-{line.line}"
    tests = workshop.root / "tests" / "python"
    command = [str(workshop.spark(line).program("python")), "-m", "mutations.search", str(folder)]
    numbers = ["--count", str(arguments.count), "--seed", str(arguments.seed)]
    variables = {**workshop.spark_variables(line), "PYTHONPATH": str(tests)}
    return processes.run([*command, *numbers], env=variables)


def _live(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    line = workshop.line(arguments.spark)
    workshop.jars()
    app = workshop.root / "tests" / "python" / "checkpoint" / "apps" / "live_changes.py"
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        python = workshop.spark(line).program("python")
        command = [str(python), str(app), folder, str(seed(arguments))]
        return processes.run(
            [*command, str(arguments.trials)], cwd=folder, env=workshop.spark_variables(line)
        )


def _objects(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    return objects(workshop, minutes=arguments.minutes, seed=seed(arguments), count=arguments.count)


def _filesystems(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    return filesystems(workshop, minutes=arguments.minutes, seed=seed(arguments))
