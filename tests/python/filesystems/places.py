"""The file systems with their file managers, and in what they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from filesystems.jvm import Jvm
from objectstores.server import BUCKET, s3a_settings

MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
HOLDFAST = "io.holdfast.HoldfastCheckpointFileManager"
# Spark's own for object stores, which closes an upload or aborts it, and renames nothing.
ABORTABLE = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"

# So that files of tests have several.
_BLOCK_BYTES = 1 << 19


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where checkpoint files can be, and what writes them there.

    Attributes:
        name: of file system and manager.
        root: URL of a folder that tests may fill.
        manager: class of the manager, Spark's default for None.
        settings: Hadoop's.
        says_refused: whether, of two that create a file at the same time and may not replace one,
            the second learns that it was refused.
        leaves: whether a writer that dies leaves its temporary file.
        leaves_refused: whether one that is refused does.
        goes_on_reading: whether who has opened a file reads its old bytes to the end, when another
            takes its place.
    """

    name: str
    root: str
    manager: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    says_refused: bool = True
    leaves: bool = True
    leaves_refused: bool = True
    goes_on_reading: bool = True


class Files:
    """The files below a folder of a place, by a file manager in a JVM."""

    def __init__(self, jvm: Jvm, place: Place, folder: str) -> None:
        self._jvm = jvm.classes
        self.place = place
        self.folder = f"{place.root}/{folder}"
        self.conf = self._jvm.org.apache.hadoop.conf.Configuration()
        for name, value in place.settings.items():
            self.conf.set(name, value)
        if place.manager:
            self.conf.set(MANAGER, place.manager)
        sparks = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        self.manager = sparks.CheckpointFileManager.create(self.path(), self.conf)
        self.manager.mkdirs(self.path())

    def path(self, name: str = "") -> Any:  # noqa: ANN401 - a Java object
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.folder}/{name}".rstrip("/"))

    def begin(self, name: str, content: bytes, *, overwrite: bool = True) -> Any:  # noqa: ANN401
        """Begin to write a file; return the stream, which is to be closed or cancelled."""
        out = self.manager.createAtomic(self.path(name), overwrite)
        try:
            out.write(content)
        except BaseException:
            out.cancel()
            raise
        return out

    def write(self, name: str, content: bytes, *, overwrite: bool = True) -> None:
        """Write a file to its end."""
        self.begin(name, content, overwrite=overwrite).close()

    def read(self, name: str) -> bytes:
        """Read a file as the manager gives it."""
        stream = self.manager.open(self.path(name))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def names(self) -> list[str]:
        """Return the names that the manager lists, but for those of temporary files."""
        listed = (status.getPath().getName() for status in self.manager.list(self.path()))
        return sorted(name for name in listed if not name.startswith("."))

    def all_names(self) -> list[str]:
        """Return every name that the file system has, those of temporary files too."""
        system = self.path().getFileSystem(self.conf)
        raw = system.getRaw() if hasattr(system, "getRaw") and self._is_local() else system
        return sorted(status.getPath().getName() for status in raw.listStatus(self.path()))

    def _is_local(self) -> bool:
        return self.folder.startswith("file:")

    def exists(self, name: str) -> bool:
        """Return whether the manager says that a file is there."""
        return bool(self.manager.exists(self.path(name)))

    def delete(self, name: str) -> None:
        """Delete a file."""
        self.manager.delete(self.path(name))


def raised(error: Any) -> str:  # noqa: ANN401 - a Py4JJavaError, which is not there everywhere
    """Return class and message of a Java exception, and of those behind it."""
    said, java = [], error.java_exception
    while java is not None:
        said.append(str(java.toString()))
        java = java.getCause()
    return "\n".join(said)


def local(folder: str) -> list[Place]:
    """Return the places on this machine's disk."""
    root = f"file:{folder}"
    return [
        Place(name="local, Spark's manager", root=f"{root}/spark"),
        Place(
            name="local, Holdfast's manager",
            root=f"{root}/holdfast",
            manager=HOLDFAST,
            leaves_refused=False,
        ),
    ]


def hdfs(url: str) -> list[Place]:
    """Return the places in a cluster; Holdfast's manager leaves them to Spark's."""
    settings = {"fs.defaultFS": url, "dfs.blocksize": str(_BLOCK_BYTES)}
    return [
        Place(name="HDFS, Spark's manager", root=f"{url}/spark", settings=settings),
        Place(
            name="HDFS, Holdfast's manager",
            root=f"{url}/holdfast",
            manager=HOLDFAST,
            settings=settings,
        ),
    ]


def s3a(endpoint: str) -> list[Place]:
    """Return the places in a store of objects."""
    settings = s3a_settings(endpoint)
    return [
        Place(
            name="s3a, Spark's manager",
            root=f"s3a://{BUCKET}/renamed",
            settings=settings,
            leaves=False,
            goes_on_reading=False,
        ),
        Place(
            name="s3a, Spark's manager for object stores",
            root=f"s3a://{BUCKET}/uploaded",
            manager=ABORTABLE,
            settings=settings,
            leaves_refused=False,
            says_refused=False,
            leaves=False,
            goes_on_reading=False,
        ),
        Place(
            name="s3a, Holdfast's manager",
            root=f"s3a://{BUCKET}/put",
            manager=HOLDFAST,
            settings=settings,
            leaves_refused=False,
            leaves=False,
            goes_on_reading=False,
        ),
    ]
