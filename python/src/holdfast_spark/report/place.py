"""Where a page can be written."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast_spark._arguments import instance, require_arguments
from holdfast_spark.checkpoint.errors import UnreadablePathError
from holdfast_spark.checkpoint.files.boundary import why_no_file
from holdfast_spark.checkpoint.files.location import Location


def require_place(file: Location) -> None:
    """Find out before a long reading whether a page can be written.

    Raises:
        UnreadablePathError: it is sure that it cannot.
    """
    require_arguments("report.require_place", file=(file, instance("a Location", Location)))
    if not file.is_local:
        return
    path = Path(file.path)
    reason = None
    if path.is_dir():
        reason = "it is a folder"
    elif why := why_no_file(file.path):
        reason = why
    elif not path.parent.is_dir():
        reason = f"there is no folder {path.parent}"
    elif not os.access(path.parent, os.W_OK):
        reason = f"the folder {path.parent} may not be written to"
    if reason:
        raise UnreadablePathError(path=str(file), doing="write", reason=reason)
