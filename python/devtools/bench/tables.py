"""Tables of numbers, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def table(head: tuple[str, ...], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of a table whose first column has words, and the others numbers."""
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
