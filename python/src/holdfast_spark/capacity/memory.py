"""Memory that a provider takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Memory in bytes.

    Attributes:
        heap: in the heap between batches, with all versions that stay in memory.
        peak_heap: in the heap while a batch runs.
        native: outside the heap.
    """

    heap: float
    peak_heap: float
    native: float = 0

    @classmethod
    def of_versions(cls, newest: float, older: float, versions: int) -> Memory:
        """Return what versions take in the heap; a batch makes one more.

        Args:
            newest: bytes of the newest version.
            older: bytes that an older one has and the one after it has not.
            versions: versions in memory, at least 1.
        """
        return cls(heap=newest + (versions - 1) * older, peak_heap=newest + versions * older)

    def __add__(self, other: Memory) -> Memory:
        return Memory(
            heap=self.heap + other.heap,
            peak_heap=self.peak_heap + other.peak_heap,
            native=self.native + other.native,
        )


NO_MEMORY = Memory(heap=0, peak_heap=0)
