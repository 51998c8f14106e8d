"""`./dev races`: what threads do to each other."""

from __future__ import annotations

import argparse

from devtools.limits import duration
from devtools.workshop import Workshop


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `./dev`."""
    races = commands.add_parser(
        "races",
        help="let threads meet in every way in the classes that they share",
        description="Let Lincheck draw calls that come together in the classes that tasks, "
        "maintenance and background threads share, and decide which thread goes on: the results "
        "have to be those of some order of the calls. Let jcstress run what the memory model has "
        "to forbid, with each compiler and setting of the JVM that matters. Exit code 0 means that "
        "nothing went wrong; what did is shown, call by call.",
    )
    races.add_argument(
        "--minutes",
        type=duration,
        default=30,
        metavar="M",
        help="begin nothing after about M minutes (30)",
    )
    races.set_defaults(run=_run)


def _run(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    return workshop.show_sbt(f"-Draces.minutes={arguments.minutes}", "races/test")
