"""Records of state files, whole, damaged and cut off."""

from __future__ import annotations

import random
import struct

import google_crc32c
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import Row, long_row, lz4, records
from holdfast_spark.checkpoint.errors import DamagedStateFileError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import Kind, StateFile
from holdfast_spark.checkpoint.rows import records as records_module
from holdfast_spark.checkpoint.rows.records import read_records


def state_file(content: bytes, kind: Kind = "delta") -> StateFile:
    fs = MemoryFileSystem()
    fs.pipe_file("/7.file", content)
    return StateFile(
        location=Location(fs, "/7.file"), kind=kind, version=7, size_bytes=0, modified=None
    )


def read(content: bytes, kind: Kind = "delta", *, row_checksums: bool = False) -> list[Row]:
    found: list[Row] = []
    file = state_file(lz4(content), kind)
    for piece in read_records(file, codec="lz4", row_checksums=row_checksums):
        for key, value, size in zip(
            piece.key_bytes(), piece.value_bytes(), piece.value_lengths, strict=True
        ):
            found.append((key, None if size < 0 else value))
    return found


def random_rows(seed: int) -> list[Row]:
    """Runs of rows of the same length, short ones and long ones, and removals."""
    generator = random.Random(seed)
    rows: list[Row] = []
    for _ in range(30):
        key_words, value_words = generator.randrange(4), generator.randrange(1, 5)
        removal = generator.random() < 0.3
        for _ in range(generator.choice([1, 2, 15, 16, 17, 300, 1000])):
            value = None if removal else generator.randbytes(8 * value_words)
            rows.append((generator.randbytes(8 * key_words), value))
    return rows


@pytest.mark.parametrize("chunk_bytes", [1, 100, 5_000, 1 << 22])
def test_all_records_are_found_however_they_are_cut(
    chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records_module, "_CHUNK_BYTES", chunk_bytes)
    for seed in range(5):
        rows = random_rows(seed)
        assert read(records(rows)) == rows, seed


def test_an_empty_file_has_no_records() -> None:
    assert read(records([])) == []


def test_what_follows_the_end_marker_is_not_looked_at() -> None:
    assert read(records([(long_row(1), long_row(2))]) + b"garbage") == [(long_row(1), long_row(2))]


def test_a_value_loses_what_is_more_than_whole_words() -> None:
    rows: list[Row] = [(long_row(i), long_row(i) + b"more") for i in range(40)]
    assert read(records(rows)) == [(key, long_row(i)) for i, (key, _) in enumerate(rows)]


def test_a_file_that_ends_anywhere_is_damaged_there() -> None:
    content = records([(long_row(i), long_row(i, i)) for i in range(3)])
    for size in range(len(content)):
        with pytest.raises(DamagedStateFileError) as error:
            read(content[:size])
        assert error.value.offset == size
        assert error.value.version == 7


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        (struct.pack(">i", -2), "delta", r"byte 0 .*expected a key length .*found -2"),
        (
            records([(long_row(1), None)]),
            "snapshot",
            r"byte 20 .*expected a value length .*found -1",
        ),
        (
            records([(long_row(1), long_row(2)), (b"short", b"")]),
            "delta",
            r"byte 40 .*key of whole 8-byte words, found 5 bytes",
        ),
        (
            struct.pack(">i", 2**31 - 1) + b"x" * 100,
            "delta",
            r"byte 104 .*expected a whole record or the end marker, found the end of the file",
        ),
    ],
)
def test_what_no_writer_writes_is_damage(content: bytes, kind: Kind, expected: str) -> None:
    with pytest.raises(DamagedStateFileError, match=r"/7\.file \(version 7\) is .*" + expected):
        read(content, kind)


def with_checksum(key: bytes, value: bytes | None) -> Row:
    check = struct.pack("<I", google_crc32c.value(key + (value or b"")))
    return (check + key, None) if value is None else (key, check + value)


def test_row_checksums_are_taken_off() -> None:
    rows = random_rows(8)
    content = records([with_checksum(*row) for row in rows])
    assert read(content, row_checksums=True) == rows


def test_a_wrong_bit_is_found_by_the_checksum() -> None:
    rows: list[Row] = [(long_row(i), None if i % 3 else long_row(i, i)) for i in range(40)]
    content = bytearray(records([with_checksum(*row) for row in rows]))
    content[-13] ^= 1
    with pytest.raises(DamagedStateFileError, match="expected a row with the checksum 0x"):
        read(bytes(content), row_checksums=True)


def test_a_row_too_short_for_a_checksum_is_damage() -> None:
    with pytest.raises(DamagedStateFileError, match=r"begins with a checksum, found 0 bytes"):
        read(records([(long_row(1), b"")]), row_checksums=True)
