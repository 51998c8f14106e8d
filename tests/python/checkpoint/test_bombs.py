"""Files and numbers that claim, or become, more than memory holds."""

from __future__ import annotations

import dataclasses
import json
import struct
import zipfile
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from checkpoint.checkpoints import long_row, records, schema_file
from checkpoint.hostile import edit, peak_of, run
from checkpoint.plans import replanned
from checkpoint.whole import whole
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    DamagedStateFileError,
    MalformedFileError,
    UnreadablePathError,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.rocksdb_zip import count_rows
from holdfast_spark.checkpoint.files.schema_file import read_schema_file
from holdfast_spark.checkpoint.files.state_files import Kind, StateFile
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows import justified
from holdfast_spark.checkpoint.rows import scan as scan_module
from holdfast_spark.checkpoint.rows.records import read_records

Harm = Callable[[Path], object]
# What these commands need for a small checkpoint, and some more.
MODEST = 64 << 20
MEBIBYTE = 1 << 20


def sparse(name: str) -> Harm:
    """Make a file of a tebibyte that takes no disk."""

    def harm(path: Path) -> None:
        with (path / name).open("r+b") as file:
            file.truncate(1 << 40)

    return harm


def deep(name: str) -> Harm:
    def harm(path: Path) -> None:
        (path / name).write_text("v1\n" + '{"a":' * 100_000 + "}" * 100_000)

    return harm


def named(name: str, like: str) -> Harm:
    def harm(path: Path) -> None:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes((path / like).read_bytes())

    return harm


def batch_of(number: int) -> Harm:
    """Go on with a batch of that number, as if all between had been."""

    def harm(path: Path) -> None:
        for log in ("offsets", "commits"):
            (path / log / "4").rename(path / log / str(number))
        for partition in ("0", "1"):
            folder = path / "state/0" / partition
            (folder / "5.delta").rename(folder / f"{number + 1}.delta")

    return harm


def pinned(**settings: str) -> Harm:
    def harm(path: Path) -> None:
        conf = {f"spark.sql.{name.replace('_', '.')}": value for name, value in settings.items()}
        for batch in range(5):
            file = path / f"offsets/{batch}"
            file.write_text(replanned(file.read_text(), lambda plan: plan["conf"].update(conf)))

    return harm


def partitions(number: int) -> Harm:
    def harm(path: Path) -> None:
        def change(metadata: dict[str, object]) -> None:
            stores = metadata["stateStoreInfo"]
            assert isinstance(stores, list)
            stores[0]["numPartitions"] = number

        edit(path / "state/0/_metadata/metadata", change)
        pinned(shuffle_partitions=str(number))(path)

    return harm


def source_at(number: int) -> Harm:
    def harm(path: Path) -> None:
        file = path / "offsets/4"
        *lines, _ = file.read_text().split("\n")
        file.write_text("\n".join([*lines, json.dumps({"logOffset": number})]))

    return harm


LARGEST = (1 << 63) - 1
SPARSE = ("offsets/4", "commits/4", "metadata", "state/0/_metadata/metadata", "sources/0/4")
SPARSE_STATE = ("state/0/0/_metadata/schema", "state/0/0/5.delta", "state/0/0/3.snapshot")
BOMBS: dict[str, Harm] = {
    **{f"{name} of a tebibyte": sparse(name) for name in (*SPARSE, *SPARSE_STATE)},
    **{f"{name} nested": deep(name) for name in SPARSE},
    "a batch that comes last": batch_of(LARGEST - 1),
    "a batch after billions": batch_of(1 << 33),
    "a batch beside": named(f"offsets/{LARGEST}", "offsets/4"),
    "a number too long for one": named(f"offsets/{'9' * 200}", "offsets/4"),
    "a version beside": named(f"state/0/0/{10**18 - 1}.delta", "state/0/0/5.delta"),
    "a snapshot too long for one": named(f"state/0/0/{'9' * 200}.snapshot", "state/0/0/5.delta"),
    "an operator far away": named("state/99999999999/0/5.delta", "state/0/0/5.delta"),
    "a partition far away": named("state/0/2147483647/5.delta", "state/0/0/5.delta"),
    "as many partitions as numbers": partitions((1 << 31) - 1),
    "partitions of five thousand digits": pinned(shuffle_partitions="9" * 5_000),
    "a format of five thousand digits": pinned(
        streaming_aggregation_stateFormatVersion="9" * 5_000
    ),
    "a source far on": source_at(LARGEST),
    "a source that no number holds": source_at(10**100),
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_command_fills_the_memory(name: str, tmp_path: Path) -> None:
    for command in ("inspect", "verify", "repair", "plan"):
        path = whole(tmp_path / command)
        BOMBS[name](path)
        aside = tmp_path / f"{command}-aside"
        assert peak_of(partial(run, command, path, aside)) < MODEST, command


def state_file(folder: Path, content: bytes, kind: Kind = "snapshot") -> StateFile:
    file = folder / f"1.{kind}"
    file.write_bytes(content)
    return StateFile(
        location=Location.of(str(file)),
        kind=kind,
        version=1,
        size_bytes=len(content),
        modified=datetime.now(tz=timezone.utc),
    )


def zeros_in_zstd(head: bytes, mebibytes: int, tail: bytes = b"") -> bytes:
    """Compress much without having it."""
    codec = pa.Codec("zstd")
    block = codec.compress(bytes(MEBIBYTE), asbytes=True)
    return b"".join(
        [codec.compress(head, asbytes=True), *[block] * mebibytes]
        + ([codec.compress(tail, asbytes=True)] if tail else [])
    )


def test_a_record_is_no_longer_than_its_file_bears_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "RECORD_BYTES", 8 * MEBIBYTE)
    monkeypatch.setattr(scan_module, "RATIO", 10)
    content = zeros_in_zstd(struct.pack(">i", 200 * MEBIBYTE), 200)
    file = state_file(tmp_path, content)

    def read() -> None:
        with pytest.raises(DamagedStateFileError, match=r"at byte 0 .* a record of at most") as e:
            list(read_records(file, codec="zstd", row_checksums=False))
        assert (e.value.version, e.value.path) == (1, str(file.location))

    assert peak_of(read) < 16 * MEBIBYTE


def test_a_value_is_no_longer_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "RECORD_BYTES", 8 * MEBIBYTE)
    monkeypatch.setattr(scan_module, "RATIO", 10)
    head = struct.pack(">i", 8) + bytes(8) + struct.pack(">i", (1 << 31) - 1)
    file = state_file(tmp_path, zeros_in_zstd(head, 200))
    with pytest.raises(DamagedStateFileError, match=r"found one of 2,147,483,655 bytes"):
        list(read_records(file, codec="zstd", row_checksums=False))


def test_a_long_record_that_its_file_bears_out_is_read(tmp_path: Path) -> None:
    value = bytes(80 * MEBIBYTE)
    content = records([(long_row(1), value)])
    compressed = state_file(tmp_path, pa.Codec("zstd").compress(content, asbytes=True))
    file = dataclasses.replace(compressed, size_bytes=MEBIBYTE)
    (read,) = read_records(file, codec="zstd", row_checksums=False)
    assert read.value_lengths.tolist() == [len(value)]


def test_the_changes_of_deltas_are_no_more_than_they_bear_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(justified, "HELD_BYTES", 8 * MEBIBYTE)
    monkeypatch.setattr(justified, "RATIO", 10)
    rows = [(long_row(number), bytes(MEBIBYTE)) for number in range(64)]
    content = pa.Codec("zstd").compress(records(rows), asbytes=True)
    file = state_file(tmp_path, content, "delta")

    def read() -> None:
        with pytest.raises(DamagedStateFileError, match="changes of at most"):
            list(replay([file], codec="zstd", row_checksums=False))

    del rows
    assert peak_of(read) < 48 * MEBIBYTE


def test_a_zip_tells_of_no_more_than_text(tmp_path: Path) -> None:
    file = tmp_path / "1.zip"
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("metadata", "w", force_zip64=True) as out,
    ):
        for _ in range(200):
            out.write(b" " * MEBIBYTE)
    found = StateFile(
        location=Location.of(str(file)), kind="zip", version=1, size_bytes=1, modified=None
    )

    def read() -> None:
        with pytest.raises(MalformedFileError, match=r"more than 16,777,216 bytes of metadata"):
            count_rows(found)

    assert peak_of(read) < 80 * MEBIBYTE


@pytest.mark.parametrize("size", [0, 1, 21, 22])
def test_what_is_too_short_for_a_zip_is_damaged(size: int, tmp_path: Path) -> None:
    file = tmp_path / "1.zip"
    file.write_bytes(b"P" * size)
    found = StateFile(
        location=Location.of(str(file)), kind="zip", version=1, size_bytes=size, modified=None
    )
    with pytest.raises(MalformedFileError, match="expected a zip with a file metadata"):
        count_rows(found)


def test_a_line_of_a_log_is_no_longer_than_lines_are(tmp_path: Path) -> None:
    file = tmp_path / "9"
    file.write_bytes(b"v1\n" + b"x" * (3 * MEBIBYTE))
    with pytest.raises(UnreadablePathError, match="a line of more than"):
        list(Location.of(str(file)).lines())


@pytest.mark.parametrize(
    "schema",
    [
        '{"type":"array","elementType":' * 400 + '"long"' + "}" * 400,
        "[" * 200_000,
        '{"type":"struct","fields":[{"name":"a","type":"decimal(99999,2)"}]}',
        '{"type":"struct","fields":[{"name":"a","type":"decimal(' + "9" * 5_000 + ',2)"}]}',
        '{"type":"struct","fields":[{"name":["a"],"type":"long"}]}',
        '{"type":"struct","fields":7}',
        '{"type":"udt","class":"com.example.Evil"}',
    ],
)
def test_a_schema_that_nobody_writes_is_an_error(schema: str, tmp_path: Path) -> None:
    parts = [schema[start : start + 60_000] for start in range(0, len(schema), 60_000)]
    long = struct.pack(">i", len(parts)) + b"".join(
        struct.pack(">H", len(part)) + part.encode() for part in parts
    )
    file = tmp_path / "schema"
    file.write_bytes(struct.pack(">H", 2) + b"v2" + long + long)
    with pytest.raises(CheckpointError, match=str(file)):
        read_schema_file(Location.of(str(file)))


def test_as_many_strings_as_numbers_are_not_made_room_for(tmp_path: Path) -> None:
    file = tmp_path / "schema"
    file.write_bytes(schema_file("{}", "{}")[:4] + struct.pack(">i", (1 << 31) - 1))
    with pytest.raises(MalformedFileError, match="2 bytes at byte 8"):
        read_schema_file(Location.of(str(file)))
