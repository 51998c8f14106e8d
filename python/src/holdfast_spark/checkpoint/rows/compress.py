"""Compression of state files, as Spark's codecs read it; `codecs` describes the streams.

Every stream is a header, blocks that are compressed one by one, and an end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import xxhash

from holdfast_spark.checkpoint.rows import codecs

_LZ4_BLOCK_BYTES = 1 << 15
_LZ4_LEVEL = 5  # log2 of the block size, less 10
_SNAPPY_BLOCK_BYTES = 1 << 15
_SNAPPY_VERSIONS = struct.pack(">ii", 1, 1)
_ZSTD_FRAME_BYTES = 1 << 20
_LZF_CHUNK_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True)
class _Stream:
    block_bytes: int
    block: Callable[[bytes], bytes]
    header: bytes = b""
    end: bytes = b""


class Compressor:
    """Compresses the content of a state file as it comes; holds one block; for one thread.

    LZF is written as chunks that are stored, which every reader of LZF takes.

    Args:
        codec: name of the codec as Spark pins it, a short name or the class.
        path: the file, for errors.

    Raises:
        UnknownFormatError: there is no such codec.
    """

    def __init__(self, codec: str, *, path: str) -> None:
        self._stream = _STREAMS[codecs.short_name(codec, path=path)]
        self._header = self._stream.header
        self._rest = b""

    def feed(self, content: bytes) -> bytes:
        """Take content; return what is compressed of it and of what came before."""
        content = self._rest + content
        size = self._stream.block_bytes
        whole = len(content) - len(content) % size
        self._rest = content[whole:]
        blocks = (self._stream.block(content[at : at + size]) for at in range(0, whole, size))
        compressed = b"".join([self._header, *blocks])
        self._header = b""
        return compressed

    def finish(self) -> bytes:
        """Return the rest, compressed, and the end of the stream."""
        last = self._stream.block(self._rest) if self._rest else b""
        return self._header + last + self._stream.end


def compress(content: bytes, codec: str, *, path: str) -> bytes:
    """Return the compressed content of a state file; `Compressor` tells of arguments and errors."""
    compressor = Compressor(codec, path=path)
    return compressor.feed(content) + compressor.finish()


def _lz4_block(block: bytes) -> bytes:
    data: bytes = pa.Codec("lz4_raw").compress(block, asbytes=True)
    method = codecs.LZ4_COMPRESSED
    if len(data) >= len(block):
        data, method = block, codecs.LZ4_STORED
    checksum = xxhash.xxh32_intdigest(block, codecs.LZ4_SEED) & codecs.LZ4_CHECKSUM_MASK
    return _lz4_header(method, len(data), len(block), checksum) + data


def _lz4_header(method: int, size: int, original: int, checksum: int) -> bytes:
    token = method | _LZ4_LEVEL
    return codecs.LZ4_HEADER.pack(codecs.LZ4_MAGIC, token, size, original, checksum)


def _snappy_block(block: bytes) -> bytes:
    data: bytes = pa.Codec("snappy").compress(block, asbytes=True)
    return struct.pack(">i", len(data)) + data


def _zstd_frame(block: bytes) -> bytes:
    frame: bytes = pa.Codec("zstd").compress(block, asbytes=True)
    return frame


def _lzf_chunk(chunk: bytes) -> bytes:
    return codecs.LZF_MAGIC + struct.pack(">BH", 0, len(chunk)) + chunk


_STREAMS = {
    "lz4": _Stream(_LZ4_BLOCK_BYTES, _lz4_block, end=_lz4_header(codecs.LZ4_STORED, 0, 0, 0)),
    "zstd": _Stream(_ZSTD_FRAME_BYTES, _zstd_frame),
    "snappy": _Stream(
        _SNAPPY_BLOCK_BYTES, _snappy_block, header=codecs.SNAPPY_MAGIC + _SNAPPY_VERSIONS
    ),
    "lzf": _Stream(_LZF_CHUNK_BYTES, _lzf_chunk),
}
