"""Checkpoints in a store where each folder has an object of its own, as s3a leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import pytest

from checkpoint.checkpoints import AT_ONCE
from checkpoint.objects import ObjectStore
from checkpoint.whole import whole
from holdfast_spark.checkpoint import Checkpoint, inspect_checkpoint, read_rows
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.files.location import Location


class MarkedStore(ObjectStore):
    """Lists what stands for a folder as s3fs does: an empty file whose name ends with a slash."""

    protocol = "marked"

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:  # noqa: ANN401
        return super()._strip_protocol(path.removeprefix("marked://"))

    def find(self, path: str, detail: bool = False, **more: Any) -> Any:  # noqa: ANN401
        if not detail or more.get("withdirs"):  # as the base class asks itself
            return super().find(path, detail=detail, **more)
        found = super().find(path, detail=detail, **{**more, "withdirs": True})
        folders = {f"{self._strip_protocol(path)}/"}
        for name in [name for name, info in found.items() if info["type"] == "directory"]:
            folders.add(f"{name}/")
            del found[name]
        return {**found, **{name: {"name": name, "size": 0, "type": "file"} for name in folders}}

    def ls(self, path: str, detail: bool = True, **more: Any) -> Any:  # noqa: ANN401
        listed = super().ls(path, detail=detail, **more)
        return listed if detail else [*listed, f"{self._strip_protocol(path)}/"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    ObjectStore.upload(whole(tmp_path / "c"), "c")
    fsspec.register_implementation("marked", MarkedStore, clobber=True)
    return Checkpoint.open("marked://c")


def test_what_stands_for_a_folder_is_no_file(checkpoint: Checkpoint, tmp_path: Path) -> None:
    whole_files = [file for file in (tmp_path / "c").rglob("*") if file.is_file()]
    assert len(checkpoint.location.files()) == len(whole_files)
    assert sorted((checkpoint.location / "sources").names()) == ["0"]
    assert verify_checkpoint(checkpoint).sound
    assert inspect_checkpoint(checkpoint).odd == ()


def test_the_commands_go_on_with_it(checkpoint: Checkpoint, tmp_path: Path) -> None:
    rows = [piece.to_pylist() for piece in read_rows(checkpoint)]
    copy = Location.of(str(tmp_path / "copy"))
    make_savepoint(checkpoint, copy)
    assert [piece.to_pylist() for piece in read_rows(Checkpoint.open(str(copy)))] == rows
    assert migrate(checkpoint, "holdfast", apply=True, stopped=True, settled=AT_ONCE).applied
    changed = Checkpoint.open("marked://c")
    assert verify_checkpoint(changed).goes_on
    assert [piece.to_pylist() for piece in read_rows(changed)] == rows
