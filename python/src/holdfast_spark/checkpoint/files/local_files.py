"""Files of a local file system, written so that a loss of power does not take them away.

The content of a file is on disk when the file was synced; that a name leads to it, or to nothing
any more, when its folder was.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

# What file systems say that cannot sync a folder, those of other machines among them.
_NO_FOLDERS = (errno.EINVAL, errno.ENOTSUP)


def type_of(path: Path, *, follow: bool) -> str:
    """Return what there is of that name: `file`, `directory` or `other`.

    Args:
        path: the name.
        follow: whether a link is what it leads to; else it is `other`.

    Raises:
        FileNotFoundError: nothing is there.
        OSError: the file system refuses to tell.
    """
    mode = path.stat(follow_symlinks=follow).st_mode
    if stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_ISREG(mode) else "other"


def listed(path: str) -> Iterator[dict[str, Any]]:
    """Yield what fsspec tells of a file, or of what is in a folder, without what goes meanwhile.

    A query that runs removes files all the time. fsspec before 2024.12 says of the whole folder
    then that nothing is there.

    Raises:
        FileNotFoundError: nothing is there.
        OSError: the file system refuses to tell.
    """
    there = Path(path).stat()
    if not stat.S_ISDIR(there.st_mode):
        yield _told(path, there, there, is_link=Path(path).is_symlink())
        return
    # As it is written, since the names of what is in it begin with it.
    with os.scandir(path) as found:
        for entry in found:
            try:
                own = target = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if is_link := entry.is_symlink():
                with contextlib.suppress(OSError):  # as of a link that leads nowhere
                    target = entry.stat()
            yield _told(entry.path, own, target, is_link=is_link)


def _told(
    path: str, own: os.stat_result, target: os.stat_result, *, is_link: bool
) -> dict[str, Any]:
    kind = "directory" if stat.S_ISDIR(own.st_mode) else "file"
    size = 0 if is_link and own is target else target.st_size
    name = path.replace(os.sep, "/")
    return {"name": name, "type": kind, "size": size, "mtime": own.st_mtime, "islink": is_link}


def write(path: Path, content: bytes, *, mode: Literal["wb", "xb"] = "wb") -> None:
    """Write a file; with the mode `xb` only if there is none."""
    with path.open(mode) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step, with the mode and, where the user may, the owner of the old one."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
    try:
        write(temporary, content, mode="xb")
        if path.exists():
            take_mode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def claim(path: Path, content: bytes, *, by: Path) -> bool:
    """Write a new file, whole or not at all; tell whether it was written, or there was one.

    Args:
        path: the file; the folders that it lies in are made.
        content: what it is to hold.
        by: a file that does not exist, in the same file system, for what is made on the way.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write(by, content)
    try:
        os.link(by, path)
    except FileExistsError:
        return False
    except OSError:  # no links in this file system
        try:
            write(path, content, mode="xb")
        except FileExistsError:
            return False
    finally:
        by.unlink()
    sync_folder(path.parent)
    return True


def take_mode(model: Path, path: Path) -> None:
    """Give a file the mode of another one, and its owner, or its group, where the user may."""
    shutil.copymode(model, path)
    if sys.platform == "win32":
        return  # which has no owner to give
    user, group = model.stat().st_uid, model.stat().st_gid
    try:
        shutil.chown(path, user, group)
    except PermissionError:
        with contextlib.suppress(PermissionError):
            shutil.chown(path, group=group)


def make_folder(path: Path) -> None:
    """Make a folder and those that it lies in, each with the mode and owner of the one above it."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    take_mode(path.parent, path)


def sync(path: Path) -> None:
    """See to it that the content of a file, or the names in a folder, are on disk."""
    # Windows syncs what may be written to alone.
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """See to it that the names in a folder are on disk, if it is there and can be synced.

    Windows opens no folder, and its file systems write names to disk when they please.
    """
    if sys.platform == "win32":
        return
    try:
        sync(path)
    except FileNotFoundError:
        return
    except OSError as e:
        if e.errno not in _NO_FOLDERS:
            raise
