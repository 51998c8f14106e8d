"""What the JVM of an executor holds of Holdfast."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

_PROVIDER = "io.holdfast.HoldfastStateStoreProvider"
_VERSION = "io.holdfast.table.Version"
_SHARED = 1  # the empty version with which all stores begin
_THREADS = ('"holdfast-', '"state-store-maintenance')


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A moment, after a garbage collection.

    Attributes:
        stores: that are loaded.
        versions: in memory, of whichever store.
        stacks: of each thread that stores have, and of what Spark maintains them with.
    """

    stores: int
    versions: int
    stacks: list[str]

    @property
    def threads(self) -> int:
        """How many such threads there are."""
        return len(self.stacks)


def held(pid: int) -> Held | None:
    """Look into an executor; return none if it has ended meanwhile."""
    objects = _asked(pid, "GC.class_histogram")
    threads = _asked(pid, "Thread.print")
    if objects is None or threads is None:
        return None
    rows = [line.split() for line in objects]
    instances = {row[3]: int(row[1]) for row in rows if len(row) > 3 and row[1].isdigit()}
    return Held(
        stores=instances.get(_PROVIDER, 0),
        versions=max(0, instances.get(_VERSION, 0) - _SHARED),
        stacks=[stack for stack in "\n".join(threads).split("\n\n") if stack.startswith(_THREADS)],
    )


def _asked(pid: int, what: str) -> list[str] | None:
    jcmd = shutil.which("jcmd")
    assert jcmd, "the JDK has a jcmd"
    answer = subprocess.run([jcmd, str(pid), what], check=False, capture_output=True, text=True)
    return None if answer.returncode else answer.stdout.splitlines()
