"""Places in file systems."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from fsspec.implementations.local import LocalFileSystem

from holdfast_spark.checkpoint.errors import ForbiddenPathError, UnreadablePathError
from holdfast_spark.checkpoint.files import file_systems
from holdfast_spark.checkpoint.files.location import Location


class RefusedError(Exception):
    """What a library of an object store raises, which is no `OSError`."""


class RefusingFileSystem(LocalFileSystem):  # type: ignore[misc] # fsspec has no types
    """A file system that has no credentials."""

    def exists(self, path: str, **_: object) -> bool:
        raise RefusedError(f"Unable to locate credentials for {path}.")


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


def test_what_the_library_of_a_file_system_raises_is_a_sentence() -> None:
    place = Location(RefusingFileSystem(skip_instance_cache=True), "/x")
    with pytest.raises(UnreadablePathError) as raised:
        place.exists()
    assert str(raised.value) == "Cannot look for /x: Unable to locate credentials for /x."


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
