"""Places in file systems."""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from zipfile import BadZipFile

import pytest
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.faults import KilledError
from holdfast_spark.checkpoint.errors import (
    ForbiddenPathError,
    UnansweredError,
    UnreadablePathError,
)
from holdfast_spark.checkpoint.files import file_systems
from holdfast_spark.checkpoint.files.abilities import renames
from holdfast_spark.checkpoint.files.location import Location


class RefusedError(Exception):
    """What a library of an object store raises, which is no `OSError`."""


class RefusingFileSystem(MemoryFileSystem):  # type: ignore[misc] # fsspec has no types
    """A file system that answers no question."""

    error: BaseException = RefusedError("Unable to locate credentials.")

    def info(self, *_: object, **__: object) -> NoReturn:
        raise self.error

    def ls(self, *_: object, **__: object) -> NoReturn:
        raise self.error

    def find(self, *_: object, **__: object) -> NoReturn:
        raise self.error


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("s3://bucket/x", "s3:// needs what is not installed; run pip install s3fs."),
        ("s3a://bucket/x", "run pip install s3fs."),
        ("gs://bucket/x", "run pip install gcsfs."),
        ("abfss://c@account.dfs.core.windows.net/x", "run pip install adlfs."),
        ("wasbs://c@account/x", "no file system is known for wasbs://; write abfss:// instead."),
        (
            "nowhere://x",
            "known are abfs://, abfss://, az://, dbfs://, file://, gcs://, gs://, hdfs",
        ),
        ("dbfs:/x/y", "on Databricks give /dbfs/x/y."),
        ("s3:/bucket/x", "a URL has two slashes behind the colon; give s3://bucket/x."),
        ("data:text/plain,x", "a data: URL is a file by itself, and a checkpoint is a folder."),
        # What Python makes of a name in Latin-1.
        ("caf\udce9", "the name is no UTF-8, and Java, and Spark with it, cannot open it; rename"),
    ],
)
def test_a_url_that_cannot_be_opened_is_told_with_what_to_do(url: str, reason: str) -> None:
    with pytest.raises(UnreadablePathError) as raised:
        Location.of(url)
    assert str(raised.value).startswith(f"Cannot open {url}: ")
    assert reason in str(raised.value)


def test_a_package_that_is_there_and_broken_is_not_to_be_installed() -> None:
    error = ImportError("Install s3fs to access S3")
    error.__cause__ = ImportError("cannot import name 'x' from 'y'")
    found = file_systems.missing_file_system("s3://bucket/x", error)
    assert found == "s3:// needs s3fs, which cannot be imported (cannot import name 'x' from 'y')"


def test_hdfs_without_its_libraries_is_told_with_what_to_set() -> None:
    found = file_systems.missing_file_system("hdfs://host/x", OSError("Unable to load libjvm"))
    for part in ("JAVA_HOME", "HADOOP_HOME", "CLASSPATH", "webhdfs://", "Unable to load libjvm"):
        assert part in found


def test_a_path_may_be_an_object_a_hadoop_url_or_a_folder_with_a_colon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(Location.of(tmp_path)) == str(tmp_path)
    assert str(Location.of(f"file:{tmp_path}")) == str(tmp_path)
    (tmp_path / "odd:").mkdir()
    assert str(Location.of("odd:/x")) == str(tmp_path / "odd:" / "x")


ASK: list[Callable[[Location], object]] = [
    *(Location.exists, Location.is_there, Location.is_file),
    *(Location.names, Location.files),
]


@pytest.mark.parametrize("ask", ASK)
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RefusedError("Unable to locate credentials."), "Unable to locate credentials"),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset"), "Connection reset"),
        (OSError(errno.EINVAL, "Bad Request"), "Bad Request"),
        (RuntimeError("StandbyException"), "StandbyException"),
        (ValueError("Bad Request: invalid grant"), "Bad Request: invalid grant"),
    ],
)
def test_what_a_file_system_does_not_answer_is_no_answer(
    ask: Callable[[Location], object],
    error: Exception,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RefusingFileSystem, "error", error)
    with pytest.raises(UnansweredError) as raised:
        ask(Location(RefusingFileSystem(skip_instance_cache=True), "/x"))
    assert re.fullmatch(
        rf"Cannot (look for|list) memory:///x: {reason}\. That need be no damage: see to it that "
        r"the file system answers, and try again\.",
        str(raised.value),
    )


@pytest.mark.parametrize("ask", ASK)
def test_who_interrupts_a_question_gets_no_answer(
    ask: Callable[[Location], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> NoReturn:
        raise KilledError

    monkeypatch.setattr(RefusingFileSystem, "error", KilledError())
    far = Location(RefusingFileSystem(skip_instance_cache=True), "/x")
    for place in (far, Location(LocalFileSystem(), str(tmp_path))):
        with monkeypatch.context() as patch:
            for owner, name in ((Path, "stat"), (Path, "iterdir"), (os, "scandir")):
                patch.setattr(owner, name, interrupt)
            with pytest.raises(KilledError):
                ask(place)


@pytest.mark.parametrize("ask", ASK)
def test_that_an_archive_is_none_is_an_answer(
    ask: Callable[[Location], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RefusingFileSystem, "error", BadZipFile("File is not a zip file"))
    with pytest.raises(UnreadablePathError, match=r"memory:///x: File is not a zip file\.$"):
        ask(Location(RefusingFileSystem(skip_instance_cache=True), "/x"))


def test_so_is_that_another_machine_has_removed_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stale(io.BytesIO):
        def read(self, _: int | None = -1) -> NoReturn:
            raise OSError(errno.ESTALE, "Stale file handle")

    (tmp_path / "file").touch()
    monkeypatch.setattr(LocalFileSystem, "open", lambda *_, **__: Stale())
    with pytest.raises(UnreadablePathError, match=r"Stale file handle\.$"):
        Location.of(tmp_path / "file").read_bytes()


def test_what_a_disk_cannot_read_may_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "file").touch()
    monkeypatch.setattr(LocalFileSystem, "open", fail)
    with pytest.raises(UnansweredError) as raised:
        Location.of(tmp_path / "file").open()
    assert str(raised.value) == (
        f"Cannot read {tmp_path}/file: Input/output error. That need be no damage: see to it that "
        "the file system answers, and try again. If it has lost the file for good, move that away."
    )


def test_of_a_link_only_what_is_known_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, target in (("dead", "nowhere"), ("round", "round"), ("kept", "from-others")):
        (tmp_path / name).symlink_to(target)
    for name, reason in (("dead", "it is a link that leads nowhere"), ("round", "Too many levels")):
        with pytest.raises(UnreadablePathError, match=reason):
            Location.of(tmp_path / name).open()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(LocalFileSystem, "open", refuse)
    with pytest.raises(ForbiddenPathError, match="Permission denied"):
        Location.of(tmp_path / "kept").open()


@pytest.mark.parametrize(
    ("doing", "change"),
    [
        ("write", lambda place: place.create(b"content")),
        ("make", lambda place: place.make_folder()),
        ("remove", lambda place: place.remove()),
    ],
)
def test_who_may_not_change_a_path_is_told_who_may(
    doing: str,
    change: Callable[[Location], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Location.of(tmp_path / "place")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(LocalFileSystem, "makedirs", refuse)
    monkeypatch.setattr(LocalFileSystem, "rm_file", refuse)
    with pytest.raises(UnreadablePathError) as raised:
        change(place)
    assert str(raised.value) == (
        f"Cannot {doing} {place}: Permission denied. Run this as a user who may."
    )


@pytest.fixture
def jobs() -> Iterator[MemoryFileSystem]:
    """A store of objects with two checkpoints, the name of one of which is a pattern of both."""
    fs = MemoryFileSystem()
    for name in ("cp[1]", "cp1"):
        for file in ("a", "folder/b", "folder/c/d"):
            fs.pipe_file(f"/jobs/{name}/{file}", name.encode())
    yield fs
    fs.rm("/jobs", recursive=True)


def test_a_name_with_marks_of_patterns_is_that_of_one_place(jobs: MemoryFileSystem) -> None:
    place = Location.of("memory://jobs/cp[1]")
    (place / "a").move(place / "moved/a")
    assert (place / "moved/a").read_bytes() == b"cp[1]"
    (place / "folder").remove_tree()
    (place / "moved/a").remove_tree()
    assert place.files() == []
    assert sorted(jobs.find("/jobs")) == [
        f"/jobs/cp1/{name}" for name in ("a", "folder/b", "folder/c/d")
    ]


class KeepingFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """One that lists a folder once, as those of Google and Azure do until they are told."""

    kept: ClassVar[dict[str, list[dict[str, object]]]] = {}

    def ls(self, path: str, detail: bool = True, **_: object) -> list[Any]:
        if path not in self.kept:
            self.kept[path] = super().ls(path, detail=True)
        return [each if detail else each["name"] for each in self.kept[path]]

    def invalidate_cache(self, path: str | None = None) -> None:
        if path is None:
            self.kept.clear()
        else:
            self.kept.pop(path, None)


def test_files_that_others_have_written_meanwhile_are_listed() -> None:
    fs = KeepingFileSystem()
    fs.pipe_file("/kept/state/0/1", b"")
    place = Location(fs, "/kept")
    assert [entry.path for entry in place.files()] == ["/kept/state/0/1"]
    fs.store["/kept/state/0/2"] = fs.store["/kept/state/0/1"]
    assert [entry.path for entry in place.files()] == ["/kept/state/0/1", "/kept/state/0/2"]
    assert sorted((place / "state/0").names()) == ["1", "2"]
    fs.rm("/kept", recursive=True)


def test_a_file_that_goes_while_its_folder_is_listed_takes_no_other_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("1.delta", "2.delta", ".3.delta.tmp"):
        (tmp_path / name).write_bytes(b"content")
    (tmp_path / "dead").symlink_to("nowhere")
    (tmp_path / "link").symlink_to("1.delta")
    scandir = os.scandir

    class Going:
        """The entries of a folder, one of which a query removes before it is looked at."""

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            with scandir(tmp_path) as found:
                entries = list(found)
            (tmp_path / ".3.delta.tmp").unlink()
            return iter(entries)

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", lambda _: Going())
    listed = {entry.name: entry.size_bytes for entry in Location.of(tmp_path).files()}
    assert listed == {"1.delta": 7, "2.delta": 7, "dead": 0, "link": 7}
    monkeypatch.undo()
    (one,) = Location.of(tmp_path / "1.delta").files()
    assert (one.path, one.size_bytes) == (f"{tmp_path}/1.delta", 7)
    assert Location.of(tmp_path / "gone").files() == []


def test_a_path_is_taken_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "1.delta").write_bytes(b"")
    for written in (f"{tmp_path.parent}//{tmp_path.name}", f"{tmp_path}/."):
        place = Location.of(written).as_tree()
        (one,) = place.files()
        assert (one.path, place.at(one.path).read_bytes()) == (f"{written}/1.delta", b"")


class AsyncObjects(AsyncFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A store of objects as the packages for them are: what it does, it does by coroutines."""

    async def _find(self, path: str, **_: object) -> Any:  # noqa: ANN401
        if path == "c":
            return {"c/a": {"name": "c/a", "size": 1, "type": "file"}}
        return [path]  # as that for Azure says of a file

    async def _info(self, path: str, **_: object) -> dict[str, object]:
        return {"name": path, "size": 1, "type": "file"}


def test_stores_of_objects_list_all_below_a_folder_at_once() -> None:
    fs = AsyncObjects(skip_instance_cache=True)
    assert [entry.path for entry in Location(fs, "c").files()] == ["c/a"]
    assert [entry.size_bytes for entry in Location(fs, "c/a").files()] == [1]
    assert not renames(fs)


def test_a_local_folder_is_in_another_whatever_the_options(tmp_path: Path) -> None:
    checkpoint = Location.of(tmp_path, storage_options={"auto_mkdir": True})
    assert Location.of(tmp_path / "savepoint").is_in(checkpoint)
    assert not Location.of(tmp_path.parent / "savepoint").is_in(checkpoint)
