"""What the JVM of an executor holds of Holdfast."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_PROVIDER = "io.holdfast.HoldfastStateStoreProvider"
_VERSION = "io.holdfast.table.Version"
_SHARED = 1  # the empty version with which all stores begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A moment, after a garbage collection.

    Attributes:
        stores: that are loaded.
        versions: in memory, of whichever store.
        threads: of the process.
    """

    stores: int
    versions: int
    threads: int


def held(pid: int) -> Held | None:
    """Look into an executor; return none if it has ended meanwhile."""
    jcmd = shutil.which("jcmd")
    assert jcmd, "the JDK has a jcmd"
    looked = subprocess.run(
        [jcmd, str(pid), "GC.class_histogram"], check=False, capture_output=True, text=True
    )
    try:
        status = (Path("/proc") / str(pid) / "status").read_text()
    except OSError:
        return None
    if looked.returncode != 0:
        return None
    rows = [line.split() for line in looked.stdout.splitlines()]
    instances = {row[3]: int(row[1]) for row in rows if len(row) > 3 and row[1].isdigit()}
    (threads,) = (line for line in status.splitlines() if line.startswith("Threads:"))
    return Held(
        stores=instances.get(_PROVIDER, 0),
        versions=max(0, instances.get(_VERSION, 0) - _SHARED),
        threads=int(threads.split()[1]),
    )
