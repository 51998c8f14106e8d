"""Checkpoints, and the commands that change them."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checkpoint.checkpoints import AT_ONCE, GOLDEN, counts, lz4, records, row
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31)],
    "4.delta": [row(5, 50)],
}

Command = Callable[[Checkpoint], object]


def damaged(folder: Path) -> Path:
    """A checkpoint with a snapshot to rebuild and a tail to give up."""
    counts(folder, VERSIONS, batches=4)
    for name in ("2.snapshot", "3.delta"):
        (folder / "state/0/0" / name).write_bytes(lz4(records([row(1, 1)]))[:30])
    for name in ("state/0/0/.3.delta.crc", "commits/.3.crc", "offsets/.3.crc", "offsets/.1.crc"):
        (folder / name).write_bytes(b"crc\0")
    return folder


def joined(folder: Path) -> Path:
    """A checkpoint that Spark made of a join, with four stores."""
    shutil.copytree(GOLDEN / "spark-4.3" / "join" / "checkpoint", folder)
    (folder / "offsets/.3.crc").write_bytes(b"crc\0")
    return folder


def with_ids(folder: Path) -> Path:
    """A checkpoint that Holdfast made in checkpoint format 2."""
    shutil.copytree(GOLDEN / "spark-4.3" / "ids" / "checkpoint", folder)
    (folder / "commits/.3.crc").write_bytes(b"crc\0")
    return folder


def sound(folder: Path) -> Path:
    counts(folder, VERSIONS, batches=4)
    (folder / "offsets/.3.crc").write_bytes(b"crc\0")
    return folder


COMMANDS: dict[str, tuple[Callable[[Path], Path], Command]] = {
    "repartition": (sound, lambda found: repartition(found, 3, apply=True, settled=AT_ONCE)),
    "repartition of a join": (
        joined,
        lambda found: repartition(found, 3, apply=True, settled=AT_ONCE),
    ),
    "repair": (damaged, lambda found: repair(found, drop_tail=True, apply=True, settled=AT_ONCE)),
    "repartition with ids": (
        with_ids,
        lambda found: repartition(found, 3, apply=True, settled=AT_ONCE),
    ),
    "migrate": (sound, lambda found: migrate(found, "holdfast", apply=True, settled=AT_ONCE)),
    "migrate with ids": (
        with_ids,
        lambda found: migrate(found, "hdfs", apply=True, settled=AT_ONCE),
    ),
}
each_command = pytest.mark.parametrize("name", COMMANDS)
# A conversion begins with a local folder.
each_command_in_place = pytest.mark.parametrize(
    "name", sorted(COMMANDS.keys() - {"migrate with ids"})
)
# These have many files that all go the same way: of them, not each is made to fail.
STRIDES = {"repartition of a join": 7, "repartition with ids": 3, "migrate with ids": 3}


def numbers(name: str) -> Iterator[int]:
    """Yield the changes of files that are made to fail, by their number."""
    return itertools.count(1, STRIDES.get(name, 1))


def without_ids(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files with new ids and times of batches alike, which differ from change to change."""
    differing = rb"[0-9a-f]{32}-none|\"batchTimestampMs\":\d+"
    return {
        re.sub(differing.decode(), "", name): re.sub(differing, b"", content)
        for name, content in files.items()
    }
