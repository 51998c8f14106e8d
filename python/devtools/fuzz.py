"""`./dev fuzz`: what draws what it tries, for as long as one likes."""

from __future__ import annotations

import argparse
import math
import os
import time

from devtools import processes
from devtools.limits import at_least, duration
from devtools.seeds import seed
from devtools.workshop import Workshop

# How long Jazzer draws for one of its targets before the next has its turn.
_SECONDS = 60


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `./dev`."""
    fuzz = commands.add_parser(
        "fuzz",
        help="draw damaged files, checkpoints and interrupted changes, with one seed after another",
        description="Python: run the tests that draw what they try, thoroughly. JVM: let Jazzer "
        "draw inputs for what reads state files, by what they lead it to. Both in turns, with one "
        "seed after the other, until one fails, the time is over or Ctrl-C is pressed. What fails "
        "is shown, in Python in its smallest form, with the seed that brings it back, in the JVM "
        "with the file that has it.",
    )
    fuzz.add_argument("--minutes", type=duration, metavar="N", help="begin no seed after N minutes")
    fuzz.add_argument("--seed", type=at_least(0), metavar="S", help="the first seed")
    fuzz.add_argument("--only", choices=["jvm", "python"], help="draw for one language")
    fuzz.set_defaults(run=_run)


def _run(workshop: Workshop, arguments: argparse.Namespace, _: list[str]) -> int:
    number = seed(arguments)
    end = math.inf if arguments.minutes is None else time.monotonic() + 60 * arguments.minutes
    turns = {"python": _python, "jvm": _jvm}
    while time.monotonic() < end:
        print(f"./dev fuzz --seed {number}", flush=True)
        for language, turn in turns.items():
            if arguments.only in (None, language) and (code := turn(workshop, number)):
                return code
        number += 1
    return 0


def _python(workshop: Workshop, number: int) -> int:
    command = [
        *(str(workshop.tools().program("python")), "-m", "pytest", "-q", "-x", "-m", "fuzz"),
        *(f"--hypothesis-seed={number}", "-p", "no:cacheprovider"),
        *("-c", str(workshop.package / "pyproject.toml"), "--rootdir", str(workshop.root)),
        str(workshop.root / "tests" / "python" / "checkpoint"),
    ]
    variables = {**os.environ, "HOLDFAST_THOROUGH": "1"}
    return processes.run(command, cwd=workshop.root, env=variables)


def _jvm(workshop: Workshop, number: int) -> int:
    return workshop.show_sbt(f"fuzz/run --seed {number} --seconds {_SECONDS}")
