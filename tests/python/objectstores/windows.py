"""The query's input, and what has to come of it: counts of words in windows of ten seconds.

Batch N reads file N, whose times lie in the windows N and N + 1. The watermark is 20 seconds behind
the latest time of the batches before, so that in batch N the windows up to N - 3 end: rows come,
are changed and go.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

WINDOW_SECONDS = 10
DELAY_SECONDS = 20
_ROWS = 60
_WINDOWS_KEPT = 2

# The rows of the state, and of the output: times by the begin of the window in seconds, and word.
Counts = dict[tuple[int, str], int]


def lines(batch: int) -> list[tuple[int, str]]:
    """Return the rows of a file: time in seconds and word; the latest time is always there."""
    words = [f"word {row * row % (11 + batch % 5)}" for row in range(_ROWS)]
    return [(10 * batch + 19 - row % 20, word) for row, word in enumerate(words)]


def write_input(folder: Path, batches: int) -> None:
    """Write the files of that many batches, the oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    for batch in range(batches):
        file = folder / f"{batch}.txt"
        file.write_text("\n".join(f"{second},{word}" for second, word in lines(batch)))
        os.utime(file, (batch + 1, batch + 1))


def state_after(batch: int) -> Counts:
    """Return the rows of the state after a batch."""
    counts: Counter[tuple[int, str]] = Counter()
    for earlier in range(batch + 1):
        counts.update((second // 10 * 10, word) for second, word in lines(earlier))
    first = 10 * (batch - _WINDOWS_KEPT)
    return {key: count for key, count in counts.items() if key[0] >= first}


def output_of(batch: int) -> Counts:
    """Return the rows that a batch writes: those that it changes."""
    changed = {(second // 10 * 10, word) for second, word in lines(batch)}
    state = state_after(batch)
    return {key: state[key] for key in changed}
