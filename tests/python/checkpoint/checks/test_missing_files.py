"""Which versions of a store there should be files of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from checkpoint.checkpoints import counts, row
from checkpoint.checks.harm import verified
from holdfast_spark.checkpoint.checks.verified import Verification

KEPT = {
    "9.delta": [row(1, 9)],
    "9.snapshot": [row(1, 9), row(2, 20)],
    "10.delta": [row(1, 10)],
}


def found(folder: Path, left: Sequence[int]) -> Verification:
    """Verify a checkpoint that has deltas of these versions, and those from the ninth on."""
    versions = {f"{version}.delta": [row(1, version)] for version in left}
    return verified(counts(folder / "checkpoint", {**versions, **KEPT}, batches=10))


@pytest.mark.parametrize("left", [[], [6], [3, 6], [2, 4, 7]])
def test_deltas_whose_snapshots_cleanup_has_deleted_are_no_sign_of_a_loss(
    left: Sequence[int], tmp_path: Path
) -> None:
    assert found(tmp_path, left).sound


def test_deltas_in_a_row_are_no_sign_of_a_loss_where_every_version_has_a_snapshot(
    tmp_path: Path,
) -> None:
    files = {f"{version}.delta": [row(1, version)] for version in range(6, 11)}
    files |= {f"{version}.snapshot": [row(1, version)] for version in range(8, 11)}
    assert verified(counts(tmp_path / "checkpoint", files, batches=10)).sound


@pytest.mark.parametrize(
    ("left", "lost"),
    [
        ([5, 6], [1, 2, 3, 4, 7, 8]),
        ([8], [1, 2, 3, 4, 5, 6, 7]),
        ([1, 6], [2, 3, 4, 5, 7, 8]),
        ([3, 5, 6, 7, 8], [1, 2, 4]),
    ],
)
def test_deltas_that_no_cleanup_leaves_tell_of_those_that_are_gone(
    left: Sequence[int], lost: Sequence[int], tmp_path: Path
) -> None:
    verification = found(tmp_path, left)
    assert verification.goes_on
    names = [Path(broken.path).name for broken in verification.broken]
    assert names == [f"{version}.delta" for version in lost]
