"""What a name in a checkpoint may lead to: files of the checkpoint, and nothing else.

Whoever writes to a checkpoint chooses names in it: of folders, of objects, in metadata, in
journals, and where links lead. The commands run with the rights of somebody else, so that none of
these is followed out of the checkpoint, and what is opened has to be a file, which does not
block.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

# Logs, metadata, schemas and journals: ten thousand partitions with ids make a commit of some
# megabytes. Read as JSON it takes twenty times its size.
TEXT_BYTES = 16 << 20

_NO_FILES = (stat.S_ISFIFO, stat.S_ISCHR, stat.S_ISBLK, stat.S_ISSOCK)


def why_outside(path: str, tree: str, *, is_local: bool) -> str | None:
    """Return why a path is none in a tree, as the end of a sentence; None where it is one.

    Args:
        path: the path, which may not exist.
        tree: the folder that it has to be, or lie below.
        is_local: whether the file system has links, which then lead nowhere else either.
    """
    root = tree.rstrip("/")
    below = path.removeprefix(root)
    parts = below.split("/")
    if not path.startswith(root) or (parts[0] and root) or ".." in parts or "\0" in path:
        return f"the name leads out of {tree}, and no name in a checkpoint is followed out of it"
    if not is_local or not _has_link(root, parts):
        return None
    real, allowed = os.path.realpath(path), os.path.realpath(tree)
    if f"{real}/".startswith(f"{allowed.rstrip('/')}/"):
        return None
    return (
        f"a link leads to {real}, and no link in a checkpoint is followed out of it; put the file "
        "or folder in the place of the link"
    )


def _has_link(folder: str, parts: list[str]) -> bool:
    """Tell whether a name below a folder is a link, which few are: to resolve one takes longer."""
    for part in parts:
        folder = f"{folder}/{part}"
        if part and os.path.islink(folder):  # noqa: PTH114 - for each file that is opened
            return True
    return False


def why_no_file(path: str) -> str | None:
    """Return why a local path is nothing to be read, as the end of a sentence."""
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return "it is a link that leads nowhere" if Path(path).is_symlink() else None
    except OSError:
        return None  # which says so when it is opened
    if any(kind(mode) for kind in _NO_FILES):
        return "it is a pipe or a device, and no file"
    return None
