"""When the files of a change are on disk, so that a loss of power does not take them away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from holdfast_spark.checkpoint.files.local_files import sync_folder
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.refusals import reported


def sync_folders(root: Location, files: Iterable[Location]) -> None:
    """See to it that files which came to places below a folder, or went, have done so on disk.

    A local file system may forget the last names when power is lost, and in another order than they
    were given in. What other file systems keep then, they decide.

    Args:
        root: the folder.
        files: the places.

    Raises:
        UnreadablePathError: the file system refuses.
    """
    if not root.is_local:
        return
    top = root.path.rstrip("/") or "/"
    folders = {top}
    for file in files:
        folder = file.path.rpartition("/")[0]
        while len(folder) > len(top):
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    with reported(root, "write"):
        for folder in sorted(folders, key=len, reverse=True):
            sync_folder(Path(folder))
