"""Whether a command is at work on a change of a checkpoint, or has ended in the middle of it.

Whoever makes a change, or finishes one, holds a lock on its folder. The system takes the lock back
when the process ends, whichever way, so that a change without is one that was cut off. Only local
file systems have such locks, and not all of these: of others nobody knows.
"""

from __future__ import annotations

import errno
import os
import sys

from holdfast_spark.checkpoint.files.location import Location

if sys.platform != "win32":
    import fcntl

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class ChangeLock:
    """The lock of one change; for one thread.

    Args:
        folder: the folder of the change.
    """

    def __init__(self, folder: Location) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def take(self) -> bool | None:
        """Take the lock, if it is not taken already.

        Returns:
            False where somebody else has it; None where the file system has none, or there is no
            such folder.
        """
        if self._descriptor is not None:
            return True
        if sys.platform == "win32" or not self._folder.is_local:
            return None
        try:
            descriptor = os.open(self._folder.path, os.O_RDONLY)
        except OSError:  # which whoever writes there tells of
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            os.close(descriptor)
            return False if e.errno in _TAKEN else None
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back, if it is taken."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_at_work(folder: Location) -> bool | None:
    """Tell whether a command is at work on the change of a folder; None where nobody knows."""
    lock = ChangeLock(folder)
    taken = lock.take()
    lock.release()
    return None if taken is None else not taken
