"""Where tests put their files: in memory, if there is room. They sync thousands of them.

On a disk that others use as well, most of a test's time would be waiting for that.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - only a folder of its own, which nobody else may read

# Several times what all tests leave at the end.
_ROOM_BYTES = 8 * 2**30


def make_folder(root: Path, memory: Path = MEMORY, *, room: int = _ROOM_BYTES) -> Path | None:
    """Make an empty folder in memory for the tests of a checkout.

    Args:
        root: the folder of the checkout; one process at a time makes its folder.
        memory: the file system in memory.
        room: how many bytes have to be free there.

    Returns:
        The folder; none if there is no room, or if `TMPDIR` says where files go: there they stay
        after the tests.
    """
    if "TMPDIR" in os.environ or not memory.is_dir():
        return None
    digest = hashlib.sha256(str(root.resolve()).encode()).hexdigest()
    folder = memory / f"holdfast-{os.getuid()}-{digest[:8]}"
    # Of tests that were killed.
    shutil.rmtree(folder, ignore_errors=True)
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < room:
        return None
    folder.mkdir(mode=0o700)
    return folder


def variables(folder: Path | None) -> Mapping[str, str]:
    """Return the environment variables by which tests in Python, and Spark, find the folder."""
    return {"TMPDIR": str(folder), "SPARK_LOCAL_DIRS": str(folder)} if folder else {}
