"""How many keys of its operator a store has rows of, where the operator scans for them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from holdfast_spark.checkpoint.rows.records import Records

_WORD = 8


class PrefixCounter:
    """Counts the different prefixes of keys; for one thread.

    The memory in use is 8 bytes for each row. Prefixes are told apart by a hash of 64 bits.

    Args:
        columns: leading columns of the key that make its prefix; those behind them have a fixed
            width, as the start of a session has.
        of: columns of the key.
    """

    def __init__(self, columns: int, *, of: int) -> None:
        bits = _WORD * ((of + 63) // 64)
        self._kept, self._rest = bits + _WORD * columns, bits + _WORD * of
        self._hashes: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]

    def add(self, records: Records) -> None:
        """Count the prefixes of more rows."""
        hashes = (hash(key[: self._kept] + key[self._rest :]) for key in records.key_bytes())
        self._hashes.append(np.fromiter(hashes, np.int64, len(records)))

    @property
    def count(self) -> int:
        """The number of different prefixes so far."""
        return len(np.unique(np.concatenate(self._hashes)))
