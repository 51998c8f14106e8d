"""Codecs: streams as Spark writes them, damaged and cut off."""

from __future__ import annotations

import errno
import io
import struct
from collections.abc import Callable

import pyarrow as pa
import pytest
import xxhash
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import LZ4_SEED, lz4
from holdfast_spark.checkpoint.errors import (
    DamagedStateFileError,
    UnansweredError,
    UnknownFormatError,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import decompress
from holdfast_spark.checkpoint.rows.lzf import InvalidLzfError
from holdfast_spark.checkpoint.rows.lzf import decompress as decompress_lzf

CONTENT = b"".join(struct.pack(">iq", 8, i // 3) for i in range(2_000))


def snappy(content: bytes) -> bytes:
    codec, out = pa.Codec("snappy"), [b"\x82SNAPPY\x00", struct.pack(">ii", 1, 1)]
    for start in range(0, len(content), 5_000):
        data = codec.compress(content[start : start + 5_000], asbytes=True)
        out += [struct.pack(">i", len(data)), data]
    return b"".join(out)


def zstd(content: bytes) -> bytes:
    compressed: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    return compressed


def lzf(content: bytes) -> bytes:
    """Chunks, every other one stored, of runs that LZF copies from one byte back."""
    out = []
    for number, start in enumerate(range(0, len(content), 5_000)):
        chunk = content[start : start + 5_000]
        if number % 2:
            out += [b"ZV\x00", struct.pack(">H", len(chunk)), chunk]
        else:
            data = b"".join(
                bytes([len(part) - 1]) + part
                for part in (chunk[i : i + 32] for i in range(0, len(chunk), 32))
            )
            out += [b"ZV\x01", struct.pack(">HH", len(data), len(chunk)), data]
    return b"".join(out)


CODECS: dict[str, Callable[[bytes], bytes]] = {
    "lz4": lz4,
    "snappy": snappy,
    "zstd": zstd,
    "lzf": lzf,
}


def read(content: bytes, codec: str) -> bytes:
    fs = MemoryFileSystem()
    fs.pipe_file("/1.delta", content)
    file = StateFile(
        location=Location(fs, "/1.delta"), kind="delta", version=1, size_bytes=0, modified=None
    )
    return b"".join(decompress(file, codec))


@pytest.mark.parametrize("method", [0x15, 0x25])
@pytest.mark.parametrize("original", [0, 32, 72])
def test_a_block_of_lz4_says_how_long_it_is(method: int, original: int) -> None:
    """As lz4-java has it, which refuses a stored block of another length, and one of none."""
    content = bytes(range(64))
    checksum = xxhash.xxh32_intdigest(content, LZ4_SEED) & 0x0FFFFFFF

    def stored(size: int) -> bytes:
        head = struct.pack("<8sBIII", b"LZ4Block", method, len(content), size, checksum)
        return head + content

    if method == 0x15:
        assert read(stored(64) + lz4(b""), "lz4") == content
    with pytest.raises(DamagedStateFileError, match="expected a block"):
        read(stored(original) + lz4(b""), "lz4")


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_is_decompressed(codec: str) -> None:
    assert read(CODECS[codec](CONTENT), codec) == CONTENT


@pytest.mark.parametrize("codec", CODECS)
def test_two_streams_in_a_row_are_one(codec: str) -> None:
    stream = CODECS[codec](CONTENT)
    assert read(stream + stream, codec) == CONTENT + CONTENT


def damage(content: bytes, codec: str) -> DamagedStateFileError | None:
    """What is wrong with a stream; None if it decompresses."""
    try:
        read(content, codec)
    except DamagedStateFileError as error:
        return error
    return None


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_that_ends_inside_a_block_is_damaged(codec: str) -> None:
    stream = CODECS[codec](CONTENT[:200])
    found = [damage(stream[:size], codec) for size in range(len(stream))]
    assert all(error.offset <= size for size, error in enumerate(found) if error)
    # An lz4 stream may lack its empty last block, and any may be empty.
    assert sum(error is None for error in found) <= 2


@pytest.mark.parametrize("codec", CODECS)
def test_a_wrong_bit_never_escapes_as_another_error(codec: str) -> None:
    stream = CODECS[codec](CONTENT[:300])
    for place in range(len(stream)):
        damaged = bytearray(stream)
        damaged[place] ^= 0x41
        error = damage(bytes(damaged), codec)
        assert error is None or "/1.delta (version 1) is damaged at byte" in str(error)


def test_lz4_blocks_are_checked_against_their_checksum() -> None:
    stream = bytearray(lz4(CONTENT))
    stream[17] ^= 1
    with pytest.raises(DamagedStateFileError, match="LZ4 block with the checksum"):
        read(bytes(stream), "lz4")


def test_no_length_makes_a_block_bigger_than_its_codec_can() -> None:
    header = struct.pack("<8sBIII", b"LZ4Block", 0x25, 10, 2**31 - 1, 0)
    with pytest.raises(DamagedStateFileError, match="a block of at most 32768 bytes"):
        read(header + b"x" * 10, "lz4")


def test_a_codec_is_known_by_its_class_too() -> None:
    assert read(lz4(CONTENT), "org.apache.spark.io.LZ4CompressionCodec") == CONTENT
    with pytest.raises(UnknownFormatError, match=r"codec brotli, and .* lz4, zstd, snappy, lzf"):
        read(b"", "brotli")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x02abc", b"abc"),
        (b"\x02abc\x20\x02", b"abcabc"),
        (b"\x00a\xe0\x0a\x00", b"a" * 20),
        (b"\x01ab\x40\x01", b"ababab"),
    ],
)
def test_lzf_copies_also_what_overlaps(data: bytes, expected: bytes) -> None:
    assert decompress_lzf(data, len(expected)) == expected


@pytest.mark.parametrize("data", [b"\x02ab", b"\x00a\x20", b"\x00a\x20\x05", b"\x02abc\x02abc"])
def test_what_is_no_lzf_is_an_error(data: bytes) -> None:
    with pytest.raises(InvalidLzfError):
        decompress_lzf(data, 3)


@pytest.mark.parametrize("codec", CODECS)
def test_what_cannot_be_read_at_the_moment_is_not_damaged(
    codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 100:
                raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
            return super().read(min(size or 0, 101))

    monkeypatch.setattr(
        MemoryFileSystem, "_open", lambda *_, **__: Broken(CODECS[codec](CONTENT * 10))
    )
    with pytest.raises(
        UnansweredError, match=r"Connection reset by peer\. That need be no damage: "
    ):
        read(b"", codec)
