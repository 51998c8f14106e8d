"""What a file system of fsspec can do, which its class tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_PATTERN = frozenset("*?[")


def renames(fs: AbstractFileSystem) -> bool:
    """Tell whether it moves a file in one step: stores of objects copy it and remove it."""
    from fsspec import AbstractFileSystem
    from fsspec.asyn import AsyncFileSystem

    # What these call moving is for patterns, and copies as well.
    return type(fs).mv is not AbstractFileSystem.mv and not isinstance(fs, AsyncFileSystem)


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
