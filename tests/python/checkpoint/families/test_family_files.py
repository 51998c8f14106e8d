"""Files of stores with column families, read and refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from checkpoint.checkpoints import long_row, lz4
from checkpoint.families.made import (
    Record,
    blocks,
    checksum,
    content,
    family,
    file_bytes,
    header,
    integer,
    part,
    part_key,
    state_file,
    string,
)
from holdfast_spark.checkpoint.errors import CheckpointError, UnknownFormatError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.lists import parts_of, values_of

DEFINED = (family(0, "default"), family(1, "totals"), family(2, "seen", flags=2))
ROWS: list[Record] = [
    (2, long_row(1), long_row(10)),
    (2, long_row(2), long_row(20)),
    (4, long_row(1), part([long_row(1), long_row(2)], parts=2)),
    (5, part_key(long_row(1), 1), part([long_row(3)])),
    (4, long_row(2), part([long_row(4)], parts=1)),
]
Rows = list[tuple[bytes, bytes]]


def rows_of(name: str, *chain: StateFile) -> Rows:
    """The rows of a family in the version that files make, sorted."""
    version = FamilyVersion(chain)
    found = version.named(name)
    assert found is not None, [each.name for each in version.families.values()]
    pieces = (records for _, records in version.rows(found))
    return sorted(
        row for each in pieces for row in zip(each.key_bytes(), each.value_bytes(), strict=True)
    )


def row(key: int, value: int) -> tuple[bytes, bytes]:
    return long_row(key), long_row(value)


def sentence(folder: Path, whole: bytes, name: str = "1.snapshot") -> str:
    """What reading a file says."""
    with pytest.raises(CheckpointError) as error:
        read_all(state_file(folder, name, whole))
    assert type(error.value) is not CheckpointError
    return str(error.value)


def read_all(*chain: StateFile) -> int:
    version = FamilyVersion(chain)
    return sum(
        len(records) for each in version.families.values() for _, records in version.rows(each)
    )


@pytest.mark.parametrize("row_checksums", [False, True])
def test_a_snapshot_and_deltas_make_a_version(tmp_path: Path, *, row_checksums: bool) -> None:
    first = state_file(
        tmp_path,
        "3.snapshot",
        file_bytes("S", ROWS, defined=DEFINED, row_checksums=row_checksums),
    )
    changes: list[Record] = [
        (2, long_row(1), None),
        (2, long_row(3), long_row(30)),
        (5, part_key(long_row(1), 1), None),
        (4, long_row(1), part([long_row(1)], parts=1, kept=1)),
    ]
    second = state_file(tmp_path, "4.delta", file_bytes("D", changes, row_checksums=row_checksums))
    assert rows_of("totals", first) == [row(1, 10), row(2, 20)]
    assert rows_of("seen", first) == [row(1, 1), row(1, 2), row(1, 3), row(2, 4)]
    assert rows_of("totals", first, second) == [row(2, 20), row(3, 30)]
    assert rows_of("seen", first, second) == [row(1, 1), row(2, 4)]
    assert rows_of("default", first, second) == []


def test_the_values_of_a_list_stay_in_their_order(tmp_path: Path) -> None:
    parts: list[Record] = [
        (5, part_key(long_row(1), 2), part([long_row(0)])),
        (5, part_key(long_row(1), 1), part([long_row(7), long_row(5)])),
        (4, long_row(1), part([long_row(9)], parts=3)),
    ]
    file = state_file(tmp_path, "1.snapshot", file_bytes("S", parts, defined=DEFINED))
    version = FamilyVersion([file])
    ((_, key, values),) = version.lists(version.families[2])
    assert (key, values) == (long_row(1), [long_row(n) for n in (9, 7, 5, 0)])


def test_a_list_may_begin_with_a_part_without_values(tmp_path: Path) -> None:
    large = long_row(9) * 100
    records: list[Record] = [
        (4, long_row(1), part([], parts=3)),
        (5, part_key(long_row(1), 1), part([large])),
        (5, part_key(long_row(1), 2), part([long_row(7)])),
        # As Holdfast wrote them before its first release.
        (4, long_row(2), part([large, long_row(5)], parts=1)),
    ]
    file = state_file(tmp_path, "1.snapshot", file_bytes("S", records, defined=DEFINED))
    version = FamilyVersion([file])
    lists = {key: values for _, key, values in version.lists(version.families[2])}
    assert lists == {long_row(1): [large, long_row(7)], long_row(2): [large, long_row(5)]}


@pytest.mark.parametrize(
    "record",
    [(4, long_row(1), part([], parts=1)), (5, part_key(long_row(1), 1), part([], parts=0))],
)
def test_no_other_part_of_a_list_is_without_values(tmp_path: Path, record: Record) -> None:
    whole = file_bytes("S", [record], defined=DEFINED)
    assert "0 values of whole words in a part of 16 bytes" in sentence(tmp_path, whole)


@pytest.mark.parametrize(
    ("sizes", "cut"),
    [
        ([8], [1]),
        ([1000], [1]),
        ([1008], [0, 1]),
        ([1008, 8, 8], [0, 1, 2]),
        ([8, 1008, 8], [1, 1, 1]),
        ([496, 496, 8], [2, 1]),
        ([3000, 3000], [0, 1, 1]),
    ],
)
def test_lists_are_cut_as_a_store_cuts_them(sizes: list[int], cut: list[int]) -> None:
    values = [bytes([number]) * size for number, size in enumerate(sizes)]
    records = parts_of(b"key", values)
    found = [
        values_of(value, is_first=not number, where="a file")
        for number, (_, value) in enumerate(records)
    ]
    assert [len(in_part) for _, in_part in found] == cut
    assert [value for _, in_part in found for value in in_part] == values
    assert [told for told, _ in found] == [len(cut)] + [0] * (len(cut) - 1)
    assert [key for key, _ in records] == [
        b"key" if not number else part_key(b"key", number) for number in range(len(cut))
    ]


def test_a_removed_family_takes_its_rows_and_gives_its_id_away(tmp_path: Path) -> None:
    first = state_file(tmp_path, "1.snapshot", file_bytes("S", ROWS, defined=DEFINED))
    other = family(1, "others")
    changes = file_bytes("D", [(2, long_row(9), long_row(9))], removed=[1], defined=[other])
    second = state_file(tmp_path, "2.delta", changes)
    assert FamilyVersion([first, second]).named("totals") is None
    assert rows_of("others", first, second) == [row(9, 9)]


def test_a_family_that_is_defined_anew_keeps_its_rows(tmp_path: Path) -> None:
    first = state_file(tmp_path, "1.snapshot", file_bytes("S", ROWS, defined=DEFINED))
    again = file_bytes("D", [], defined=[family(1, "totals", flags=1)])
    second = state_file(tmp_path, "2.delta", again)
    assert rows_of("totals", first, second) == [row(1, 10), row(2, 20)]
    assert FamilyVersion([first, second]).families[1].is_internal


def test_a_value_that_has_got_other_columns_alone_is_one_as_any_other(tmp_path: Path) -> None:
    first = state_file(tmp_path, "1.snapshot", file_bytes("S", ROWS, defined=DEFINED))
    marked: list[Record] = [(2 + 2**30, long_row(1), long_row(11)), (2, long_row(3), long_row(30))]
    second = state_file(tmp_path, "2.delta", file_bytes("D", marked))
    assert rows_of("totals", first, second) == [row(1, 11), row(2, 20), row(3, 30)]


def test_what_only_deltas_say_is_refused_in_a_snapshot(tmp_path: Path) -> None:
    marked: list[Record] = [(2 + 2**30, long_row(1), long_row(11))]
    whole = file_bytes("S", marked, defined=DEFINED)
    assert f"found 1 of table {2 + 2**30}" in sentence(tmp_path, whole)


@pytest.mark.parametrize("row_checksums", [False, True])
def test_every_flipped_byte_is_refused(tmp_path: Path, *, row_checksums: bool) -> None:
    whole = file_bytes("S", ROWS, defined=DEFINED, row_checksums=row_checksums)
    for at in range(len(whole)):
        for bits in (0x01, 0x80, 0xFF):
            broken = whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :]
            assert "1.snapshot (version 1) is damaged at byte " in sentence(tmp_path, broken)


def test_every_truncated_prefix_is_refused(tmp_path: Path) -> None:
    whole = file_bytes("S", ROWS, defined=DEFINED)
    for length in range(len(whole)):
        assert " is damaged at byte " in sentence(tmp_path, whole[:length])


def test_what_follows_the_end_block_is_refused(tmp_path: Path) -> None:
    whole = file_bytes("S", ROWS, defined=DEFINED)
    assert "the end of the file behind the end block, found more" in sentence(
        tmp_path, whole + b"\0"
    )


def test_a_newer_format_version_is_refused_by_name(tmp_path: Path) -> None:
    file = state_file(tmp_path, "1.delta", header("D", version=2) + b"whatever that has")
    with pytest.raises(UnknownFormatError, match=r"1\.delta has the format version") as error:
        read_all(file)
    assert "families 2, and this version of Holdfast knows 1: use a newer one" in str(error.value)


def test_what_no_writer_writes_is_refused(tmp_path: Path) -> None:
    inner = lz4(content(ROWS, defined=DEFINED))
    whole = blocks(inner)
    assert "the kind S, as its name says" in sentence(tmp_path, header("D") + whole)
    assert "no flags but 1, found 6" in sentence(tmp_path, header("S", flags=6) + whole)
    assert "the codec brotli" in sentence(tmp_path, header("S", codec="brotli") + whole)
    long_codec = header("S", codec="x" * 256)
    assert "a codec's name of at most 255 bytes" in sentence(tmp_path, long_codec)
    assert "the magic HOLDFAST" in sentence(tmp_path, header("S", magic=b"HOLDBACK") + whole)
    too_long = integer(1 << 21) + checksum(b"")
    assert "a block 0 of at most 1,048,576 bytes" in sentence(tmp_path, header("S") + too_long)


@pytest.mark.parametrize(
    ("records", "defined", "removed", "said"),
    [
        ([(6, long_row(1), long_row(1))], DEFINED, [], "found 1 of table 6"),
        ([(3, part_key(long_row(1), 1), part([long_row(1)]))], DEFINED, [], "1 of table 3"),
        ([], [family(1, "a"), family(1, "b")], [], "families of different ids"),
        ([], [family(1, "a"), family(2, "a")], [], "several named 'a'"),
        ([], [family(1, "a", flags=4)], [], "flags of a family that are known"),
        ([], [family(70_000, "a")], [], "the id of a family, 0 to 65535, found 70000"),
        ([], [], [1], "a snapshot that removes no families"),
        ([(2, long_row(1), None)], DEFINED, [], "a value length"),
        ([(-2, long_row(1), long_row(1))], DEFINED, [], "the number of a table"),
        ([(4, long_row(1), part([], parts=1))], DEFINED, [], "does not fit its schema"),
        ([(4, long_row(1), part([long_row(1)]))], DEFINED, [], "a list of 1 part or more"),
        ([(4, long_row(1), part([long_row(1)], parts=2))], DEFINED, [], "a list of 2 parts"),
        ([(5, part_key(long_row(1), 1), part([b""]))], DEFINED, [], "a known number of parts"),
        ([(5, part_key(long_row(1), 0), part([b""]))], DEFINED, [], "1 or more, found 0"),
        ([(4, long_row(1), part([b"1234567"], parts=1))], DEFINED, [], "of whole words"),
    ],
)
def test_content_that_no_writer_writes_is_refused(
    tmp_path: Path,
    records: list[Record],
    defined: list[bytes],
    removed: list[int],
    said: str,
) -> None:
    inner = content(records, defined=defined, removed=removed)
    assert said in sentence(tmp_path, header("S") + blocks(lz4(inner)))


def test_a_delta_removes_no_family_that_is_not_there(tmp_path: Path) -> None:
    for gone in (0, 7):
        whole = file_bytes("D", [], defined=[family(0, "default")], removed=[gone])
        assert f"that can be removed, found the id {gone}" in sentence(tmp_path, whole, "1.delta")


def test_families_that_promise_more_than_is_there_take_no_memory(tmp_path: Path) -> None:
    many = integer(0) + integer(65_536)
    assert "the end of the content" in sentence(tmp_path, header("S") + blocks(lz4(many)))
    long_name = integer(0) + integer(1) + integer(1) + b"\0" + integer(1 << 24)
    assert "the end of the content" in sentence(tmp_path, header("S") + blocks(lz4(long_name)))
    longer = integer(0) + integer(1) + integer(1) + b"\0" + integer(1 << 30)
    assert "of at most 16,777,216 bytes" in sentence(tmp_path, header("S") + blocks(lz4(longer)))


@pytest.mark.parametrize("codec", ["zstd", "snappy"])
def test_a_codec_meets_damage_of_its_blocks_as_that(tmp_path: Path, codec: str) -> None:
    inner = content(ROWS, defined=DEFINED)
    stream = pa.Codec(codec).compress(inner, asbytes=True)
    if codec == "snappy":
        stream = b"\x82SNAPPY\0" + integer(1) + integer(1) + integer(len(stream)) + stream
    whole = header("S", codec=codec) + blocks(stream)
    assert read_all(state_file(tmp_path, "1.snapshot", whole)) == 6
    for at in range(len(header("S", codec=codec)), len(whole)):
        broken = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        assert " block " in sentence(tmp_path, broken)


def test_names_are_text(tmp_path: Path) -> None:
    broken = family(1, "ab").replace(b"ab", b"\xff\xfe")
    assert "the name of a family" in sentence(
        tmp_path, header("S") + blocks(lz4(content([], defined=[broken])))
    )
    assert string("é") == b"\0\0\0\2\xc3\xa9"
