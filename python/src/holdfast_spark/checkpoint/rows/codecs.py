"""Decompression of state files, as Spark's `CompressionCodec` of 4.3 writes them.

None of the streams but zstd's is the format that the codec's name usually stands for:

    lz4     | "LZ4Block" | token | int32 compressed | int32 original | int32 checksum | data | ...
            little-endian; lz4-java's `LZ4BlockOutputStream`. Token: 0x10 stored, 0x20 compressed,
            plus log2 of the block size less 10. Checksum: 28 bits of XXH32 of the original.
    snappy  | 0x82 "SNAPPY" 0x00 | int32 version | int32 compatible | int32 length | data | ...
            big-endian; snappy-java's `SnappyOutputStream`
    lzf     | "ZV" | 0 | int16 length | data |  or
            | "ZV" | 1 | int16 compressed | int16 original | data | ...
            big-endian; compress-lzf's `LZFOutputStream`
    zstd    Zstandard frames

Each decompressor yields blocks of at most 32 MiB, and no length in a file makes it allocate more.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from typing import IO

import pyarrow as pa
import xxhash

from holdfast_spark._text import cause_text, named
from holdfast_spark.checkpoint.errors import DamagedStateFileError, UnknownFormatError
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows import lzf

LZ4_MAGIC = b"LZ4Block"
LZ4_HEADER = struct.Struct("<8sBIII")
LZ4_STORED, LZ4_COMPRESSED = 0x10, 0x20
LZ4_SEED = 0x9747B28C
LZ4_CHECKSUM_MASK = 0x0FFFFFFF

# A length is written as so many bytes of 255 and one more.
_LZ4_MAX_RATIO = 255

SNAPPY_MAGIC = b"\x82SNAPPY\x00"
_SNAPPY_HEADER_BYTES = len(SNAPPY_MAGIC) + 8
# A copy of 64 bytes takes at least two in the compressed data.
_SNAPPY_MAX_RATIO = 64
_MAX_BLOCK_BYTES = 32 << 20

LZF_MAGIC = b"ZV"

_READ_BYTES = 1 << 20

# What stands there instead may be a part of a row, which no message shows.
_OTHER = "other bytes"


def decompress(file: StateFile, codec: str | None) -> Iterator[bytes]:
    """Yield the decompressed content of a state file, in blocks.

    Args:
        file: the file.
        codec: name of the codec as Spark pins it, a short name or the class; None for a file that
            is not compressed.

    Raises:
        UnknownFormatError: there is no such codec.
        DamagedStateFileError: the file does not decompress.
        UnreadablePathError: the file system refuses the file.
    """
    with file.location.open() as stream:
        yield from decompressed(stream, file, codec)


def decompressed(
    stream: IO[bytes] | io.RawIOBase, file: StateFile, codec: str | None
) -> Iterator[bytes]:
    """Yield the decompressed content of a stream, in blocks; `decompress` tells of the rest.

    Args:
        stream: the compressed bytes.
        file: the file that they are of.
        codec: name of the codec.
    """
    path = str(file.location)
    decompressor = _DECOMPRESSORS[short_name(codec, path=path)][1] if codec else _plain
    return decompressor(Input(stream, file))


class Input:
    """The bytes of a file, taken piece by piece."""

    def __init__(self, stream: IO[bytes] | io.RawIOBase, file: StateFile) -> None:
        self.stream = stream
        self._file = file
        self._position = 0

    def take(self, size: int, what: str) -> bytes:
        """Take that many bytes."""
        taken = self.take_at_most(size)
        if len(taken) < size:
            raise self.damaged(f"{size} bytes of {what}", f"{len(taken)} before the file's end")
        return taken

    def take_at_most(self, size: int) -> bytes:
        """Take that many bytes, fewer at the file's end."""
        taken = self.stream.read(min(size, _READ_BYTES)) or b""
        if 0 < len(taken) < size:
            pieces, left = [taken], size - len(taken)
            # In pieces, since reading makes room for all that is asked for.
            while left and (more := self.stream.read(min(left, _READ_BYTES))):
                pieces.append(more)
                left -= len(more)
            taken = b"".join(pieces)
        self._position += len(taken)
        return taken

    def damaged(self, expected: str, found: str) -> DamagedStateFileError:
        """Return the error about the bytes before the next ones."""
        return DamagedStateFileError(
            path=str(self._file.location),
            version=self._file.version,
            offset=self._position,
            of="the file",
            expected=expected,
            found=found,
        )

    def raw(self, codec: pa.Codec, data: bytes, size: int, name: str) -> bytes:
        """Decompress a block that has to become `size` bytes."""
        try:
            block: bytes = codec.decompress(data, decompressed_size=size, asbytes=True)
        except (OSError, ValueError) as e:
            raise self.damaged(f"a block of {name}", cause_text(e)) from e
        if len(block) != size:
            raise self.damaged(f"a block of {size} bytes", f"one of {len(block)}")
        return block


def _lz4(source: Input) -> Iterator[bytes]:
    codec = pa.Codec("lz4_raw")
    while header := source.take_at_most(LZ4_HEADER.size):
        if len(header) < LZ4_HEADER.size:
            raise source.damaged("the header of an LZ4 block", f"{len(header)} bytes of it")
        magic, token, size, original, checksum = LZ4_HEADER.unpack(header)
        method, limit = token & 0xF0, 1 << ((token & 0x0F) + 10)
        if magic != LZ4_MAGIC or method not in (LZ4_STORED, LZ4_COMPRESSED):
            raise source.damaged("the header of an LZ4 block", _OTHER)
        if original > limit or size > 2 * limit:
            raise source.damaged(f"a block of at most {limit} bytes", f"{original} and {size}")
        if original > _LZ4_MAX_RATIO * size:
            raise source.damaged(f"what {size} bytes can hold", f"a block of {original} bytes")
        is_stored = method == LZ4_STORED
        if size != original and (is_stored or not original):
            raise source.damaged(f"a block of {size} bytes", f"one of {original}")
        data = source.take(size, "an LZ4 block")
        block = data if is_stored or not original else source.raw(codec, data, original, "LZ4")
        if original and xxhash.xxh32_intdigest(block, LZ4_SEED) & LZ4_CHECKSUM_MASK != checksum:
            raise source.damaged(f"an LZ4 block with the checksum {checksum:#x}", "another")
        yield block


def _snappy(source: Input) -> Iterator[bytes]:
    codec = pa.Codec("snappy")
    header = source.take(_SNAPPY_HEADER_BYTES, "a snappy header")
    if not header.startswith(SNAPPY_MAGIC):
        raise source.damaged("a header of snappy-java", _OTHER)
    while prefix := source.take_at_most(4):
        if prefix == SNAPPY_MAGIC[:4]:  # another stream follows
            source.take(_SNAPPY_HEADER_BYTES - 4, "a snappy header")
            continue
        size = int.from_bytes(prefix, "big", signed=True)
        if len(prefix) < 4 or not 0 <= size <= _MAX_BLOCK_BYTES:  # noqa: PLR2004 - an int32
            raise source.damaged("the length of a snappy block", str(size))
        data = source.take(size, "a snappy block")
        original = _snappy_length(data)
        if original > _SNAPPY_MAX_RATIO * size:
            raise source.damaged(f"what {size} bytes can hold", f"a block of {original} bytes")
        yield source.raw(codec, data, original, "snappy")


def _snappy_length(data: bytes) -> int:
    """Return the number of 7-bit digits, lowest first, that a snappy block begins with."""
    length = 0
    for digit, byte in enumerate(data[:5]):
        length |= (byte & 0x7F) << (7 * digit)
        if not byte & 0x80:
            break
    return length


def _lzf(source: Input) -> Iterator[bytes]:
    while header := source.take_at_most(5):
        if len(header) < 5 or header[:2] != LZF_MAGIC or header[2] > 1:  # noqa: PLR2004 - as above
            raise source.damaged("the header of an LZF chunk", _OTHER)
        size = int.from_bytes(header[3:], "big")
        if header[2] == 0:
            yield source.take(size, "an LZF chunk")
            continue
        original = int.from_bytes(source.take(2, "the length of an LZF chunk"), "big")
        try:
            yield lzf.decompress(source.take(size, "an LZF chunk"), original)
        except lzf.InvalidLzfError as e:
            raise source.damaged("a chunk of LZF", cause_text(e)) from e


def _plain(source: Input) -> Iterator[bytes]:
    while block := source.take_at_most(_READ_BYTES):
        yield block


def _zstd(source: Input) -> Iterator[bytes]:
    try:
        with pa.CompressedInputStream(source.stream, "zstd") as content:
            while block := content.read(_READ_BYTES):
                yield block
    except OSError as e:
        raise source.damaged("Zstandard frames", cause_text(e)) from e


_DECOMPRESSORS: dict[str, tuple[str, Callable[[Input], Iterator[bytes]]]] = {
    "lz4": ("org.apache.spark.io.LZ4CompressionCodec", _lz4),
    "zstd": ("org.apache.spark.io.ZStdCompressionCodec", _zstd),
    "snappy": ("org.apache.spark.io.SnappyCompressionCodec", _snappy),
    "lzf": ("org.apache.spark.io.LZFCompressionCodec", _lzf),
}


# Their short names.
CODECS = tuple(_DECOMPRESSORS)


def short_name(codec: str, *, path: str) -> str:
    """Return the short name of a codec, such as `lz4`, for that or its class.

    Raises:
        UnknownFormatError: there is no such codec.
    """
    for name, (class_name, _) in _DECOMPRESSORS.items():
        if codec.lower() == name or codec == class_name:
            return name
    raise UnknownFormatError(path=path, what="codec", found=named(codec), known=_DECOMPRESSORS)
