"""Finds the records in a piece of a file's content, and what cannot be one.

`records` has the layout of files without column families, `family_records` that of the others,
where the number of a table stands in front of each record.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdfast_spark.checkpoint.errors import DamagedStateFileError
from holdfast_spark.checkpoint.files.state_files import StateFile

Positions: TypeAlias = npt.NDArray[np.int64]

INT_BYTES = 4
# A record is held whole. So long may one be in any file, and in a large file so many times its size
# longer: more than any codec but Zstandard compresses.
RECORD_BYTES = 64 << 20
RATIO = 1_000
_INT = struct.Struct(">i")
_END_MARKER = -1
# Below this, a run of records of the same length is not worth an array.
_SHORTEST_RUN = 16


class Scan:
    """Finds the records in a chunk: runs of equal length at once, others one by one.

    Args:
        chunk: the piece of content.
        file: the file that it is of.
        before: bytes of content before it.
        has_tables: whether the number of a table stands in front of each record.

    Attributes:
        position: bytes of the chunk that were gone through.
        count: records found.
        found_end: whether the end marker was found.
        tables: table of each record; empty arrays where there are none.
        key_starts: where each key begins.
        key_lengths: bytes of each key.
        value_lengths: bytes of each value; -1 where the record removes its key.
    """

    def __init__(
        self, chunk: bytes, file: StateFile, before: int, *, has_tables: bool = False
    ) -> None:
        self.chunk = chunk
        self.position = 0
        self.count = 0
        self.found_end = False
        self.tables: list[Positions] = []
        self.key_starts: list[Positions] = []
        self.key_lengths: list[Positions] = []
        self.value_lengths: list[Positions] = []
        self._file = file
        self._before = before
        self._has_tables = has_tables
        # Bytes of a record in front of the length of its key.
        self._head = INT_BYTES if has_tables else 0

    def run(self) -> None:
        """Go as far as there are whole records, at most to the end marker."""
        while self._run_of_equals() or self._one_by_one():
            pass

    def damaged(self, at: int, expected: str, found: str) -> DamagedStateFileError:
        """Return the error about a position in the chunk."""
        return DamagedStateFileError(
            path=str(self._file.location),
            version=self._file.version,
            offset=self._before + at,
            of="its decompressed content",
            expected=expected,
            found=found,
        )

    def truncated(self) -> DamagedStateFileError:
        """Return the error about content that ends before the end marker."""
        left = len(self.chunk) - self.position
        return self.damaged(
            len(self.chunk),
            "a whole record or the end marker",
            f"the end of the file after {left} bytes of it",
        )

    def require_justified(self) -> None:
        """Check that the record that is not whole yet may be as long as it says it is."""
        most = RECORD_BYTES + RATIO * self._file.size_bytes
        sizes, at = [], self.position + self._head
        for _ in range(2):
            if at + 4 <= len(self.chunk):
                (size,) = _INT.unpack_from(self.chunk, at)
                sizes.append(max(size, 0))
                at += 4 + sizes[-1]
        if sum(sizes) > most:
            expected = f"a record of at most {most:,} bytes in a file of {self._file.size_bytes:,}"
            raise self.damaged(self.position, expected, f"one of {sum(sizes):,} bytes")

    def _run_of_equals(self) -> bool:
        """Take the records that have the lengths of the next one; False if that are few."""
        lengths = self._lengths_at(self.position)
        if lengths is None:
            return False
        key_length, value_length = lengths
        size = self._head + 8 + key_length + max(value_length, 0)
        room = (len(self.chunk) - self.position) // size
        count = self._equals(key_length, value_length, size, min(room, _SHORTEST_RUN))
        if count < _SHORTEST_RUN:
            return False
        count = self._equals(key_length, value_length, size, room)
        self._check_lengths(self.position, key_length, value_length)
        first = self.position + self._head + INT_BYTES
        tables = np.empty(0, np.int64)
        if self._has_tables:
            tables = self._ints(self.position, size, count).astype(np.int64)
        self._add(
            tables,
            first + size * np.arange(count, dtype=np.int64),
            np.full(count, key_length, np.int64),
            np.full(count, value_length, np.int64),
        )
        self.position += count * size
        return True

    def _equals(self, key_length: int, value_length: int, size: int, room: int) -> int:
        """Return how many of the next `room` records have these lengths."""
        at = self.position + self._head
        equal = self._ints(at, size, room) == key_length
        equal &= self._ints(at + INT_BYTES + key_length, size, room) == value_length
        if self._has_tables:
            equal &= self._ints(self.position, size, room) >= 0
        return room if equal.all() else int(equal.argmin())

    def _ints(self, offset: int, step: int, count: int) -> npt.NDArray[np.int32]:
        ints: npt.NDArray[np.int32] = np.ndarray((count,), ">i4", self.chunk, offset, (step,))
        return ints

    def _one_by_one(self) -> bool:
        """Take a few hundred records one by one; False when there is no whole one left."""
        position, starts, keys, values = self.position, [], [], []
        tables: list[int] = []
        for _ in range(16 * _SHORTEST_RUN):
            lengths = self._lengths_at(position)
            if lengths is None:
                break
            key_length, value_length = lengths
            end = position + self._head + 8 + key_length + max(value_length, 0)
            if end > len(self.chunk):
                break
            self._check_lengths(position, key_length, value_length)
            if self._has_tables:
                tables.append(_INT.unpack_from(self.chunk, position)[0])
            starts.append(position + self._head + INT_BYTES)
            keys.append(key_length)
            values.append(value_length)
            position = end
        self.position = position
        if starts:
            self._add(*(np.array(column, np.int64) for column in (tables, starts, keys, values)))
        return bool(starts)

    def _lengths_at(self, position: int) -> tuple[int, int] | None:
        """Return the lengths of key and value; None if they are not there, as at the end."""
        chunk, at = self.chunk, position + self._head
        if self._has_tables and self._is_end(position, "the number of a table"):
            return None
        if not self._has_tables and self._is_end(position, "a key length"):
            return None
        if at + INT_BYTES > len(chunk):
            return None
        (key_length,) = _INT.unpack_from(chunk, at)
        if key_length < 0:
            raise self.damaged(at, "a key length (0 or more)", str(key_length))
        if at + 8 + key_length > len(chunk):
            return None
        (value_length,) = _INT.unpack_from(chunk, at + INT_BYTES + key_length)
        return key_length, max(value_length, -1)

    def _is_end(self, position: int, what: str) -> bool:
        """Tell whether no record begins at a position, by the number that one begins with."""
        if position + INT_BYTES > len(self.chunk):
            return True
        (number,) = _INT.unpack_from(self.chunk, position)
        if number >= 0:
            return False
        if number != _END_MARKER:
            expected = f"{what} (0 or more, or -1 at the end of the file)"
            raise self.damaged(position, expected, str(number))
        self.found_end = True
        return True

    def _check_lengths(self, position: int, key_length: int, value_length: int) -> None:
        if value_length < 0 and self._file.kind == "snapshot":
            at = position + self._head + INT_BYTES + key_length
            raise self.damaged(at, "a value length (0 or more)", str(value_length))

    def _add(
        self, tables: Positions, starts: Positions, keys: Positions, values: Positions
    ) -> None:
        self.count += len(starts)
        self.tables.append(tables)
        self.key_starts.append(starts)
        self.key_lengths.append(keys)
        self.value_lengths.append(values)
