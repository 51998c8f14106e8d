"""Draws what the drivers of a long run held."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from devtools.bench.panels import Panel, write
from soak.samples import Sample

_DRAWN = {
    "rows": "rows in the state",
    "heap_mib": "heap after a garbage collection, MiB",
    "classes_mib": "classes, MiB",
    "code_mib": "compiled code, MiB",
    "rss_mib": "memory of the process, MiB",
    "direct_mib": "direct buffers, MiB",
    "threads": "threads",
    "handles": "open files and sockets",
    "files": "files in the checkpoint",
}


def draw(path: Path, samples: Sequence[Sample], *, note: str) -> Path:
    """Draw all numbers over the time, with a mark where a driver was killed.

    Args:
        path: the SVG file.
        samples: what is drawn, in order.
        note: what stands below it.
    """
    panels = [
        Panel(what=what, points=[(each.seconds / 60, getattr(each, name)) for each in samples])
        for name, what in _DRAWN.items()
    ]
    killed = [later.seconds / 60 for one, later in pairwise(samples) if one.life != later.life]
    title = f"A query through {samples[-1].batch + 1:,} batches"
    return write(path, panels, title=title, marks=killed, note=note)
