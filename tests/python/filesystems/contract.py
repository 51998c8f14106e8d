"""What a checkpoint asks of a file system and a file manager: the same cases for each.

`Place` says in what they differ.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from filesystems import places
from filesystems.jvm import Jvm
from filesystems.places import Files, Place, raised

_LARGE = b"0123456789abcdef" * 80_000  # more than a block and a buffer
_SPARK_CHECKSUMS = "ChecksumCheckpointFileManager"


def test_a_file_is_there_with_its_close_and_not_before(files: Files) -> None:
    out = files.begin("1.delta", _LARGE)
    assert files.names() == []
    assert not files.exists("1.delta")
    out.close()
    assert files.names() == ["1.delta"]
    assert files.exists("1.delta")
    assert files.read("1.delta") == _LARGE
    out.close()
    assert files.read("1.delta") == _LARGE


def test_what_is_cancelled_leaves_nothing(files: Files) -> None:
    files.begin("1.delta", _LARGE).cancel()
    assert files.all_names() == []
    files.write("2.delta", b"old")
    before = files.all_names()
    out = files.begin("2.delta", b"new")
    out.cancel()
    out.close()
    assert files.read("2.delta") == b"old"
    assert files.all_names() == before


def test_another_attempt_replaces_a_file_where_it_may(files: Files) -> None:
    files.write("1.delta", b"first" * 1000)
    files.write("1.delta", b"second")
    assert files.read("1.delta") == b"second"
    assert files.names() == ["1.delta"]


def test_another_attempt_is_refused_where_it_may_not(files: Files) -> None:
    files.write("0", b"first", overwrite=False)
    with pytest.raises(Py4JJavaError) as error:
        files.write("0", b"second", overwrite=False)
    assert "FileAlreadyExistsException" in raised(error.value)
    assert files.read("0") == b"first"
    assert any("tmp" in name for name in files.all_names()) == files.place.leaves_refused


def test_of_two_that_create_a_file_at_once_the_second_is_refused(files: Files) -> None:
    first, second = (files.begin("0", text, overwrite=False) for text in (b"first", b"second"))
    first.close()
    if files.place.says_refused:
        with pytest.raises(Py4JJavaError) as error:
            second.close()
        assert "FileAlreadyExistsException" in raised(error.value)
    else:
        second.close()  # Spark's manager for object stores only logs what fails then
    assert files.read("0") == b"first"


def test_of_two_that_replace_a_file_at_once_the_last_one_counts(files: Files) -> None:
    first, second = (files.begin("1.delta", text) for text in (b"first", b"second"))
    second.close()
    first.close()
    assert files.read("1.delta") == b"first"
    assert files.names() == ["1.delta"]


def test_a_listing_knows_what_was_just_written_and_deleted(files: Files) -> None:
    for version in range(1, 6):
        files.write(f"{version}.delta", b"")
    files.write("5.snapshot", b"rows")
    files.delete("1.delta")
    files.delete("1.delta")
    expected = ["2.delta", "3.delta", "4.delta", "5.delta", "5.snapshot"]
    assert files.names() == expected
    assert not files.exists("1.delta")
    with pytest.raises(Py4JJavaError, match="FileNotFoundException"):
        files.read("1.delta")


def test_who_reads_a_file_that_is_replaced_sees_old_bytes_or_an_error(files: Files) -> None:
    files.write("1.delta", _LARGE)
    stream = files.manager.open(files.path("1.delta"))
    begin = bytes(stream.readNBytes(1000))
    files.write("1.delta", b"new" * 400_000)
    try:
        rest = bytes(stream.readAllBytes())
        assert begin + rest == _LARGE
    except Py4JJavaError:
        assert not files.place.goes_on_reading
    finally:
        stream.close()
    assert files.read("1.delta") == b"new" * 400_000


def test_a_writer_that_dies_leaves_no_file_and_is_in_nobodys_way(
    new_client: Callable[[], Jvm], files: Files, place: Place
) -> None:
    files.write("1.delta", b"old")
    before = files.all_names()
    dying = new_client()
    folder = files.folder.removeprefix(f"{place.root}/")
    out = Files(dying, place, folder).begin("1.delta", _LARGE)
    Files(dying, place, folder).begin("2.delta", _LARGE)
    out.flush()
    dying.kill()
    assert files.names() == ["1.delta"]
    assert files.read("1.delta") == b"old"
    assert (len(files.all_names()) > len(before)) == place.leaves
    files.write("1.delta", b"new")
    files.write("2.delta", b"newer", overwrite=False)
    assert (files.read("1.delta"), files.read("2.delta")) == (b"new", b"newer")


def test_sparks_checksums_are_kept_and_tell_of_other_bytes(client: Jvm, files: Files) -> None:
    sparks = client.classes.org.apache.spark.sql.execution.streaming.checkpointing
    plain = files.manager
    files.manager = getattr(sparks, _SPARK_CHECKSUMS)(plain, True, 2, False)
    files.write("1.delta", _LARGE)
    files.write("1.delta", _LARGE[::-1])
    assert files.read("1.delta") == _LARGE[::-1]
    assert files.names() == ["1.delta", "1.delta.crc"]
    files.manager, checked = plain, files.manager
    files.write("1.delta", _LARGE)
    files.manager = checked
    with pytest.raises(Py4JJavaError) as error:
        files.read("1.delta")
    assert "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED" in raised(error.value)
    files.delete("1.delta")
    assert files.names() == []
    files.begin("2.delta", _LARGE).cancel()
    assert files.all_names() == []


@pytest.mark.parametrize("manager", [0, 1], ids=["default", "other"])
def test_a_local_disk_that_takes_no_more_fails_the_write_and_keeps_what_is_there(
    client: Jvm, tmp_path: Path, manager: int
) -> None:
    """A limit of the size of files is what a test can set without a disk of its own."""
    files = Files(client, places.local(str(tmp_path))[manager], "full")
    files.write("1.delta", b"old")
    limits = resource.prlimit(client.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(client.pid, resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(Py4JJavaError) as error:
            files.write("1.delta", _LARGE)
        assert "File too large" in raised(error.value)
    finally:
        resource.prlimit(client.pid, resource.RLIMIT_FSIZE, limits)
    assert files.read("1.delta") == b"old"
    assert files.names() == ["1.delta"]
    files.write("1.delta", _LARGE)
    assert files.read("1.delta") == _LARGE
