"""HDFS on this machine: a NameNode and three DataNodes in a JVM of their own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filesystems.jvm import Jvm

NODES = 3
_COPIES = 2
_SUPERUSER = "holdfast-admin"


class Cluster:
    """A cluster whose parts can be stopped; every folder is open to everybody in the beginning.

    Args:
        jars: Hadoop's `hadoop-client-minicluster`.
        folder: takes what its disks would have.

    Attributes:
        url: where it is, the same after a restart.
    """

    def __init__(self, jars: Iterable[Path], folder: Path) -> None:
        self._jvm = Jvm(jars, user=_SUPERUSER)
        hadoop = self._jvm.classes.org.apache.hadoop
        conf = hadoop.conf.Configuration()
        settings = {
            "hdfs.minidfs.basedir": str(folder / "dfs"),
            "dfs.replication": str(_COPIES),
            "dfs.namenode.fs-limits.min-block-size": "1024",
            # What is dead is known for it after some seconds.
            "dfs.heartbeat.interval": "1",
            "dfs.namenode.heartbeat.recheck-interval": "500",
        }
        for name, value in settings.items():
            conf.set(name, value)
        builder = getattr(hadoop.hdfs, "MiniDFSCluster$Builder")(conf)
        self._cluster = builder.numDataNodes(NODES).format(True).build()
        self._cluster.waitActive()
        self.url = str(self._cluster.getURI().toString())
        self._files = self._cluster.getFileSystem()
        self._path: Any = hadoop.fs.Path
        self._permission: Any = hadoop.fs.permission.FsPermission
        self._stopped: list[Any] = []
        self.set_mode("/", 0o777)

    @property
    def stopped(self) -> int:
        """How many DataNodes are stopped."""
        return len(self._stopped)

    def stop_node(self, number: int) -> None:
        """Stop one of the DataNodes that run, by its place among them."""
        self._stopped.append(self._cluster.stopDataNode(number))

    def start_nodes(self) -> None:
        """Start the DataNodes that are stopped, and wait until all are known."""
        while self._stopped:
            self._cluster.restartDataNode(self._stopped.pop(), True)
        self._cluster.waitActive()

    def stop_name_node(self) -> None:
        """Stop the NameNode."""
        self._cluster.shutdownNameNode(0)

    def start_name_node(self) -> None:
        """Start it again, and wait until it answers; it may be in safe mode then."""
        self._cluster.restartNameNode(False)

    def wait(self) -> None:
        """Wait until the NameNode has left safe mode by itself."""
        self._cluster.waitActive()
        self._cluster.waitClusterUp()

    def set_safe_mode(self, *, on: bool) -> None:
        """Let the NameNode refuse all changes, or take them again."""
        server = self._cluster.getNameNode(0).getNamesystem()
        server.setSafeMode(_safe_mode_action(self._jvm, on=on))

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of a file or folder."""
        self._files.setPermission(self._path(path), self._permission(mode))

    def set_space(self, path: str, limit: int | None) -> None:
        """Set how many bytes a folder may take, counting all copies; None for any."""
        anything = (1 << 63) - 1
        reset = -1
        self._files.setQuota(self._path(path), anything, reset if limit is None else limit)

    def fetch(self, path: str, to: Path) -> None:
        """Copy a folder to this machine's disk."""
        self._files.copyToLocalFile(False, self._path(path), self._path(str(to)), True)

    def close(self) -> None:
        """End it."""
        self._cluster.shutdown()
        self._jvm.close()


def _safe_mode_action(jvm: Jvm, *, on: bool) -> object:
    protocol = jvm.classes.org.apache.hadoop.hdfs.protocol
    actions = getattr(protocol, "HdfsConstants$SafeModeAction")
    return actions.SAFEMODE_ENTER if on else actions.SAFEMODE_LEAVE
