"""Looks for versions of the state that an object store makes a query lose: `./dev objects`.

    PYTHONPATH=tests/python python -m objectstores.search JARS FOLDER --minutes 30 --seed 1

Runs one history after the other in a store of objects on this machine. Exit code 0 means that each
ended with the right output, and that every version that had to be there held the right rows.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

from histories import counts, new_folder, say

from holdfast_spark.checkpoint import Checkpoint
from objectstores.faulty import FaultyStore
from objectstores.history import History
from objectstores.judge import newest_files, wrong_output, wrong_state
from objectstores.requests import makes_fewer
from objectstores.server import serve


def judge(history: History, options: dict[str, object]) -> list[str]:
    """Return what is wrong after a history, a sentence each."""
    checkpoint = Checkpoint.open(f"s3://{history.checkpoint}", storage_options=options)
    output = history.folder / "output"
    wrong = [*wrong_output(output, history.files)]
    wrong += wrong_state(checkpoint, newest_files(output), retained=history.retained)
    return wrong


def search(arguments: argparse.Namespace, store: FaultyStore, options: dict[str, object]) -> int:
    """Run histories until the time is over or one is wrong."""
    end = time.monotonic() + 60 * arguments.minutes
    happened: Counter[str] = Counter()
    seed = arguments.seed
    while time.monotonic() < end:
        history = History(seed=seed, folder=new_folder(arguments.folder / str(seed)))
        history.run(store, os.environ, arguments.jars)
        happened += history.happened
        wrong = judge(history, options)
        say(f"seed {seed}: {counts(history.happened)}: {'; '.join(wrong) or 'right'}")
        if wrong:
            return 1
        seed += 1
    say(f"happened in all: {counts(happened)}")
    return 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("jars", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", action="store_true")
    arguments = parser.parse_args()
    store, options = serve()
    if arguments.count:
        return 0 if makes_fewer(store, os.environ, arguments.jars, arguments.folder) else 1
    return search(arguments, store, options)


if __name__ == "__main__":
    raise SystemExit(main())
