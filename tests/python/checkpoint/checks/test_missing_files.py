"""Which versions of a store there should be files of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from checkpoint.checkpoints import counts, offsets, row
from checkpoint.checks.harm import invoke, verified
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


FAR = 5_000_000


def test_a_lost_snapshot_is_one_sentence_and_one_file(tmp_path: Path) -> None:
    versions = range(FAR, FAR + 8)
    path = counts(
        tmp_path / "checkpoint",
        {f"{version}.delta": [row(1, version)] for version in versions}
        | {f"{FAR + 5}.snapshot": [row(1, FAR + 5)]},
        batches=0,
    )
    for batch in (FAR + 6, FAR + 7):
        for log, content in (("offsets", offsets(batch)), ("commits", b"v1\n{}")):
            (path / log).mkdir(exist_ok=True)
            (path / log / str(batch)).write_bytes(content)
    (path / "commits" / str(FAR + 7)).unlink()
    found = verified(path)
    assert found.goes_on
    assert len(found.broken) == 1_000
    result = invoke("verify", path)
    lines = [line for line in result.stdout.splitlines() if line.startswith("broken")]
    assert lines == [
        f"broken, but not needed: {path}/state/0/0 has no snapshot that the versions {FAR} to "
        f"{FAR + 4} can start from: expected one, or every delta before them, found neither; the "
        f"query goes on without them, but nobody can go back to batches {FAR - 1} to {FAR + 3}. "
        "Restore what is gone from a copy."
    ]
    assert "is damaged: 1 file is broken or gone, and the query needs none of them" in result.stderr
    (path / f"state/0/0/{FAR + 5}.snapshot").unlink()
    result = invoke("verify", path)
    assert (
        f"broken: {path}/state/0/0 has no snapshot that the versions {FAR} to {FAR + 7} can start "
        "from: expected one, or every delta before them, found neither; the state that batch "
        f"{FAR + 7} starts from needs them."
    ) in result.stdout
    assert "is damaged: 1 file is broken or gone, and the query needs it; 1 of 1 store lacks" in (
        result.stderr
    )


def test_deltas_that_are_gone_in_a_row_are_told_together(tmp_path: Path) -> None:
    path = counts(
        tmp_path / "checkpoint",
        {f"{version}.delta": [row(1, version)] for version in (1, 2, 6, 8)} | KEPT,
        batches=10,
    )
    shown = invoke("verify", path).stdout
    assert (
        f"broken, but not needed: {path}/state/0/0/3.delta to 5.delta are gone: expected what the "
        "batches 2 to 4 changed; the query goes on without them, but nobody can go back to batches "
        "2 to 4.\n"
    ) in shown.replace(" Restore what is gone from a copy.", "")
    assert f"{path}/state/0/0/7.delta is gone: expected what batch 6 changed; the query" in shown
    assert shown.count("broken, but not needed: ") == 2
