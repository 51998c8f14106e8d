"""What the tests of `verify` begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkpoint.whole import whole


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return whole(tmp_path / "checkpoint")
