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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import google_crc32c
import numpy as np
import numpy.typing as npt

from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import decompress
from holdfast_spark.checkpoint.rows.scan import Positions, Scan

_CHECKSUM_BYTES = 4
# Parsed at a time: enough for numpy to pay, little enough to stay in memory many times over.
_CHUNK_BYTES = 4 << 20


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
    pieces = read_pieces(decompress(file, codec), file, row_checksums=row_checksums)
    return (records for _, records in pieces)


def read_pieces(
    blocks: Iterator[bytes],
    file: StateFile,
    *,
    row_checksums: bool,
    tables_after: int | None = None,
) -> Iterator[tuple[Positions, Records]]:
    """Yield the records of a file, some megabytes at a time, and the table of each.

    Args:
        blocks: the decompressed content from the first record on.
        file: the file.
        row_checksums: whether records carry checksums, which are then checked.
        tables_after: number of bytes of content in front of the records, where the number of a
            table stands in front of each; None for files without.

    Raises:
        DamagedStateFileError: as `read_records`.
    """
    chunk, before, wanted = b"", tables_after or 0, _CHUNK_BYTES
    while True:
        grown = _grow(chunk, blocks, wanted)
        at_end = len(grown) < wanted
        chunk = grown
        scan = Scan(chunk, file, before, has_tables=tables_after is not None)
        scan.run()
        if scan.count:
            yield np.concatenate(scan.tables), _checked(scan, row_checksums)
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


def _found(scan: Scan) -> Records:
    """Return the records found; checksums are still part of keys and values."""
    key_starts = np.concatenate(scan.key_starts)
    key_lengths = np.concatenate(scan.key_lengths)
    return Records(
        memory=scan.chunk,
        key_starts=key_starts,
        key_lengths=key_lengths,
        value_starts=key_starts + key_lengths + 4,
        value_lengths=np.concatenate(scan.value_lengths),
    )


def _checked(scan: Scan, row_checksums: bool) -> Records:
    """Return the records without their checksums, which are checked, in whole 8-byte words."""
    records = _without_checksums(scan) if row_checksums else _found(scan)
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


def _without_checksums(scan: Scan) -> Records:
    records = _found(scan)
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
