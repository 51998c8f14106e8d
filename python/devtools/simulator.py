"""`./dev sim`: simulated histories of a query."""

from __future__ import annotations

import argparse

from devtools.errors import DevError
from devtools.limits import at_least, duration
from devtools.workshop import Workshop

_OPTIONS = ("seed", "from", "histories", "minutes", "threads", "defect", "crash-at")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `./dev`."""
    sim = commands.add_parser(
        "sim",
        help="simulate histories of a query on which everything goes wrong",
        description="Run the provider in a simulated cluster, on simulated files, each history in "
        "one thread: executors and drivers die, files and messages are late or lost, attempts "
        "overtake each other. After each history every version that is promised is loaded and "
        "compared with what it must hold. Ends when twenty histories went wrong, each with the "
        "seed that brings it back, or when the number or the time is over, or with Ctrl-C.",
    )
    sim.add_argument(
        "--seed", type=at_least(0), metavar="N", help="replay this history, and show it"
    )
    sim.add_argument("--from", type=at_least(0), metavar="N", help="seed of the first history (1)")
    sim.add_argument("--histories", type=at_least(1), metavar="N", help="end after N histories")
    sim.add_argument("--minutes", type=duration, metavar="M", help="end after M minutes")
    sim.add_argument("--threads", type=at_least(1), metavar="N", help="simulate N at a time (1)")
    sim.add_argument("--defect", metavar="NAME", help="plant a defect, for the simulator to find")
    sim.add_argument(
        "--crash-at",
        type=at_least(1),
        metavar="N",
        help="with --seed: a process dies at operation N",
    )
    sim.set_defaults(run=_run)


def _run(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    if arguments.crash_at is not None and arguments.seed is None:
        raise DevError("--crash-at is for one history: name it with --seed.")
    given = {name: getattr(arguments, name.replace("-", "_")) for name in _OPTIONS}
    words = [f"--{name} {value}" for name, value in given.items() if value is not None]
    return workshop.show_sbt(" ".join(["sim/run", *words]))
