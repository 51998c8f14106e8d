"""Every function that changes checkpoints, and a checkpoint for it to change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import counts, row
from holdfast_spark.checkpoint import Checkpoint, migrate, repair, repartition

CHANGES: dict[str, Callable[..., Any]] = {
    "migrate": lambda path, **more: migrate(Checkpoint.open(path), "holdfast", **more),
    "repartition": lambda path, **more: repartition(Checkpoint.open(path), 3, **more),
    "repair": lambda path, **more: repair(Checkpoint.open(path), drop_tail=True, **more),
}
each_change = pytest.mark.parametrize("name", CHANGES)


def changeable(folder: Path, name: str) -> Path:
    """A checkpoint that there is something to change in."""
    versions = {"1.delta": [row(1, 10)], "2.delta": [row(2, 2)]}
    path = counts(folder / "c", versions, batches=2)
    if name == "repair":
        (path / "state/0/0/2.delta").write_bytes(b"damage")
    return path


def contents(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
