"""Snapshots of stores with column families, written as they come; `blocks` has the layout."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO

from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PinnedSettings
from holdfast_spark.checkpoint.rows.blocks import BLOCK, Header, block_checksum
from holdfast_spark.checkpoint.rows.codecs import short_name
from holdfast_spark.checkpoint.rows.compress import Compressor
from holdfast_spark.checkpoint.rows.encoding import END_MARKER
from holdfast_spark.checkpoint.rows.families import Families, encode_families

_BLOCK_BYTES = 1 << 16


class FamilySnapshotWriter:
    """Writes the records of a snapshot as they come; holds one block; for one thread.

    Args:
        stream: the file.
        header: what the file is to say of itself.
        families: the families of the version, by their ids.
        path: path of the file, for errors.
    """

    def __init__(self, stream: IO[bytes], header: Header, families: Families, *, path: str) -> None:
        self._stream = stream
        self._compressor = Compressor(header.codec, path=path)
        self._rest = b""
        self._number = 0
        stream.write(header.encoded("snapshot"))
        self.write(encode_families(families))

    def write(self, encoded: bytes) -> None:
        """Write records that `encode` has encoded, with the number of their table."""
        self._add(self._compressor.feed(encoded))

    def finish(self) -> None:
        """Write the end marker and the end block; the file is still open."""
        self.write(END_MARKER)
        self._add(self._compressor.finish())
        if self._rest:
            self._block(self._rest)
        self._block(b"")

    def _add(self, compressed: bytes) -> None:
        pending = self._rest + compressed
        whole = len(pending) - len(pending) % _BLOCK_BYTES
        for at in range(0, whole, _BLOCK_BYTES):
            self._block(pending[at : at + _BLOCK_BYTES])
        self._rest = pending[whole:]

    def _block(self, block: bytes) -> None:
        self._stream.write(BLOCK.pack(len(block), block_checksum(self._number, block)) + block)
        self._number += 1


@contextlib.contextmanager
def writing_family_snapshot(
    file: Location, settings: PinnedSettings, families: Families
) -> Iterator[FamilySnapshotWriter]:
    """Open a new snapshot, which is whole and on disk when the context ends without an error.

    Args:
        file: where it is to be.
        settings: what the query is bound to, which tells codec and row checksums.
        families: the families of the version, by their ids.

    Raises:
        UnknownFormatError: the query's codec is unknown.
        UnreadablePathError: the file system refuses the file.
    """
    path = str(file)
    codec = short_name(settings.codec, path=path)
    header = Header(codec=codec, row_checksums=settings.row_checksums)
    with file.writing() as stream:
        writer = FamilySnapshotWriter(stream, header, families, path=path)
        yield writer
        writer.finish()
