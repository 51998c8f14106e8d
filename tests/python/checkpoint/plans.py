"""What offsets files say of their batches, apart from their sources."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def planned(offsets: str) -> dict[str, Any]:
    """Return what the text of an offsets file says of its batch."""
    plan: dict[str, Any] = json.loads(offsets.split("\n")[1])
    return plan


def replanned(offsets: str, change: Callable[[dict[str, Any]], object]) -> str:
    """Return the text of an offsets file that plans a batch otherwise, from the same sources.

    Args:
        offsets: the text that it had.
        change: changes what it says, such as its settings, `conf`.
    """
    version, _, *sources = offsets.split("\n")
    plan = planned(offsets)
    change(plan)
    return "\n".join((version, json.dumps(plan), *sources))
