"""Programs of this machine that are asked something."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

# The most that a program may take that is only asked for its version. A JVM takes a second.
SECONDS_TO_ANSWER = 30.0


def answer_of(command: Sequence[str], *, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a program that says something and ends, without anything to read.

    Args:
        command: the program and its arguments.
        seconds: how long it may take.

    Returns:
        What it has said, and its exit code, whichever that is.

    Raises:
        OSError: it does not start.
        subprocess.TimeoutExpired: it has not ended, and was killed.
    """
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )
