"""The query's input, and what has to come of it: counts of words in windows of ten seconds.

The times of file N lie in the windows N and N + 1. The watermark is 20 seconds behind the latest
time of the batches before, so that the windows up to N - 3 end in the batch after the one of file
N - 1: rows come, are changed and go.

A batch reads one file, but where a run ends between the log of the source and that of the offsets:
the file that the source has planned comes in one batch with the next. So what has to come follows
from the newest file of each batch, `newest`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

WINDOW_SECONDS = 10
DELAY_SECONDS = 20
_ROWS = 60
_WINDOWS_KEPT = 2

# The rows of the state, and of the output: times by the begin of the window in seconds, and word.
Counts = dict[tuple[int, str], int]


def lines(file: int) -> list[tuple[int, str]]:
    """Return the rows of a file: time in seconds and word; the latest time is always there."""
    words = [f"word {row * row % (11 + file % 5)}" for row in range(_ROWS)]
    return [(10 * file + 19 - row % 20, word) for row, word in enumerate(words)]


def write_input(folder: Path, files: int) -> None:
    """Write that many files, the oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        file = folder / f"{number}.txt"
        file.write_text("\n".join(f"{second},{word}" for second, word in lines(number)))
        os.utime(file, (number + 1, number + 1))


def newest_file(output: Counts) -> int:
    """Return the newest file that a batch has read, by the latest window that it has written."""
    return max((second for second, _ in output), default=0) // 10 - 1


def state_after(newest: Sequence[int], batch: int) -> Counts:
    """Return the rows of the state after a batch."""
    counts: Counter[tuple[int, str]] = Counter()
    for file in range(newest[batch] + 1):
        counts.update(_keys(file))
    first = 10 * (_before(newest, batch) + 1 - _WINDOWS_KEPT)
    return {key: count for key, count in counts.items() if key[0] >= first}


def output_of(newest: Sequence[int], batch: int) -> Counts:
    """Return the rows that a batch writes: those that it changes."""
    files = range(_before(newest, batch) + 1, newest[batch] + 1)
    state = state_after(newest, batch)
    return {key: state[key] for file in files for key in _keys(file)}


def _keys(file: int) -> list[tuple[int, str]]:
    return [(second // 10 * 10, word) for second, word in lines(file)]


def _before(newest: Sequence[int], batch: int) -> int:
    return newest[batch - 1] if batch else -1
