"""Where tests put their files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from devtools.test_files import make_folder, variables
from devtools.workshop import Workshop
from harness import ROOT

MOST = 2**62


@pytest.fixture(autouse=True)
def _no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)


def test_every_checkout_has_an_empty_folder_in_memory(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    one, other = (make_folder(tmp_path / name, memory, room=0) for name in ("one", "other"))
    assert one
    assert other
    assert one != other
    (one / "left").write_text("by tests that were killed")
    assert make_folder(tmp_path / "one", memory, room=0) == one
    assert set(memory.rglob("*")) == {one, other}
    assert one.stat().st_mode & 0o777 == 0o700


def test_tests_use_the_disk_where_memory_has_no_room(tmp_path: Path) -> None:
    assert make_folder(tmp_path, tmp_path, room=MOST) is None
    assert make_folder(tmp_path, tmp_path / "missing", room=0) is None
    assert list(tmp_path.iterdir()) == []
    assert variables(None) == {}


def test_a_developer_chooses_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert make_folder(tmp_path, tmp_path, room=0) is None


def test_the_folder_goes_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, root = tmp_path / "folder", tmp_path / "root"
    shutil.copytree(ROOT / "project", root / "project", ignore=shutil.ignore_patterns("*target*"))
    monkeypatch.setattr("devtools.test_files.make_folder", lambda _: folder)
    with Workshop.open(root) as workshop:
        assert workshop.test_files == folder
        folder.mkdir()
        (folder / "file").touch()
    assert not folder.exists()
