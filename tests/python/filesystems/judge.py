"""Holds what a history has left in a cluster against what it should have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from filesystems.cluster import Cluster
from filesystems.history import History
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from objectstores.judge import newest_files, wrong_output, wrong_state, wrong_versions
from objectstores.windows import Counts


def judge(history: History, cluster: Cluster) -> Iterator[str]:
    """Yield what is wrong after a history, a sentence each.

    Every retained version is read by the provider, from HDFS, and by Python from a copy.
    """
    output = history.folder / "output"
    yield from wrong_output(output, history.files)
    newest = newest_files(output)
    fetched = history.folder / "checkpoint"
    cluster.fetch(history.checkpoint, fetched)
    yield from wrong_state(Checkpoint.open(fetched), newest, retained=history.retained)

    def read(batch: int) -> Counts:
        return _rows(history.folder / "states" / f"{batch}.json")

    yield from wrong_versions(read, newest, retained=history.retained)


def _rows(file: Path) -> Counts:
    if not file.exists():
        raise CheckpointError("The provider has not read it.")
    return {(second, word): times for second, word, times in json.loads(file.read_text())}
