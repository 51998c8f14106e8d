"""What several commands have in common."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

from checkpoint.checkpoints import GOLDEN
from checkpoint.commands.running import document, rows, sentence


def test_a_number_that_is_none_is_named(path: Path) -> None:
    assert "'many' is not a valid whole number." in (
        sentence("repartition", path, "--partitions", "many", code=2)
    )


@pytest.mark.parametrize("command", ["inspect", "show", "verify", "diff"])
def test_bad_input_is_one_sentence(command: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "missing", tmp_path / "folder", "ftps://x/y", "memory://nothing"):
        text = sentence(command, place)
        assert len(text.splitlines()) == 1
        assert text.startswith("Error: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "x", "--format", "xml"],
        ["show", "x", "--format", "parquet"],
        ["show", "x", "--join-side", "left", "--store-name", "s"],
        ["show", "x", "--state-var-name", "a", "--key-schema", "a int", "--value-schema", "a int"],
        ["show", "x", "--batch-id", "-1"],
        ["show", "x", "--key", "k"],
        ["inspect", "x", "--storage-option", "y"],
        ["diff", "x", "--from-batch", "first"],
    ],
)
def test_wrong_usage_has_exit_code_2(arguments: list[str]) -> None:
    assert "Error: " in sentence(*arguments, code=2)


def test_urls_are_read_as_paths_are(path: Path) -> None:
    fs = fsspec.filesystem("memory")
    fs.put(str(path), "/url", recursive=True)
    assert len(rows("memory://url")) == 3
    assert document("inspect", "memory://url")["path"] == "memory:///url"
    assert document("verify", "memory://url")["sound"]
    assert document("diff", "memory://url")["added"] == 1
    assert document("diff", "memory://url", path)["added"] == 0
    fs.pipe_file("/url/state/0/0/2.snapshot", b"x")
    assert document("repair", "memory://url", "--settled", "0", "--apply")["applied"]
    assert len(rows("memory://url", "--batch-id", "1")) == 2
    copied = document("savepoint", "memory://url", "memory://copy", "--batch-id", "1")
    assert copied["path"] == "memory:///copy"
    assert document("migrate", "memory://copy", "--to", "holdfast", "--settled", "0", "--apply")[
        "applied"
    ]
    assert rows("memory://copy") == rows(path, "--batch-id", "1")
    fs.rm("/url", recursive=True)
    fs.rm("/copy", recursive=True)


@pytest.mark.parametrize("command", ["show", "diff"])
def test_state_of_rocksdb_comes_with_the_advice_to_convert_it(command: str) -> None:
    folder = GOLDEN / "spark-4.3" / "rocksdb"
    migrate = "or switch the stopped query with holdfast migrate --to holdfast first"
    for name in ("sums", "column_families"):
        assert migrate in sentence(command, folder / name / "checkpoint")
