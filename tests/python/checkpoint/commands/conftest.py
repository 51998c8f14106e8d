"""A checkpoint for the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkpoint.checkpoints import counts, row

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=3)
