"""A store of objects, which has no renaming: to move a file is to copy and to remove it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.faults import Faults


class _Object(io.BytesIO):
    """An object that is read, piece by piece."""

    def read(self, size: int | None = -1) -> bytes:
        _question()
        return super().read(size)


class ObjectStore(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Objects in memory; every change of one, and every question, can fail as `faults` says."""

    protocol = "objects"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:  # noqa: ANN401
        return super()._strip_protocol(path.removeprefix("objects://"))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: Any) -> None:  # noqa: ANN401
        _change()
        super().pipe_file(path, value, mode=mode, **more)

    def cp_file(self, path1: str, path2: str, **more: Any) -> None:  # noqa: ANN401
        _change()
        super().cp_file(path1, path2, **more)

    def rm_file(self, path: str) -> None:
        _change()
        super().rm_file(path)

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:  # noqa: ANN401
        if mode != "rb":
            _change()
            return super()._open(path, mode=mode, **more)
        _question()
        return _Object(super()._open(path, mode=mode, **more).getvalue())

    def info(self, path: str, **more: Any) -> Any:  # noqa: ANN401
        _question()
        return super().info(path, **more)

    def ls(self, path: str, detail: bool = True, **more: Any) -> Any:  # noqa: ANN401
        _question()
        return super().ls(path, detail=detail, **more)

    def find(self, path: str, **more: Any) -> Any:  # noqa: ANN401
        _question()
        return super().find(path, **more)

    @classmethod
    def upload(cls, folder: Path, name: str) -> str:
        """Take a local folder in; return its URL."""
        cls.store.clear()
        cls.pseudo_dirs[:] = [""]
        fsspec.register_implementation("objects", cls, clobber=True)
        cls().put(str(folder), f"/{name}", recursive=True)
        return f"objects://{name}"

    @classmethod
    def content(cls) -> dict[str, bytes]:
        """The objects of checkpoints, without the backups."""
        return {
            path: file.getvalue()
            for path, file in cls.store.items()
            if "holdfast-backup" not in path
        }


def _change() -> None:
    if Faults.active is not None:
        Faults.active.change()


def _question() -> None:
    if Faults.active is not None:
        Faults.active.question()
