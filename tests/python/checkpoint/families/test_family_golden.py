"""The golden stores with column families, which the JVM has written, say what they have to."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from checkpoint.families.test_family_files import read_all
from harness import ROOT
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles, group_by_store
from holdfast_spark.checkpoint.rows.blocks import reading_blocks
from holdfast_spark.checkpoint.rows.families import Family
from holdfast_spark.checkpoint.rows.unsafe_row import RowDecoder

GOLDEN = ROOT / "tests" / "golden-families"
FOLDERS = sorted(folder for folder in GOLDEN.iterdir() if folder.is_dir())
CODECS = ("lz4", "lzf", "snappy", "zstd")


def store(folder: Path) -> StoreFiles:
    state = Location.of(str(folder / "state"))
    (found,) = group_by_store(state, state.files())
    return found


def rows(version: FamilyVersion, family: Family) -> list[dict[str, Any]]:
    """Rows as `expected.json` has them."""
    schema = family.schema(path=family.name)
    values: dict[str, list[Any]] = defaultdict(list)
    for file, records in version.rows(family):
        decoder = RowDecoder(records.memory, where=str(file.location))
        keys: pa.Array = decoder.rows(schema.key, records.key_starts, records.key_lengths)
        found = decoder.rows(schema.value, records.value_starts, records.value_lengths)
        for key, value in zip(keys.to_pylist(), found.to_pylist(), strict=True):
            values[json.dumps(key)].append(value)
    return [{"key": json.loads(key), "values": values[key]} for key in values]


def ordered(found: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in found)


def test_there_is_a_store_of_every_kind() -> None:
    names = {f"{codec}{sums}" for codec in CODECS for sums in ("", "-rowchecksums")}
    assert {folder.name for folder in FOLDERS} == names


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_every_version_is_what_it_has_to_be(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    files = store(folder)
    assert len(expected["versions"]) == 6
    for each in expected["versions"]:
        version = FamilyVersion(files.chain(each["version"]))
        families = {family.name: family for family in version.families.values()}
        wanted = {family["name"]: ordered(family["rows"]) for family in each["families"]}
        assert {name: ordered(rows(version, families[name])) for name in families} == wanted


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_a_version_is_the_same_without_its_snapshot(folder: Path) -> None:
    files = store(folder)
    deltas = [files.deltas[version] for version in range(1, 7)]
    one, other = FamilyVersion(files.chain(6)), FamilyVersion(deltas)
    assert files.chain(6)[0].kind == "snapshot"
    assert one.families == other.families
    for family in one.families.values():
        assert ordered(rows(one, family)) == ordered(rows(other, family))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_files_name_their_codec_and_their_row_checksums(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    for file in store(folder).files:
        with reading_blocks(file) as (header, _, _):
            assert header.codec == expected["codec"]
            assert header.row_checksums == expected["rowChecksums"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_every_flipped_byte_and_every_prefix_is_refused(folder: Path, tmp_path: Path) -> None:
    for file in store(folder).files[:2]:
        whole = file.location.read_bytes()
        copy = tmp_path / file.location.path.rpartition("/")[2]
        for at in range(len(whole)):
            for broken in (whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :], whole[:at]):
                copy.write_bytes(broken)
                with pytest.raises(CheckpointError, match="is damaged at byte"):
                    read_all(_at(file, copy))


def _at(file: StateFile, path: Path) -> StateFile:
    return StateFile(
        location=Location.of(str(path)),
        kind=file.kind,
        version=1,
        size_bytes=path.stat().st_size,
        modified=None,
    )
