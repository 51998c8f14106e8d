"""Names and links in a checkpoint lead nowhere else, whatever is done with it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from checkpoint.checkpoints import AT_ONCE
from checkpoint.hostile import CHEAP, COMMANDS, HIDDEN, edit, opened, run, victim
from checkpoint.objects import ObjectStore
from checkpoint.whole import whole
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.errors import CheckpointError, UnreadablePathError
from holdfast_spark.checkpoint.files.journals import JOURNAL, Journal, journal_text
from holdfast_spark.checkpoint.files.location import Location

Hostile = Callable[[Path, Path], object]
FILES = (
    *("offsets/4", "offsets/2", "commits/4", "metadata", "state/0/_metadata/metadata"),
    *("state/0/0/_metadata/schema", "state/0/0/5.delta", "state/0/1/3.snapshot", "sources/0/4"),
    *("state/0/0/.5.delta.crc", "state/0/0/5.delta.crc"),
)
FOLDERS = ("offsets", "commits", "state", "state/0", "state/0/0", "sources", "sources/0")


def linked(name: str) -> Hostile:
    def harm(path: Path, other: Path) -> None:
        (path / name).unlink(missing_ok=True)
        (path / name).symlink_to(other / "1.delta")

    return harm


def folder_linked(name: str) -> Hostile:
    def harm(path: Path, other: Path) -> None:
        shutil.rmtree(path / name)
        (path / name).symlink_to(other)

    return harm


def journal(tells: Journal, *, mark: str = "placing") -> Hostile:
    def harm(path: Path, other: Path) -> None:
        backup = path / "holdfast-backup" / "20260101T000000"
        backup.mkdir(parents=True)
        (backup / mark).touch()
        text = journal_text(tells).decode()
        (backup / JOURNAL).write_text(text.replace("VICTIM", os.path.relpath(other, path)))

    return harm


def store_named(path: Path, other: Path) -> None:
    name = os.path.relpath(other, path / "state/0/0")

    def change(metadata: dict[str, object]) -> None:
        stores = metadata["stateStoreInfo"]
        assert isinstance(stores, list)
        stores.append({**stores[0], "storeName": name})

    edit(path / "state/0/_metadata/metadata", change)


def schema_elsewhere(path: Path, other: Path) -> None:
    name = f"x/_stateSchema/{os.path.relpath(other, path / 'state/0/_stateSchema')}/schema"

    (path / "state/0/_stateSchema").mkdir()

    def change(metadata: dict[str, object]) -> None:
        stores = metadata["stateStoreInfo"]
        assert isinstance(stores, list)
        stores[0]["stateSchemaFilePaths"] = [name]

    edit(path / "state/0/_metadata/metadata", change)


HOSTILE: dict[str, Hostile] = {
    **{f"{name} is a link": linked(name) for name in FILES},
    **{f"the folder {name} is a link": folder_linked(name) for name in FOLDERS},
    "a journal brings a file": journal(Journal(comes=["VICTIM/0"])),
    "a journal brings one below state": journal(Journal(comes=["state/../VICTIM/0"])),
    "a journal takes a file": journal(Journal(leaves=["VICTIM/0"]), mark="decided"),
    "a journal replaces a file": journal(Journal(comes=[], replaces=["offsets/../VICTIM/0"])),
    "a journal has its fence elsewhere": journal(Journal(fence="VICTIM/0")),
    "a store is named for it": store_named,
    "the schema is said to be there": schema_elsewhere,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_command_opens_or_changes_what_is_outside(name: str, tmp_path: Path) -> None:
    other = victim(tmp_path / "somebody")
    before = {file.name: file.read_bytes() for file in other.iterdir()}
    # Plots take the most time, and nothing but the inspection and the history that others read.
    for command in COMMANDS if name == "a store is named for it" else CHEAP:
        path = whole(tmp_path / command)
        HOSTILE[name](path, other)
        with opened() as found:
            result = run(command, path, tmp_path / f"{command}-aside")
        assert HIDDEN not in result.output
        real = {os.path.realpath(each) for each in found}
        assert not [each for each in real if each.startswith(str(other))], command
        assert {file.name: file.read_bytes() for file in other.iterdir()} == before
        for file in (tmp_path / f"{command}-aside").rglob("*"):
            assert file.is_dir() or HIDDEN.encode() not in file.read_bytes(), file


def test_a_journal_that_names_what_is_outside_is_refused_by_name(tmp_path: Path) -> None:
    path, other = whole(tmp_path / "c"), victim(tmp_path / "somebody")
    journal(Journal(comes=["state/../../somebody/0"]))(path, other)
    with pytest.raises(
        CheckpointError, match=r"journal\.jsonl is damaged: expected paths of files"
    ):
        repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE)


def test_what_is_linked_inside_is_followed(tmp_path: Path) -> None:
    path = whole(tmp_path / "c")
    (path / "state/0/0/5.delta").rename(path / "state/0/0/kept")
    (path / "state/0/0/5.delta").symlink_to("kept")
    (tmp_path / "link").symlink_to(path)
    assert run("verify", tmp_path / "link", tmp_path / "aside").exit_code == 0


@pytest.mark.parametrize("name", FILES)
def test_no_command_waits_at_a_pipe(name: str, tmp_path: Path) -> None:
    for command in CHEAP:
        path = whole(tmp_path / command)
        (path / name).unlink(missing_ok=True)
        os.mkfifo(path / name)
        run(command, path, tmp_path / f"{command}-aside")


def test_objects_with_dots_in_their_names_are_not_copied_elsewhere(tmp_path: Path) -> None:
    whole(tmp_path / "c")
    url = ObjectStore.upload(tmp_path / "c", "c")
    ObjectStore().pipe_file("/c/sources/../../../outside", HIDDEN.encode())
    target = tmp_path / "deep/in/copy"
    with pytest.raises(UnreadablePathError, match="the name leads out of"):
        make_savepoint(Checkpoint.open(url), str(target))
    assert not (tmp_path / "deep/outside").exists()
    assert not (tmp_path / "deep/in/outside").exists()
    with pytest.raises(UnreadablePathError, match="the name leads out of"):
        (Location.of(url).as_tree() / "sources").download(target)
    assert not (tmp_path / "deep/outside").exists()


@pytest.mark.parametrize("name", ["../x", "a/../../x", "a/../b/x", "\0"])
def test_a_name_with_dots_is_none_in_any_file_system(name: str, tmp_path: Path) -> None:
    for root in (str(tmp_path), "memory://c"):
        place = Location.of(root).as_tree() / name
        for use in (place.exists, place.open, place.names, place.remove, place.make_folder):
            with pytest.raises(UnreadablePathError, match="the name leads out of"):
                use()
