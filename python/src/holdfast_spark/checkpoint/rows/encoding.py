"""The rows of snapshots as both providers write them, many at a time; `records` has the layout."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import IO

import google_crc32c
import numpy as np
import numpy.typing as npt

from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.rows.compress import Compressor
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.scan import Positions

END_MARKER = struct.pack(">i", -1)
_INT_BYTES = 4


class SnapshotWriter:
    """Writes the rows of a snapshot as they come; holds one compressed block; for one thread.

    Args:
        stream: the file.
        settings: the settings of the query, which tell codec and checksums.
        path: path of the file, for errors.
    """

    def __init__(self, stream: IO[bytes], settings: PinnedSettings, *, path: str) -> None:
        self._stream = stream
        self._compressor = Compressor(settings.codec, path=path)

    def write(self, encoded: bytes) -> None:
        """Write rows that `encode` has encoded."""
        self._stream.write(self._compressor.feed(encoded))

    def finish(self) -> None:
        """Write the end marker; the file is still open."""
        self.write(END_MARKER)
        self._stream.write(self._compressor.finish())


@contextlib.contextmanager
def writing_snapshot(file: Location, settings: PinnedSettings) -> Iterator[SnapshotWriter]:
    """Open a new snapshot, which is whole and on disk when the context ends without an error.

    Raises:
        UnknownFormatError: the query's codec is unknown.
        UnreadablePathError: the file system refuses the file.
    """
    with file.writing() as stream:
        writer = SnapshotWriter(stream, settings, path=str(file))
        yield writer
        writer.finish()


def encode(
    records: Records, *, row_checksums: bool, table: int | None = None
) -> tuple[bytes, Positions]:
    """Return rows as they stand in a decompressed snapshot, and where each ends.

    Args:
        records: rows, no removals.
        row_checksums: whether values are to begin with the CRC-32C of key and value.
        table: number of their table, in a store with column families; None in others.
    """
    count, checksum_bytes = len(records), _INT_BYTES if row_checksums else 0
    checksums = _checksums(records) if row_checksums else np.empty(0, "<u4")
    heads = np.stack([records.key_lengths, records.value_lengths + checksum_bytes]).astype(">i4")
    number = struct.pack(">i", table or 0)
    ints = np.frombuffer(heads.tobytes() + checksums.tobytes() + number, np.uint8)
    memory = np.concatenate([np.frombuffer(records.memory, np.uint8), ints])
    place = len(records.memory) + _INT_BYTES * np.arange(3 * count, dtype=np.int64)
    four = np.full(count, _INT_BYTES, np.int64)
    starts, lengths = [place[:count], records.key_starts], [four, records.key_lengths]
    if table is not None:
        starts.insert(0, np.full(count, len(memory) - _INT_BYTES, np.int64))
        lengths.insert(0, four)
    starts.append(place[count : 2 * count])
    lengths.append(four)
    if row_checksums:
        starts.append(place[2 * count :])
        lengths.append(four)
    starts.append(records.value_starts)
    lengths.append(records.value_lengths)
    pieces = np.stack(lengths, axis=1)
    content = _gather(memory, np.stack(starts, axis=1).ravel(), pieces.ravel())
    return content.tobytes(), np.cumsum(pieces.sum(axis=1))


def _checksums(records: Records) -> npt.NDArray[np.uint32]:
    extend = google_crc32c.extend
    pairs = zip(records.key_bytes(), records.value_bytes(), strict=True)
    return np.fromiter((extend(extend(0, key), value) for key, value in pairs), "<u4", len(records))


def _gather(
    memory: npt.NDArray[np.uint8], starts: Positions, lengths: Positions
) -> npt.NDArray[np.uint8]:
    """Return pieces of memory, one behind the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    places = np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
    gathered: npt.NDArray[np.uint8] = memory[places]
    return gathered
