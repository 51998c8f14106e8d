"""Looks for what a cluster makes a query lose: `./dev cluster`.

    PYTHONPATH=tests/python:python python -m cluster.search FOLDER --minutes 30 --seed 1

Runs one history after the other. Exit code 0 means that each ended with the right output, with
every retained version of the state right, and with nothing left in the memory of executors.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from histories import counts, new_folder, say

from cluster.history import History
from soak.process import DriverError


def main() -> int:
    """Run histories until the time is over or one is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # Who is told to end takes the cluster with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    end = time.monotonic() + 60 * arguments.minutes
    happened: Counter[str] = Counter()
    seed = arguments.seed
    while time.monotonic() < end:
        history = History(seed=seed, folder=new_folder(arguments.folder / str(seed)))
        say(f"seed {seed}, {history.draw}: {', '.join(history.troubles or ())}")
        try:
            wrong = [*history.wrong()]
        except DriverError as error:
            wrong = [str(error)]
        happened += history.happened
        say(f"seed {seed}: {counts(+history.happened)}: {'; '.join(wrong) or 'right'}")
        if wrong:
            return 1
        shutil.rmtree(history.folder)
        seed += 1
    say(f"in {seed - arguments.seed} histories: {counts(+happened)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
