"""How many rows a store has and how large they are, version after version."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import xxhash

from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.scan import Positions

_Hashes = npt.NDArray[np.uint64]


class RowSizes:
    """The sizes of a partition's rows by the 64-bit hash of their keys.

    It takes 16 bytes for each row, and twice that for a moment. Two keys of one hash would count as
    one row: among a million rows the odds are one in 30 million. For one thread.
    """

    def __init__(self) -> None:
        self._hashes: _Hashes = np.empty(0, np.uint64)
        self._sizes: Positions = np.empty(0, np.int64)

    @classmethod
    def of(cls, snapshot: Iterable[Records]) -> RowSizes:
        """Return the rows of a snapshot, whose keys are all different."""
        loaded = cls()
        pieces = [(_hashes(records), _sizes(records)) for records in snapshot]
        if pieces:
            hashes = np.concatenate([piece[0] for piece in pieces])
            order = np.argsort(hashes)
            loaded._hashes = hashes[order]
            loaded._sizes = np.concatenate([piece[1] for piece in pieces])[order]
        return loaded

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def total_bytes(self) -> int:
        """Bytes of all keys and values."""
        return int(self._sizes.sum())

    def apply(self, changes: Records) -> None:
        """Put the changes of a delta, or of the next part of it, into the rows."""
        # Of several changes of a key the last one stands first in the reversed order.
        hashes, last = np.unique(_hashes(changes)[::-1], return_index=True)
        sizes = _sizes(changes)[::-1][last]
        present = sizes >= 0
        places, known = self._find(hashes)
        self._sizes[places[known & present]] = sizes[known & present]
        self._remove(places[known & ~present])
        self._insert(hashes[~known & present], sizes[~known & present])

    def _find(self, hashes: _Hashes) -> tuple[Positions, npt.NDArray[np.bool_]]:
        places = np.searchsorted(self._hashes, hashes)
        known = places < len(self._hashes)
        known[known] = self._hashes[places[known]] == hashes[known]
        return places, known

    def _remove(self, places: Positions) -> None:
        if len(places):
            self._hashes = np.delete(self._hashes, places)
            self._sizes = np.delete(self._sizes, places)

    def _insert(self, hashes: _Hashes, sizes: Positions) -> None:
        if len(hashes):
            places = np.searchsorted(self._hashes, hashes)
            self._hashes = np.insert(self._hashes, places, hashes)
            self._sizes = np.insert(self._sizes, places, sizes)


def _hashes(records: Records) -> _Hashes:
    keys = records.key_bytes()
    return np.fromiter(map(xxhash.xxh3_64_intdigest, keys), np.uint64, len(keys))


def _sizes(records: Records) -> Positions:
    """Return the bytes of key and value of each record; -1 where it removes its key."""
    removed = records.value_lengths < 0
    return np.where(removed, -1, records.key_lengths + records.value_lengths)
