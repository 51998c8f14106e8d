"""How a command ends that is told to by SIGTERM, as `docker stop` and Kubernetes do."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

# What a shell says of a process that SIGTERM has ended.
TERMINATED = 128 + signal.SIGTERM


@contextlib.contextmanager
def undone_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that what it has begun is undone.

    Without that the process is gone at once, and a change half made. Handlers that somebody else
    has set stay, and in other threads than the main one there are none.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    # A second one is not to cut off the undoing, as SIGKILL still can.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(TERMINATED)
