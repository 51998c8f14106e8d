"""Files of stores with column families whose checksums are right and whose content is not."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from checkpoint.budget import drawn
from checkpoint.checkpoints import lz4
from checkpoint.families.made import FAMILIES, blocks, content, header, transformed
from checkpoint.families.test_family_rows import FIRST
from checkpoint.test_fuzz import altered_lines, damaged
from holdfast_spark.checkpoint import Checkpoint, diff, read_rows
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.history import read_histories

METADATA = "state/0/_metadata/v2/0"


def require_sentences(path: Path) -> None:
    """Read a checkpoint in every way: that goes well, or ends in a sentence about it."""
    checkpoint = Checkpoint.open(path)
    for read in (
        lambda: verify_checkpoint(checkpoint),
        lambda: list(read_rows(checkpoint, column_family="seen")),
        lambda: list(read_rows(checkpoint, state_var_name="parts")),
        lambda: diff(checkpoint, from_batch=-1),
        lambda: read_histories(checkpoint),
    ):
        try:
            read()
        except CheckpointError as error:
            assert str(path) in str(error) or "the store 0/0" in str(error)  # noqa: PT017


@pytest.mark.fuzz
def test_whatever_content_is_drawn_is_read_or_refused() -> None:
    inner = content(FIRST, defined=FAMILIES)
    with tempfile.TemporaryDirectory() as folder:
        path = transformed(Path(folder) / "c", {}, batches=1)
        (path / "state/0/0").mkdir()

        @drawn(few=30, many=2_000)
        @given(damaged(inner))
        def read(broken: bytes) -> None:
            whole = header("D") + blocks(lz4(broken))
            (path / "state/0/0/1.delta").write_bytes(whole)
            require_sentences(path)

        read()


@pytest.mark.fuzz
def test_whatever_properties_are_drawn_are_read_or_refused() -> None:
    whole = header("D") + blocks(lz4(content(FIRST, defined=FAMILIES)))
    with tempfile.TemporaryDirectory() as folder:
        path = transformed(Path(folder) / "c", {"0/1.delta": whole}, batches=1)
        file = path / METADATA
        version, _, text = file.read_text().partition("\n")
        properties = text.partition('"operatorPropertiesJson": ')[2]

        @drawn(few=12, many=500)
        @given(altered_lines(text.encode()) | damaged(properties.encode()))
        def read(broken: bytes) -> None:
            file.write_bytes(version.encode() + b"\n" + broken)
            with contextlib.suppress(CheckpointError):
                Checkpoint.open(path).operator(0)
            require_sentences(path)

        read()
