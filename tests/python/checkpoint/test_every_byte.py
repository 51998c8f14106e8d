"""State files of every codec with every byte wrong, cut anywhere, and with the largest lengths."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import google_crc32c
import pyarrow as pa
import pytest

from checkpoint.budget import THOROUGH
from checkpoint.checkpoints import AT_ONCE, Row, long_row, records, row
from checkpoint.hostile import peak_of
from checkpoint.rows.test_codecs import CODECS
from checkpoint.rows.test_records import with_checksum
from checkpoint.whole import add_checksums, whole
from holdfast_spark.checkpoint import Checkpoint, read_rows
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, DamagedStateFileError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import Kind, StateFile
from holdfast_spark.checkpoint.rows.records import read_records

ROWS: dict[Kind, list[Row]] = {
    "delta": [row(1, 10), row(2, None), row(300, 3), (long_row(4), long_row(5, None, 7))],
    "snapshot": [row(1, 10), (long_row(2), b""), (long_row(4), bytes(64))],
}
WRONG = (0x01, 0x80, 0xFF) if THOROUGH else (0x81,)
# What a length may be at most, and at least; and what is nearly a length.
LENGTHS: tuple[int, ...] = ((1 << 31) - 1, -2, 1 << 24)
LENGTHS += ((1 << 31) - 8, -(1 << 31), 1 << 30) if THOROUGH else ()
# A block, a table of the codec and the error.
MODEST = 6 << 20

Read = Callable[[bytes], list[Row] | DamagedStateFileError]


def reader(folder: Path, kind: Kind, codec: str, *, row_checksums: bool) -> Read:
    path = folder / f"7.{kind}"

    def read(content: bytes) -> list[Row] | DamagedStateFileError:
        path.write_bytes(content)
        file = StateFile(
            location=Location.of(str(path)),
            kind=kind,
            version=7,
            size_bytes=len(content),
            modified=None,
        )
        found: list[Row] = []
        try:
            for piece in read_records(file, codec=codec, row_checksums=row_checksums):
                values, lengths = piece.value_bytes(), piece.value_lengths.tolist()
                found += [
                    (key, None if size < 0 else value)
                    for key, value, size in zip(piece.key_bytes(), values, lengths, strict=True)
                ]
        except DamagedStateFileError as error:
            # Without the frames, which hold what was read.
            return error.with_traceback(None)
        return found

    return read


def content_of(kind: Kind, *, row_checksums: bool) -> bytes:
    return records([with_checksum(*each) for each in ROWS[kind]] if row_checksums else ROWS[kind])


def wrong(content: bytes) -> Iterator[bytes]:
    """Yield it with each byte wrong in some ways, and cut behind each."""
    for place in range(len(content)):
        for bits in WRONG:
            yield content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]
        yield content[:place]


def with_lengths(content: bytes, order: str) -> Iterator[bytes]:
    """Yield it with each four bytes replaced by the largest lengths and the smallest."""
    for place in range(0, len(content) - 3, 1 if THOROUGH else 2):
        for length in LENGTHS:
            yield content[:place] + struct.pack(f"{order}i", length) + content[place + 4 :]


each_kind = pytest.mark.parametrize("kind", ROWS)


@each_kind
@pytest.mark.parametrize("codec", CODECS)
def test_what_has_checksums_is_right_or_damaged(codec: str, kind: Kind, tmp_path: Path) -> None:
    """With checksums in its rows, as Spark 4.1 and later write them, or in the blocks of LZ4."""
    row_checksums = codec != "lz4"
    read = reader(tmp_path, kind, codec, row_checksums=row_checksums)
    stream = CODECS[codec](content_of(kind, row_checksums=row_checksums))
    outcomes = [read(damaged) for damaged in wrong(stream)]
    for error in outcomes:
        if isinstance(error, DamagedStateFileError):
            assert "(version 7) is damaged at byte" in str(error)
            assert error.path.endswith(f"7.{kind}")
            assert error.version == 7
    found = [rows for rows in outcomes if not isinstance(rows, DamagedStateFileError)]
    # A bit that is wrong behind the end marker, or in a reserved field, is none of a row's.
    assert all(rows in (ROWS[kind], _none_or_less(rows, kind)) for rows in found)
    assert len(found) < len(outcomes) // 4


def _none_or_less(rows: list[Row], kind: Kind) -> list[Row]:
    """Return what is left of the rows where the end marker has come early: it has no checksum."""
    wanted = ROWS[kind]
    return wanted[: len(rows)]


@each_kind
@pytest.mark.parametrize("codec", CODECS)
def test_whatever_is_wrong_is_told_in_bounded_memory(
    codec: str, kind: Kind, tmp_path: Path
) -> None:
    read = reader(tmp_path, kind, codec, row_checksums=False)
    compress = CODECS[codec]
    content = content_of(kind, row_checksums=False)
    streams = [
        *with_lengths(compress(content), "<"),
        *with_lengths(compress(content), ">"),
        *(compress(each) for each in with_lengths(content, ">")),
        *(compress(content[:size]) for size in range(len(content))),
    ]
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    most = max(streams, key=lambda stream: peak_of(lambda: read(stream)))
    assert peak_of(lambda: read(most)) < MODEST
    assert pool.bytes_allocated() == before


@each_kind
def test_a_cut_file_without_checksums_is_damaged(kind: Kind, tmp_path: Path) -> None:
    content = content_of(kind, row_checksums=False)
    for codec, compress in CODECS.items():
        read = reader(tmp_path, kind, codec, row_checksums=False)
        for size in range(len(content)):
            found = read(compress(content[:size]))
            assert isinstance(found, DamagedStateFileError), (codec, size)
            assert found.offset <= size, (codec, size)


def recompressed(folder: Path, codec: str) -> Path:
    """A checkpoint of snappy, LZF or Zstandard without checksums in its rows, but beside them."""
    whole(folder)
    for file in folder.glob("offsets/*"):
        text = file.read_text().replace(
            '"conf": {',
            f'"conf": {{"spark.sql.streaming.stateStore.compression.codec": "{codec}", ',
        )
        file.write_text(text)
    for kind in ("delta", "snapshot"):
        for file in folder.glob(f"state/0/*/*.{kind}"):
            state = StateFile(
                location=Location.of(str(file)),
                kind="delta",
                version=1,
                size_bytes=9,
                modified=None,
            )
            rows: list[Row] = [
                each
                for piece in read_records(state, codec="lz4", row_checksums=False)
                for each in zip(piece.key_bytes(), piece.value_bytes(), strict=True)
            ]
            file.write_bytes(CODECS[codec](records(rows)))
    for file in [each for each in folder.rglob("*") if each.is_file()]:
        add_checksums(file)
    return folder


def rows_of(path: Path) -> set[tuple[int, int, int]]:
    pieces = read_rows(Checkpoint.open(str(path)))
    return {
        (each["partition_id"], each["key"]["k"], each["value"]["n"])
        for piece in pieces
        for each in piece.to_pylist()
    }


@pytest.mark.parametrize("codec", ["lzf", "snappy", "zstd"])
def test_checksums_beside_a_file_are_obeyed_by_whatever_reads_rows(
    codec: str, tmp_path: Path
) -> None:
    path = recompressed(tmp_path / "c", codec)
    wanted = rows_of(path)
    generator = random.Random(7)
    for name in ("state/0/0/3.snapshot", "state/0/1/5.delta"):
        file = path / name
        content = file.read_bytes()
        for place in generator.sample(range(len(content)), 12 if THOROUGH else 3):
            damaged = content[:place] + bytes([content[place] ^ 0x04]) + content[place + 1 :]
            file.write_bytes(damaged)
            assert not verify_checkpoint(Checkpoint.open(str(path))).sound
            for use in (
                lambda: rows_of(path),
                lambda: make_savepoint(Checkpoint.open(str(path)), tmp_path / "copy"),
                lambda: repartition(Checkpoint.open(str(path)), 3, apply=True, settled=AT_ONCE),
            ):
                with pytest.raises(CheckpointError, match=name):
                    use()
        file.write_bytes(content)
    assert rows_of(path) == wanted


def test_a_savepoint_takes_no_log_that_spark_would_refuse(tmp_path: Path) -> None:
    path = whole(tmp_path / "c", checksums=True)
    file = path / "offsets/3"
    file.write_bytes(
        file.read_bytes().replace(b'"batchWatermarkMs": 300', b'"batchWatermarkMs": 301')
    )
    with pytest.raises(CheckpointError, match="offsets/3 is damaged: expected bytes with the"):
        make_savepoint(Checkpoint.open(str(path)), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_the_checksums_that_spark_keeps_of_whole_files_are_obeyed_too(tmp_path: Path) -> None:
    path = whole(tmp_path / "c")
    file = path / "state/0/1/5.delta"
    value = google_crc32c.value(file.read_bytes())
    text = '{"algorithm":"CRC32C","value":%d,"mainFileSize":%d}'
    sums = file.with_name("5.delta.crc")
    sums.write_text(text % (value, file.stat().st_size))
    assert rows_of(path)
    sums.write_text(text % (value ^ 1, file.stat().st_size))
    with pytest.raises(DamagedStateFileError, match=r"5\.delta \(version 5\) is damaged at byte 0"):
        rows_of(path)
