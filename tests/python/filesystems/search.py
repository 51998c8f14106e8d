"""Looks for versions of the state that HDFS makes a query lose: `./dev filesystems`.

    PYTHONPATH=tests/python python -m filesystems.search JARS FOLDER --minutes 30 --seed 1

Runs one history after the other in a cluster on this machine. Exit code 0 means that each ended
with the right output, and that every version that had to be there held the right rows.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

from histories import counts, new_folder, say

from filesystems.cluster import Cluster
from filesystems.history import History
from filesystems.judge import judge


def search(arguments: argparse.Namespace, cluster: Cluster) -> int:
    """Run histories until the time is over or one is wrong."""
    end = time.monotonic() + 60 * arguments.minutes
    happened: Counter[str] = Counter()
    seed = arguments.seed
    while time.monotonic() < end:
        folder = arguments.folder / str(seed)
        folder.mkdir()
        history = History(seed=seed, folder=folder, sparks=arguments.sparks)
        history.run(cluster, os.environ)
        happened += history.happened
        wrong = list(judge(history, cluster))
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
    parser.add_argument("--sparks", action="store_true")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()  # the query has a working folder of its own
    new_folder(arguments.folder)
    cluster = Cluster(sorted(arguments.jars.glob("*.jar")), arguments.folder)
    try:
        return search(arguments, cluster)
    finally:
        cluster.close()


if __name__ == "__main__":
    raise SystemExit(main())
