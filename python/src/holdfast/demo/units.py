"""Numbers with units, as people read them."""

from __future__ import annotations

KIB = 1024
MS_PER_SECOND = 1000


def bytes_text(count: int) -> str:
    """Return a number of bytes with a binary unit and at most one digit after the point."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < KIB:
            break
        size, unit = size / KIB, larger
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def milliseconds_text(count: int) -> str:
    """Return a duration of `count` milliseconds, in seconds from one second on."""
    return f"{count} ms" if count < MS_PER_SECOND else f"{count / MS_PER_SECOND:.1f} s"
