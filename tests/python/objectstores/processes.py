"""The processes of a Spark application that was started as a session of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

_TESTS = Path(__file__).parents[1]
APP = _TESTS / "apps" / "count_in_windows.py"
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


def start(
    folder: Path, settings: Mapping[str, object], spark: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start the query as a session of its own, its output behind what is in the folder's log.

    Args:
        folder: of the history.
        settings: the app's.
        spark: environment variables to start Spark with.
    """
    path = os.pathsep.join([str(_TESTS), spark.get("PYTHONPATH", "")])
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            ["python3", str(APP), json.dumps(settings)],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**spark, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"},
            start_new_session=True,
        )
