"""What checkpoint files are when a part of HDFS is gone, full or closed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from py4j.protocol import Py4JJavaError

from filesystems.cluster import NODES, Cluster
from filesystems.places import Files, raised

_LARGE = b"0123456789abcdef" * 80_000


@pytest.fixture(autouse=True)
def whole_again(cluster: Cluster) -> Iterator[None]:
    yield
    cluster.start_nodes()


def test_a_file_is_written_and_read_while_data_nodes_stop(cluster: Cluster, hdfs: Files) -> None:
    hdfs.write("1.delta", _LARGE)
    out = hdfs.begin("2.delta", _LARGE)
    out.hflush()
    cluster.stop_node(0)
    out.write(_LARGE)
    out.close()
    assert hdfs.read("1.delta") == _LARGE
    assert hdfs.read("2.delta") == _LARGE * 2
    hdfs.write("1.delta", b"new")
    assert hdfs.read("1.delta") == b"new"


def test_without_any_data_node_nothing_appears_and_nothing_is_lost(
    cluster: Cluster, hdfs: Files
) -> None:
    hdfs.write("1.delta", b"old")
    for _ in range(NODES):
        cluster.stop_node(0)
    hdfs.conf.setInt("dfs.client.block.write.locateFollowingBlock.retries", 1)
    with pytest.raises(Py4JJavaError):
        hdfs.write("1.delta", b"new")
    cluster.start_nodes()
    assert hdfs.read("1.delta") == b"old"
    assert "1.delta" in hdfs.names()


def test_a_file_is_finished_by_whoever_began_it_after_the_name_node_has_restarted(
    cluster: Cluster, hdfs: Files
) -> None:
    hdfs.write("1.delta", b"old")
    out = hdfs.begin("1.delta", _LARGE)
    out.hflush()
    cluster.stop_name_node()
    cluster.start_name_node()
    cluster.wait()
    with contextlib.suppress(Py4JJavaError):
        hdfs.exists("1.delta")  # which may learn that its connection has ended
    assert hdfs.read("1.delta") == b"old"
    out.write(_LARGE)
    out.close()
    assert hdfs.read("1.delta") == _LARGE * 2


def test_in_safe_mode_files_are_read_and_none_is_changed(cluster: Cluster, hdfs: Files) -> None:
    hdfs.write("1.delta", b"old")
    begun = hdfs.begin("1.delta", b"new")
    cluster.set_safe_mode(on=True)
    try:
        for change in (
            lambda: hdfs.write("2.delta", b""),
            begun.close,
            lambda: hdfs.delete("1.delta"),
        ):
            with pytest.raises(Py4JJavaError) as error:
                change()
            assert "SafeModeException" in raised(error.value)
        assert hdfs.read("1.delta") == b"old"
    finally:
        cluster.set_safe_mode(on=False)
    hdfs.write("1.delta", b"newer")
    assert hdfs.read("1.delta") == b"newer"
    assert "2.delta" not in hdfs.names()


def test_above_a_quota_the_write_fails_and_what_was_there_stays(
    cluster: Cluster, hdfs: Files
) -> None:
    hdfs.write("1.delta", b"old")
    cluster.set_space(hdfs.path().toUri().getPath(), 1 << 20)
    with pytest.raises(Py4JJavaError) as error:
        hdfs.write("1.delta", _LARGE)
    assert "DSQuotaExceededException" in raised(error.value)
    assert hdfs.read("1.delta") == b"old"
    cluster.set_space(hdfs.path().toUri().getPath(), None)
    hdfs.write("1.delta", _LARGE)
    assert hdfs.read("1.delta") == _LARGE


def test_without_permission_nothing_changes_and_what_is_readable_is_read(
    cluster: Cluster, hdfs: Files
) -> None:
    hdfs.write("1.delta", b"old")
    begun = hdfs.begin("1.delta", b"new")
    folder = hdfs.path().toUri().getPath()
    cluster.set_mode(folder, 0o555)
    for change in (
        lambda: hdfs.write("2.delta", b""),
        begun.close,
        lambda: hdfs.delete("1.delta"),
    ):
        with pytest.raises(Py4JJavaError) as error:
            change()
        assert "AccessControlException" in raised(error.value)
    assert hdfs.read("1.delta") == b"old"
    cluster.set_mode(folder, 0)
    with pytest.raises(Py4JJavaError, match="AccessControlException"):
        hdfs.read("1.delta")
    cluster.set_mode(folder, 0o755)
    hdfs.write("1.delta", b"newer")
    assert hdfs.read("1.delta") == b"newer"
