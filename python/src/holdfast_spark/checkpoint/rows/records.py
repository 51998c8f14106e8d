"""The records of delta and snapshot files, many at a time.

Decompressed, a file is a sequence of records and an end marker; ints are big-endian:

    record      | int32 key length | key | int32 value length | value |
    removal     | int32 key length | key | int32 negative |             in deltas only
    end marker  | int32 -1 |

With row checksums a value begins with the CRC-32C of key and value, a removed key with that of the
key, 4 bytes little-endian (Spark's `HDFSBackedStateStoreProvider` and `StateStoreRowChecksum` of
4.3).
Whatever follows the end marker is not looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from holdfast_spark.checkpoint.errors import DamagedStateFileError
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import decompress

Positions: TypeAlias = npt.NDArray[np.int64]

_INT = struct.Struct(">i")
_END_MARKER = -1
_CHECKSUM_BYTES = 4
# Parsed at a time: enough for numpy to pay, little enough to stay in memory many times over.
_CHUNK_BYTES = 4 << 20
# A record is held whole. So long may one be in any file, and in a large file so many times its size
# longer: more than any codec but Zstandard compresses.
RECORD_BYTES = 64 << 20
RATIO = 1_000
# Below this, a run of records of the same length is not worth an array.
_SHORTEST_RUN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Records of a file, as positions in a piece of its content.

    Attributes:
        memory: the bytes that keys and values lie in.
        key_starts: where each key begins.
        key_lengths: bytes of each key.
        value_starts: where each value begins.
        value_lengths: bytes of each value; -1 where the record removes its key.
    """

    memory: bytes
    key_starts: Positions
    key_lengths: Positions
    value_starts: Positions
    value_lengths: Positions

    def __len__(self) -> int:
        return len(self.key_starts)

    @property
    def held_bytes(self) -> int:
        """Bytes of all keys and values."""
        return int(self.key_lengths.sum() + np.maximum(self.value_lengths, 0).sum())

    def key_bytes(self) -> list[bytes]:
        """Return the keys."""
        return _slices(self.memory, self.key_starts, self.key_lengths)

    def value_bytes(self) -> list[bytes]:
        """Return the values; an empty one where the record removes its key."""
        return _slices(self.memory, self.value_starts, np.maximum(self.value_lengths, 0))

    def where(self, kept: npt.NDArray[np.bool_] | Positions) -> Records:
        """Return the records that `kept` is true for, or those that it has the places of."""
        return Records(
            memory=self.memory,
            key_starts=self.key_starts[kept],
            key_lengths=self.key_lengths[kept],
            value_starts=self.value_starts[kept],
            value_lengths=self.value_lengths[kept],
        )

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, bytes]]) -> Records:
        """Make records of keys and values."""
        pieces = [piece for row in rows for piece in row]
        lengths = np.fromiter((len(piece) for piece in pieces), np.int64, len(pieces))
        starts = np.cumsum(lengths) - lengths
        return cls(
            memory=b"".join(pieces),
            key_starts=starts[::2],
            key_lengths=lengths[::2],
            value_starts=starts[1::2],
            value_lengths=lengths[1::2],
        )


def read_records(file: StateFile, *, codec: str | None, row_checksums: bool) -> Iterator[Records]:
    """Yield the records of a delta or snapshot file, some megabytes at a time.

    A record longer than that is held whole, and no longer than the file bears out. What Spark
    reads, it reads: a value whose length is no multiple of 8 loses the rest (files from before
    Spark 2.3).

    Args:
        file: the file.
        codec: the codec that the query's offsets file pins; None for a file that is not compressed.
        row_checksums: whether records carry checksums, which are then checked.

    Raises:
        DamagedStateFileError: the file does not decompress, ends early, holds what no writer writes
            or a row that does not have its checksum.
        UnknownFormatError: there is no such codec.
        UnreadablePathError: the file system refuses the file.
    """
    chunk, before, wanted = b"", 0, _CHUNK_BYTES
    blocks = decompress(file, codec)
    while True:
        grown = _grow(chunk, blocks, wanted)
        at_end = len(grown) < wanted
        chunk = grown
        scan = _Scan(chunk, file, before)
        scan.run()
        if scan.count:
            yield _checked(scan, row_checksums)
        if scan.found_end:
            return
        if at_end:
            raise scan.truncated()
        scan.require_justified()
        # A record that is longer than the chunk has to deliver half of it first.
        wanted = _CHUNK_BYTES if scan.count else 2 * wanted
        chunk, before = chunk[scan.position :], before + scan.position


def _grow(chunk: bytes, blocks: Iterator[bytes], wanted: int) -> bytes:
    pieces, size = [chunk], len(chunk)
    while size < wanted and (block := next(blocks, b"")):
        pieces.append(block)
        size += len(block)
    return b"".join(pieces)


class _Scan:
    """Finds the records in a chunk: runs of equal length at once, others one by one."""

    def __init__(self, chunk: bytes, file: StateFile, before: int) -> None:
        self.chunk = chunk
        self.position = 0
        self.count = 0
        self.found_end = False
        self.key_starts: list[Positions] = []
        self.key_lengths: list[Positions] = []
        self.value_lengths: list[Positions] = []
        self._file = file
        self._before = before

    def run(self) -> None:
        """Go as far as there are whole records, at most to the end marker."""
        while self._run_of_equals() or self._one_by_one():
            pass

    def records(self) -> Records:
        """Return the records found; checksums are still part of keys and values."""
        key_starts = np.concatenate(self.key_starts)
        key_lengths = np.concatenate(self.key_lengths)
        return Records(
            memory=self.chunk,
            key_starts=key_starts,
            key_lengths=key_lengths,
            value_starts=key_starts + key_lengths + 4,
            value_lengths=np.concatenate(self.value_lengths),
        )

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
        sizes, at = [], self.position
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
        size = 8 + key_length + max(value_length, 0)
        room = (len(self.chunk) - self.position) // size
        count = self._equals(key_length, value_length, size, min(room, _SHORTEST_RUN))
        if count < _SHORTEST_RUN:
            return False
        count = self._equals(key_length, value_length, size, room)
        self._check_lengths(self.position, key_length, value_length)
        starts = self.position + 4 + size * np.arange(count, dtype=np.int64)
        self._add(
            starts, np.full(count, key_length, np.int64), np.full(count, value_length, np.int64)
        )
        self.position += count * size
        return True

    def _equals(self, key_length: int, value_length: int, size: int, room: int) -> int:
        """Return how many of the next `room` records have these lengths."""
        offsets = ((self.position, key_length), (self.position + 4 + key_length, value_length))
        equal = np.ones(room, bool)
        for offset, length in offsets:
            found = np.ndarray((room,), ">i4", self.chunk, offset, (size,))
            equal &= found == length
        return room if equal.all() else int(equal.argmin())

    def _one_by_one(self) -> bool:
        """Take a few hundred records one by one; False when there is no whole one left."""
        position, starts, keys, values = self.position, [], [], []
        for _ in range(16 * _SHORTEST_RUN):
            lengths = self._lengths_at(position)
            if lengths is None:
                break
            key_length, value_length = lengths
            end = position + 8 + key_length + max(value_length, 0)
            if end > len(self.chunk):
                break
            self._check_lengths(position, key_length, value_length)
            starts.append(position + 4)
            keys.append(key_length)
            values.append(value_length)
            position = end
        self.position = position
        if starts:
            self._add(*(np.array(column, np.int64) for column in (starts, keys, values)))
        return bool(starts)

    def _lengths_at(self, position: int) -> tuple[int, int] | None:
        """Return the lengths of key and value; None if they are not there, as at the end."""
        chunk = self.chunk
        if position + 4 > len(chunk):
            return None
        (key_length,) = _INT.unpack_from(chunk, position)
        if key_length < 0:
            if key_length != _END_MARKER:
                expected = "a key length (0 or more, or -1 at the end of the file)"
                raise self.damaged(position, expected, str(key_length))
            self.found_end = True
            return None
        if position + 8 + key_length > len(chunk):
            return None
        (value_length,) = _INT.unpack_from(chunk, position + 4 + key_length)
        return key_length, max(value_length, -1)

    def _check_lengths(self, position: int, key_length: int, value_length: int) -> None:
        if value_length < 0 and self._file.kind == "snapshot":
            at = position + 4 + key_length
            raise self.damaged(at, "a value length (0 or more)", str(value_length))

    def _add(self, starts: Positions, keys: Positions, values: Positions) -> None:
        self.count += len(starts)
        self.key_starts.append(starts)
        self.key_lengths.append(keys)
        self.value_lengths.append(values)


def _checked(scan: _Scan, row_checksums: bool) -> Records:
    """Return the records without their checksums, which are checked, in whole 8-byte words."""
    records = _without_checksums(scan) if row_checksums else scan.records()
    broken = np.flatnonzero(records.key_lengths & 7)
    if len(broken):
        first = broken[0]
        raise scan.damaged(
            int(records.key_starts[first]) - 4,
            "a key of whole 8-byte words",
            f"{records.key_lengths[first]} bytes",
        )
    lengths = records.value_lengths
    np.bitwise_and(lengths, ~7, out=lengths, where=lengths >= 0)
    return records


def _without_checksums(scan: _Scan) -> Records:
    records = scan.records()
    removed = records.value_lengths < 0
    holders = np.where(removed, records.key_lengths, records.value_lengths)
    short = np.flatnonzero(holders < _CHECKSUM_BYTES)
    if len(short):
        at = int(records.key_starts[short[0]]) - 4
        raise scan.damaged(at, "a row that begins with a checksum", f"{holders[short[0]]} bytes")
    starts = np.where(removed, records.key_starts, records.value_starts)
    records.key_starts[removed] += _CHECKSUM_BYTES
    records.key_lengths[removed] -= _CHECKSUM_BYTES
    records.value_starts[~removed] += _CHECKSUM_BYTES
    records.value_lengths[~removed] -= _CHECKSUM_BYTES
    stored = np.ndarray((len(scan.chunk) - 3,), "<u4", scan.chunk, 0, (1,))[starts]
    extend = google_crc32c.extend
    computed = np.fromiter(
        (
            extend(extend(0, k), v)
            for k, v in zip(records.key_bytes(), records.value_bytes(), strict=True)
        ),
        np.uint32,
        len(records),
    )
    wrong = np.flatnonzero(stored != computed)
    if len(wrong):
        first = wrong[0]
        raise scan.damaged(
            int(starts[first]),
            f"a row with the checksum {stored[first]:#010x}",
            f"one with {computed[first]:#010x}",
        )
    return records


def _slices(memory: bytes, starts: Positions, lengths: Positions) -> list[bytes]:
    ends = (starts + lengths).tolist()
    return [memory[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
