"""What `verify` says of files and the checksums beside them."""

from __future__ import annotations

import json
from pathlib import Path

import google_crc32c
import pytest
from mutations.mutate import files_by_kind

from checkpoint.checkpoints import long_row, lz4, records
from checkpoint.checks.harm import KINDS, STATE_FILE, exchanged, rewrite, verified
from checkpoint.whole import add_checksums, whole
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.checksums import check_checksums
from holdfast_spark.checkpoint.checks.subject import Subject


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_is_held_against_its_checksums(tmp_path: Path, kind: str) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    assert verified(path).sound
    file = files_by_kind(path)[kind][-1]
    before = file.read_bytes()
    # Valid, but for the checksums.
    file.write_bytes(before.replace(b"e", b"E", 1) if b"e" in before else before + b"\0")
    named = [broken for broken in verified(path).broken if broken.path == str(file)]
    assert any("expected the checksums of" in broken.error for broken in named)
    file.unlink()
    left = file.with_name(f".{file.name}.crc")  # is named where the query writes the file anew
    named = [broken for broken in verified(path).broken if broken.path in (str(file), str(left))]
    assert any(f"{file} is gone" in broken.error for broken in named) or kind == "commits"
    assert any(f"{file}, which is not there" in b.error for b in named) == (kind == "commits")


@pytest.mark.parametrize("gone", ["5.delta", ".5.delta.crc", "5.delta.crc"])
def test_files_that_a_query_removes_meanwhile_are_not_missed(path: Path, gone: str) -> None:
    store = path / "state/0/0"
    add_checksums(store / "5.delta")
    number = google_crc32c.value((store / "5.delta").read_bytes())
    (store / "5.delta.crc").write_text(json.dumps({"value": number}))
    subject = Subject(Checkpoint.open(path))
    assert f"state/0/0/{gone}" in subject.entries
    (store / gone).unlink()
    assert [found for found in check_checksums(subject) if gone in str(found.location)] == []


def test_a_file_that_cannot_be_read_is_named(path: Path) -> None:
    file = path / "state/0/0/5.delta"
    add_checksums(file)
    subject = Subject(Checkpoint.open(path))
    assert "state/0/0/5.delta" in subject.entries
    file.unlink()
    file.mkdir()
    (found,) = check_checksums(subject)
    assert str(found.location) == str(file)
    assert "Cannot read" in found.error


def test_checksums_that_are_none_are_named_and_do_not_stop_the_query(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    checksums = path / "state/0/0/.5.delta.crc"
    whole_sums = checksums.read_bytes()
    for damaged in (b"", whole_sums[:5], b"CRC" + whole_sums[3:], whole_sums + bytes(4)):
        checksums.write_bytes(damaged)
        found = verified(path)
        (broken,) = found.broken
        assert ".5.delta.crc" in broken.error
        assert not broken.stops
    # Hadoop reads several checksums at once where it can, and takes none in parts.
    in_parts = (whole_sums + bytes(1), whole_sums + bytes(7))
    for damaged in (whole_sums[:8], whole_sums[:4] + bytes(4) + whole_sums[8:], *in_parts):
        checksums.write_bytes(damaged)
        assert not verified(path).goes_on


def test_files_are_held_against_the_checksums_of_spark(path: Path) -> None:
    file = path / STATE_FILE
    number = google_crc32c.value(file.read_bytes())
    stored = {
        "algorithm": "CRC32C",
        "value": number - (1 << 32),  # Java's ints have a sign
        "mainFileSize": file.stat().st_size,
    }
    checksums = file.with_name("5.delta.crc")
    checksums.write_text(json.dumps(stored))
    assert verified(path).sound
    for damaged in ({**stored, "value": 1}, {**stored, "mainFileSize": 1}, {}):
        checksums.write_text(json.dumps(damaged))
        (broken,) = verified(path).broken
        assert (broken.path, broken.stops) == (str(file), True)


def test_a_snapshot_is_needed_where_older_files_have_wrong_checksums(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    exchanged("state/0/0/.3.snapshot.crc", "state/0/0/.1.delta.crc")(path)
    found = verified(path)
    assert not found.goes_on
    stops = {broken.path: broken.stops for broken in found.broken}
    assert stops[str(path / "state/0/0/3.snapshot")]
    add_checksums(path / "state/0/0/1.delta")
    assert verified(path).goes_on


def test_checksums_of_the_checksums_of_spark_are_needed_with_the_file(path: Path) -> None:
    file = path / STATE_FILE
    stored = {
        "algorithm": "CRC32C",
        "value": google_crc32c.value(file.read_bytes()),
        "mainFileSize": file.stat().st_size,
    }
    checksums = file.with_name("5.delta.crc")
    checksums.write_text(json.dumps(stored))
    add_checksums(checksums)
    assert verified(path).sound
    of_checksums = checksums.with_name(".5.delta.crc.crc")
    of_checksums.write_bytes(of_checksums.read_bytes()[:9])
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(checksums), True)


def test_checksums_of_long_files_are_those_of_their_pieces(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint")
    file = path / STATE_FILE
    rows = records((long_row(key), long_row(7)) for key in (2, 4, 5, 8) * 200)
    rewrite(file, lz4(rows, block_bytes=64))
    add_checksums(file)
    assert verified(path).sound
    changed = bytearray(file.with_name(".5.delta.crc").read_bytes())
    changed[13] ^= 1
    file.with_name(".5.delta.crc").write_bytes(changed)
    (broken,) = verified(path).broken
    assert "bytes 512 to 1024" in broken.error
