"""Whether the user may write where a change of a checkpoint has to, before it begins.

A change that is refused in its middle is undone; but where the rights are missing it cannot be
undone either, and keeps the query away until they are there.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection
from pathlib import Path

from holdfast_spark.checkpoint.errors import UnreadablePathError
from holdfast_spark.checkpoint.files.abilities import why_it_keeps_files
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.location import Location


def require_writable(checkpoint: Location, folders: Collection[str]) -> None:
    """Check that the user may write to the folders of a checkpoint that a change is made in.

    Of a local one the system tells. Others tell when they are written to, but for those that cannot
    replace a file. A folder in them that is
    a link is in the way, too.

    Args:
        checkpoint: where the checkpoint is.
        folders: names of folders in it, which the change writes to at any depth; it writes to the
            folder of backups besides.

    Raises:
        UnreadablePathError: the user may not write to one.
    """
    if not checkpoint.is_local:
        require_replacing(checkpoint)
        return
    root = Path(checkpoint.path)
    backups = root / BACKUPS
    places = [backups if backups.exists() else root]
    for name in folders:
        for folder, inside, _ in os.walk(root / name):
            places.append(Path(folder))
            _require_no_links(Path(folder), inside)
    for place in places:
        if not os.access(place, os.W_OK | os.X_OK):
            raise UnreadablePathError(
                path=str(place),
                doing="write to",
                reason="this user may not, and the change has to. Run it as a user who may write "
                "to the whole checkpoint, such as the one that the query runs as",
            )
        if whose := _of_others(place):
            raise UnreadablePathError(
                path=str(whose),
                doing="move",
                reason="its folder has the sticky bit and the file is another user's, so that "
                "this one may not. Run it as the user whose files they are, such as the one that "
                "the query runs as",
            )


def require_replacing(checkpoint: Location) -> None:
    """Check that the file system puts a file in the place of another.

    Raises:
        UnreadablePathError: it does not.
    """
    if not checkpoint.is_local and (reason := why_it_keeps_files(checkpoint.fs)):
        raise UnreadablePathError(path=str(checkpoint), doing="change", reason=reason)


def _require_no_links(folder: Path, inside: Collection[str]) -> None:
    """Check that no folder is a link, whose files the change would meet by two names."""
    for name in inside:
        if (folder / name).is_symlink():
            raise UnreadablePathError(
                path=str(folder / name),
                doing="change",
                reason="it is a link to a folder. Put the folder in the place of the link",
            )


def _of_others(folder: Path) -> Path | None:
    """Return a file in a folder that this user may not move, though he may write to the folder."""
    if sys.platform == "win32":
        return None  # which has no sticky bit
    found = folder.stat()
    user = os.geteuid()
    if not found.st_mode & stat.S_ISVTX or user in (0, found.st_uid):
        return None
    return next((each for each in folder.iterdir() if each.lstat().st_uid != user), None)
