"""What a file of a store with column families says of itself, and the blocks behind that.

    header     | "HOLDFAST" | int32 format version | kind | flags | string codec | int32 checksum |
    block      | int32 length, 1 to 1,048,576 | int32 checksum | bytes |
    end block  | int32 0 | int32 checksum |

Ints are big-endian, a string is an int32 number of bytes and UTF-8, a checksum a CRC-32C: that of
the header has the bytes before it, that of a block its number, its length and its bytes. `kind` is
`D` or `S`. All blocks together are one stream of the codec (`jvm/FORMAT.md`). No byte is given out
before its checksum is found right.
"""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import google_crc32c

from holdfast_spark.checkpoint.errors import NewerFileError
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import CODECS, Input, decompressed

MAGIC = b"HOLDFAST"
FORMAT_VERSION = 1
KINDS = {"delta": b"D", "snapshot": b"S"}
ROW_CHECKSUMS = 1
LONGEST_BLOCK = 1 << 20
LONGEST_CODEC = 255
INT = struct.Struct(">i")
CHECKSUM = struct.Struct(">I")
BLOCK = struct.Struct(">iI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a file says of itself.

    Attributes:
        codec: short name of the codec of its stream.
        row_checksums: whether its records carry checksums.
    """

    codec: str
    row_checksums: bool

    def encoded(self, kind: str) -> bytes:
        """Return it as it stands in a file that is a `delta` or a `snapshot`."""
        codec = self.codec.encode()
        flags = bytes([ROW_CHECKSUMS if self.row_checksums else 0])
        fields = (INT.pack(FORMAT_VERSION), KINDS[kind], flags, INT.pack(len(codec)), codec)
        header = MAGIC + b"".join(fields)
        return header + CHECKSUM.pack(google_crc32c.value(header))


def is_in_families(file: StateFile) -> bool:
    """Tell whether a file begins as those of stores with column families do.

    Raises:
        UnreadablePathError: the file system refuses the file.
    """
    with file.location.open() as stream:
        return stream.read(len(MAGIC)) == MAGIC


@contextlib.contextmanager
def reading_blocks(file: StateFile) -> Iterator[tuple[Header, Iterator[bytes], Blocks]]:
    """Open a file; give its header, its decompressed content, and the blocks that this is in.

    Raises:
        NewerFileError: a newer Holdfast has written the file.
        DamagedStateFileError: the file is damaged, or none of a store with column families.
        UnreadablePathError: the file system refuses the file.
    """
    with file.location.open() as stream:
        source = _Checked(stream, file)
        header = _read_header(source, file)
        blocks = Blocks(source)
        yield header, decompressed(blocks, file, header.codec), blocks


class _Checked(Input):
    """The bytes of a file of which each is under a checksum."""

    def take(self, size: int, what: str) -> bytes:
        """Take that many bytes."""
        taken = self.take_at_most(size)
        if len(taken) < size:
            raise self.damaged(what, f"{len(taken)} of {size} bytes before the file's end")
        return taken

    def rest(self) -> str:
        """Return what follows, in words; nothing at the end."""
        return "more" if self.stream.read(1) else ""


def _read_header(source: _Checked, file: StateFile) -> Header:
    magic = source.take(len(MAGIC), "the magic HOLDFAST")
    if magic != MAGIC:
        raise source.damaged("the magic HOLDFAST of a file with column families", "other bytes")
    version = source.take(INT.size, "a format version")
    rest = source.take(2 + INT.size, "the kind, the flags and the codec")
    kind, flags, (length,) = rest[:1], rest[1], INT.unpack(rest[2:])
    if not 0 <= length <= LONGEST_CODEC:
        _require_known(version, file)
        raise source.damaged(f"a codec's name of at most {LONGEST_CODEC} bytes", str(length))
    codec = source.take(length, "the codec's name")
    (checksum,) = CHECKSUM.unpack(source.take(CHECKSUM.size, "the checksum of the header"))
    known = google_crc32c.value(MAGIC + INT.pack(FORMAT_VERSION) + rest + codec)
    if checksum == known and version != INT.pack(FORMAT_VERSION):
        # All else says that it is of this version: nobody but damage has written another one.
        raise source.damaged(f"the format version {FORMAT_VERSION}", str(*INT.unpack(version)))
    _require_known(version, file)
    if checksum != known:
        raise source.damaged(f"a header with the checksum {checksum:#010x}", f"{known:#010x}")
    if kind != KINDS[file.kind]:
        raise source.damaged(f"the kind {KINDS[file.kind].decode()}, as its name says", repr(kind))
    if flags & ~ROW_CHECKSUMS:
        raise source.damaged(f"no flags but {ROW_CHECKSUMS}", str(flags))
    name = codec.decode(errors="replace")
    if name not in CODECS:
        path = str(file.location)
        raise NewerFileError(path=path, what="codec", found=name, known=CODECS)
    return Header(codec=name, row_checksums=flags == ROW_CHECKSUMS)


def _require_known(version: bytes, file: StateFile) -> None:
    (found,) = INT.unpack(version)
    if found != FORMAT_VERSION:
        raise NewerFileError(
            path=str(file.location),
            what="format version of stores with column families",
            found=str(found),
            known=[FORMAT_VERSION],
        )


class Blocks(io.RawIOBase):
    """The stream that blocks are pieces of; holds one block."""

    def __init__(self, source: _Checked) -> None:
        super().__init__()
        self._source = source
        self._block = memoryview(b"")
        self._number = 0
        self._ended = False

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Copy bytes of the block at hand, and of the next one if there are none."""
        if not self._block and not self._ended:
            self._next()
        count = min(len(buffer), len(self._block))
        buffer[:count] = self._block[:count]
        self._block = self._block[count:]
        return count

    def finish(self) -> None:
        """Read the rest, which has to end with the end block, as has the file.

        Raises:
            DamagedStateFileError: it does not.
        """
        while not self._ended:
            self._next()
        if more := self._source.rest():
            raise self._source.damaged("the end of the file behind the end block", more)

    def _next(self) -> None:
        number = self._number
        what = f"the length and checksum of block {number}"
        length, checksum = BLOCK.unpack(self._source.take(BLOCK.size, what))
        if not 0 <= length <= LONGEST_BLOCK:
            expected = f"a block {number} of at most {LONGEST_BLOCK:,} bytes"
            raise self._source.damaged(expected, f"one of {length:,}")
        block = self._source.take(length, f"block {number} of {length:,} bytes")
        found = block_checksum(number, block)
        if found != checksum:
            expected = f"a block {number} with the checksum {checksum:#010x}"
            raise self._source.damaged(expected, f"one with {found:#010x}")
        self._block = memoryview(block)
        self._number += 1
        self._ended = not length


def block_checksum(number: int, block: bytes) -> int:
    """Return the checksum of the block of a number."""
    head = google_crc32c.value(INT.pack(number) + INT.pack(len(block)))
    return int(google_crc32c.extend(head, block))
