"""Compression of state files, as Spark's codecs read it; `codecs` describes the streams."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pyarrow as pa
import xxhash

from holdfast.checkpoint import codecs

_LZ4_BLOCK_BYTES = 1 << 15
_LZ4_LEVEL = 5  # log2 of the block size, less 10
_SNAPPY_BLOCK_BYTES = 1 << 15
_SNAPPY_VERSIONS = struct.pack(">ii", 1, 1)
_LZF_CHUNK_BYTES = 0xFFFF


def compress(content: bytes, codec: str, *, path: str) -> bytes:
    """Return the compressed content of a state file.

    LZF is written as chunks that are stored, which every reader of LZF takes.

    Args:
        content: the records and the end marker.
        codec: name of the codec as Spark pins it, a short name or the class.
        path: the file, for errors.

    Raises:
        UnknownFormatError: there is no such codec.
    """
    return b"".join(_COMPRESSORS[codecs.short_name(codec, path=path)](content))


def _lz4(content: bytes) -> Iterator[bytes]:
    codec = pa.Codec("lz4_raw")
    for block in _blocks(content, _LZ4_BLOCK_BYTES):
        data, method = codec.compress(block, asbytes=True), codecs.LZ4_COMPRESSED
        if len(data) >= len(block):
            data, method = block, codecs.LZ4_STORED
        checksum = xxhash.xxh32_intdigest(block, codecs.LZ4_SEED) & codecs.LZ4_CHECKSUM_MASK
        yield _lz4_header(method, len(data), len(block), checksum)
        yield data
    yield _lz4_header(codecs.LZ4_STORED, 0, 0, 0)


def _lz4_header(method: int, size: int, original: int, checksum: int) -> bytes:
    token = method | _LZ4_LEVEL
    return codecs.LZ4_HEADER.pack(codecs.LZ4_MAGIC, token, size, original, checksum)


def _snappy(content: bytes) -> Iterator[bytes]:
    codec = pa.Codec("snappy")
    yield codecs.SNAPPY_MAGIC + _SNAPPY_VERSIONS
    for block in _blocks(content, _SNAPPY_BLOCK_BYTES):
        data = codec.compress(block, asbytes=True)
        yield struct.pack(">i", len(data))
        yield data


def _zstd(content: bytes) -> Iterator[bytes]:
    yield pa.Codec("zstd").compress(content, asbytes=True)


def _lzf(content: bytes) -> Iterator[bytes]:
    for chunk in _blocks(content, _LZF_CHUNK_BYTES):
        yield codecs.LZF_MAGIC + struct.pack(">BH", 0, len(chunk))
        yield chunk


def _blocks(content: bytes, size: int) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


_COMPRESSORS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "lz4": _lz4,
    "zstd": _zstd,
    "snappy": _snappy,
    "lzf": _lzf,
}
