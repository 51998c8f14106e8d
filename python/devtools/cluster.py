"""`./dev cluster`: a query in a standalone cluster to which everything happens."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from devtools import processes
from devtools.limits import at_least, duration
from devtools.seeds import seed
from devtools.workshop import Workshop


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `./dev`."""
    cluster = commands.add_parser(
        "cluster",
        help="run a query in a standalone cluster, and kill, stop and slow down its parts",
        description="Run a query that drops duplicates and counts in a cluster of a master and "
        "workers on this machine: executors, workers, masters and drivers are killed, workers "
        "stand still and come back, executors are slow and speculative attempts overtake them, or "
        "come and go as there is work. Exit code 0 means that the output was that of one "
        "computation in batch each time, each row once, that every version of the state that had "
        "to be there was right, and that executors kept nothing of a query that had ended.",
    )
    cluster.add_argument("--minutes", type=duration, default=30, metavar="N", help="so long (30)")
    cluster.add_argument("--seed", type=at_least(0), metavar="S", help="seed of the first history")
    cluster.add_argument("--folder", type=Path, metavar="DIR", help="where to (target/cluster)")
    cluster.set_defaults(run=_cluster)


def _cluster(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    line = workshop.line(None)
    workshop.jars()
    chosen = seed(arguments)
    folder = arguments.folder or workshop.root / "target" / "cluster"
    tests = workshop.root / "tests" / "python"
    python = str(workshop.spark(line).program("python"))
    return processes.run(
        [
            *(python, "-m", "cluster.search", str(folder.absolute())),
            *(f"--minutes={arguments.minutes}", f"--seed={chosen}"),
        ],
        env={
            **workshop.spark_variables(line),
            "PYTHONPATH": os.pathsep.join([str(tests), str(workshop.package)]),
        },
    )
