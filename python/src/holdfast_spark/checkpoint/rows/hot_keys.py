"""Which keys change most often."""

from __future__ import annotations

from collections import Counter

from holdfast_spark.checkpoint.rows.records import Records

_MEMORY_BYTES = 32 << 20
# A dictionary entry with its key and count, beyond the bytes of the key.
_ENTRY_BYTES = 150


class HotKeys:
    """Counts the changes of keys in bounded memory, some 32 MiB beside one piece of a file.

    As long as all keys fit, the counts are exact. After that every count is too low by at most
    `missed`: keys that changed seldom make room by being taken off all counts (Misra and Gries,
    "Finding repeated elements", Science of Computer Programming 2, 1982, in the form of Agarwal et
    al., "Mergeable summaries", ACM TODS 38, 2013). For one thread.

    Attributes:
        missed: changes that a count may lack, 0 when the counts are exact.
    """

    def __init__(self, memory_bytes: int = _MEMORY_BYTES) -> None:
        self.missed = 0
        self._memory_bytes = memory_bytes
        self._counts: Counter[bytes] = Counter()
        self._longest_key = 0

    def add(self, changes: Records) -> None:
        """Count one change for the key of each record."""
        self._counts.update(changes.key_bytes())
        self._longest_key = max(self._longest_key, int(changes.key_lengths.max()))
        capacity = max(1, self._memory_bytes // (_ENTRY_BYTES + self._longest_key))
        if len(self._counts) > capacity:
            self._make_room(capacity)

    def hottest(self, count: int) -> list[tuple[bytes, int]]:
        """Return the keys that changed most often, and how often at least; the hottest first."""
        return sorted(self._counts.items(), key=lambda entry: (-entry[1], entry[0]))[:count]

    def _make_room(self, capacity: int) -> None:
        taken = sorted(self._counts.values(), reverse=True)[capacity]
        kept = {key: count - taken for key, count in self._counts.items() if count > taken}
        self._counts = Counter(kept)
        self.missed += taken
