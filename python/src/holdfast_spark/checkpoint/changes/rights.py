"""Whether the user may write where a change of a checkpoint has to, before it begins.

A change that is refused in its middle is undone; but where the rights are missing it cannot be
undone either, and keeps the query away until they are there.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from holdfast_spark.checkpoint.errors import UnreadablePathError
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.location import Location


def require_writable(checkpoint: Location, folders: Collection[str]) -> None:
    """Check that the user may write to the folders of a checkpoint that a change is made in.

    Of a local one the system tells. Others tell when they are written to.

    Args:
        checkpoint: where the checkpoint is.
        folders: names of folders in it, which the change writes to at any depth; it writes to the
            folder of backups besides.

    Raises:
        UnreadablePathError: the user may not write to one.
    """
    if not checkpoint.is_local:
        return
    root = Path(checkpoint.path)
    backups = root / BACKUPS
    places = [backups if backups.exists() else root]
    for name in folders:
        places += [Path(place) for place, _, _ in os.walk(root / name)]
    for place in places:
        if not os.access(place, os.W_OK | os.X_OK):
            raise UnreadablePathError(
                path=str(place),
                doing="write to",
                reason="this user may not, and the change has to. Run it as a user who may write "
                "to the whole checkpoint, such as the one that the query runs as",
            )
