"""The processes of a Spark application that was started as a session of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

DRIVER = "org.apache.spark.deploy.SparkSubmit"
EXECUTOR = "CoarseGrainedExecutorBackend"


def pids(session: int, what: str) -> list[int]:
    """Return the processes of a session whose command line has a word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == session and what in _command(folder):
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def kill(session: int, what: str, *, at_most: int) -> int:
    """Kill some processes of a session with SIGKILL; return how many."""
    chosen = pids(session, what)[:at_most]
    for pid in chosen:
        os.kill(pid, signal.SIGKILL)
    return len(chosen)


def _command(folder: Path) -> str:
    return (folder / "cmdline").read_bytes().decode(errors="replace")
