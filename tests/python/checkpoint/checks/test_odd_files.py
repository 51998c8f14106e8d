"""Links inside a checkpoint, files where folders are expected, and paths that look like URLs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from checkpoint.checks.harm import invoke, verified
from checkpoint.whole import whole
from holdfast_spark.checkpoint.changes.rights import require_writable
from holdfast_spark.checkpoint.errors import UnreadablePathError
from holdfast_spark.checkpoint.files.location import Location

AT_ONCE = ("--apply", "--settled", "0")


def linked(folder: Path) -> None:
    """Put a folder elsewhere in its checkpoint, and a link to it in its place."""
    elsewhere = folder.with_name(f"{folder.name}-elsewhere")
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere.name)


@pytest.mark.parametrize("name", ["state/0/1", "state/0", "sources", "state/0/_metadata"])
def test_a_link_to_a_folder_of_the_checkpoint_is_followed(path: Path, name: str) -> None:
    before = verified(path)
    linked(path / name)
    found = verified(path)
    assert (found.goes_on, found.records) == (before.goes_on, before.records)
    assert invoke("repair", path).exit_code == 0
    assert invoke("migrate", path, "--to", "holdfast", *AT_ONCE).exit_code == 0
    assert verified(path).goes_on


@pytest.mark.parametrize(
    "name", ["state/0/1", "state/0", "state/0/_metadata", "state/0/0/_metadata"]
)
def test_no_change_of_state_is_made_through_a_link(path: Path, name: str) -> None:
    linked(path / name)
    for command in (["repartition", "--partitions", "3"], ["repair", "--drop-tail"]):
        if "repair" in command:
            (path / "state/0/0/5.delta").write_bytes(b"damaged")
        done = invoke(command[0], path, *command[1:], *AT_ONCE)
        assert done.exit_code == 1
        assert "is a link to a folder. Put the folder in the place of the link." in done.output
        assert not (path / "holdfast-backup").exists()


def test_a_link_in_a_circle_is_not_followed(path: Path) -> None:
    (path / "state/0/circle").symlink_to("..")
    (path / "state/0/1/itself").symlink_to("itself")
    assert verified(path).goes_on


def test_a_link_out_of_the_checkpoint_is_not_looked_into(path: Path, tmp_path: Path) -> None:
    outside = whole(tmp_path / "outside")
    shutil.rmtree(path / "state/0/1")
    (path / "state/0/1").symlink_to(outside / "state/0/1")
    found = verified(path)
    assert not found.goes_on
    assert found.records < verified(outside).records


def test_what_stands_in_the_place_of_a_folder_is_undone_with_a_change(path: Path) -> None:
    shutil.rmtree(path / "state/0/1")
    (path / "state/0/1").write_text("a file")
    done = invoke("repair", path, "--drop-tail", *AT_ONCE)
    assert done.exit_code == 1
    assert "Undoing what was done failed" not in done.output
    again = invoke("repair", path, "--apply", "--settled", "0")
    assert "cut off" not in again.output
    assert (path / "state/0/1").read_text() == "a file"


def test_a_link_to_itself_is_moved_as_any_file(path: Path) -> None:
    delta = path / "state/0/1/5.delta"
    delta.unlink()
    delta.symlink_to(delta.name)
    done = invoke("repair", path, "--drop-tail", *AT_ONCE)
    assert done.exit_code == 0, done.output
    assert not os.path.lexists(delta)
    assert verified(path).goes_on


def test_a_path_with_two_colons_is_that_path(tmp_path: Path) -> None:
    one, other = whole(tmp_path / "a"), whole(tmp_path / "a::b")
    before = (one / "offsets/4").read_bytes()
    assert Location.of(str(other)).path == str(other)
    assert invoke("migrate", other, "--to", "holdfast", *AT_ONCE).exit_code == 0
    assert (one / "offsets/4").read_bytes() == before
    assert (other / "offsets/5").exists()
    assert not (one / "offsets/5").exists()


@pytest.mark.parametrize("url", ["dir:///nowhere"])
def test_a_url_that_is_none_is_a_sentence(url: str) -> None:
    said = invoke("inspect", Path(url))
    assert said.exit_code == 1
    assert "--verbose" not in said.output


@pytest.mark.parametrize("name", ["metadata", "offsets/4", "page.html"])
def test_what_is_shown_is_not_written_into_the_checkpoint(path: Path, name: str) -> None:
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    for command in (["report"], ["show", "--format", "json"]):
        said = invoke(command[0], path, *command[1:], "-o", str(path / name))
        assert said.exit_code == 2
        assert "is in the checkpoint" in said.output
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


def test_a_page_does_not_take_the_place_of_a_pipe(path: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = invoke("report", path, "-o", str(pipe))
    assert said.exit_code == 1
    assert "it is a pipe or a device" in said.output
    assert pipe.is_fifo()


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e20", "1e300"])
def test_a_time_to_settle_is_some_seconds(path: Path, seconds: str) -> None:
    said = invoke("migrate", path, "--to", "holdfast", "--settled", seconds)
    assert said.exit_code == 2
    assert "--settled" in said.output


def test_files_that_another_user_alone_may_move_are_found_before_a_change(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = path / "state/0/1"
    folder.chmod(0o1777)
    require_writable(Location.of(str(path)), ["state"])
    monkeypatch.setattr("os.geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(UnreadablePathError, match="has the sticky bit"):
        require_writable(Location.of(str(path)), ["state"])
