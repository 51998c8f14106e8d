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
from objectstores.history import ABORTABLE, MANAGER, PROVIDER, SPARKS, History
from objectstores.judge import wrong_output, wrong_state
from objectstores.server import serve

_COUNTED_BATCHES = 24
# So that some maintenance is among them, with snapshots and deletions.
_COUNTED = {
    "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
    "spark.sql.streaming.minBatchesToRetain": "10",
}
_RETAINED = 10


def judge(history: History, options: dict[str, object]) -> list[str]:
    """Return what is wrong after a history, a sentence each."""
    checkpoint = Checkpoint.open(f"s3://{history.checkpoint}", storage_options=options)
    wrong = [*wrong_output(history.folder / "output", history.batches)]
    wrong += wrong_state(checkpoint, history.batches, retained=history.retained)
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


def count(arguments: argparse.Namespace, store: FaultyStore, options: dict[str, object]) -> int:
    """Print the requests of an undisturbed query for each batch, beside Spark's provider."""
    for manager in (None, ABORTABLE):
        for provider in (None, SPARKS):
            name = f"count-{'abortable' if manager else 'renaming'}-{provider is not None}"
            history = History(
                *(), seed=1, folder=new_folder(arguments.folder / name), batches=_COUNTED_BATCHES,
                kills=0, rate=0.0,
            )  # fmt: skip
            history.conf = {**_COUNTED, **({MANAGER: manager} if manager else {})}
            if provider:
                history.conf[PROVIDER] = provider
            history.retained = _RETAINED
            history.run(store, os.environ, arguments.jars)
            wrong = judge(history, options)
            counted = {"all": store.faults.requests, "state": store.faults.of_state}
            each = "; ".join(f"{what}: {_rate(n, history.batches)}" for what, n in counted.items())
            say(f"{name}: requests a batch: {each}: {'; '.join(wrong) or 'right'}")
            if wrong:
                return 1
    return 0


def _rate(counted: Counter[str], batches: int) -> str:
    each = ", ".join(f"{method} {n / batches:.1f}" for method, n in sorted(counted.items()))
    return f"{counted.total() / batches:.1f} ({each})"


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
    return (count if arguments.count else search)(arguments, store, options)


if __name__ == "__main__":
    raise SystemExit(main())
