"""What a file system of fsspec can do, which its class tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_PATTERN = frozenset("*?[")


# Whose renaming takes the place of what is there: libhdfs by way of Arrow, and OpenSSH.
_RENAMING = ("ArrowFSWrapper", "SFTPFileSystem")


def renames(fs: AbstractFileSystem) -> bool:
    """Tell whether it moves a file in one step, also to the place of another."""
    return any(each.__name__ in _RENAMING for each in type(fs).__mro__)


def why_it_keeps_files(fs: AbstractFileSystem) -> str | None:
    """Return why no file can be put in the place of another, as the end of a sentence; None if so.

    Stores of objects copy a file over another. What others call moving fails where there is a
    file, as that of WebHDFS, which then says nothing.
    """
    from fsspec import AbstractFileSystem
    from fsspec.asyn import AsyncFileSystem

    copies = isinstance(fs, AsyncFileSystem) or type(fs).mv is AbstractFileSystem.mv
    if copies or renames(fs):
        return None
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    other = "hdfs://" if protocol == "webhdfs" else "the path of a mount"
    return f"{protocol}:// is for reading: it moves no file to the place of another. Use {other}"


def lists_trees(fs: AbstractFileSystem) -> bool:
    """Tell whether it lists all files below a folder by itself, and not folder by folder."""
    from fsspec import AbstractFileSystem
    from fsspec.asyn import AsyncFileSystem

    if isinstance(fs, AsyncFileSystem) and type(fs)._find is not AsyncFileSystem._find:
        return True
    return type(fs).find is not AbstractFileSystem.find


def is_pattern(path: str) -> bool:
    """Tell whether fsspec takes a path for a pattern where it removes or copies whole trees."""
    return not _PATTERN.isdisjoint(path)
