"""Stores with column families carried to RocksDB and back, by a stand-in for Spark's provider."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from checkpoint.changes.stand_in import StandIn
from checkpoint.checkpoints import AT_ONCE, content, long_row, offsets
from checkpoint.families.made import (
    COUNTER,
    DESCRIBED,
    FAMILIES,
    K_N,
    SEEN,
    TRANSFORM,
    Described,
    Record,
    file_bytes,
    header,
    part,
    part_key,
    parts,
    schema_v3,
    seen,
    total,
    transformed,
)
from checkpoint.families.test_family_changes import everything
from checkpoint.families.test_family_rows import shown
from holdfast_spark.checkpoint import Checkpoint, CheckpointError, migrate, verify_checkpoint
from holdfast_spark.checkpoint.changes.change import finish_unfinished
from holdfast_spark.checkpoint.changes.family_definitions import family_definitions
from holdfast_spark.checkpoint.changes.migration import Migration
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.journals import unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PROVIDER_CLASS
from holdfast_spark.checkpoint.files.providers import HOLDFAST, ROCKSDB

LONG = [(SEEN * 2, long_row(9), part([long_row(n) for n in range(40)], parts=3))]
LONG += [
    (SEEN * 2 + 1, part_key(long_row(9), n), part([long_row(40 * n + i) for i in range(40)]))
    for n in (1, 2)
]
ROWS: list[Record] = [
    *(total(k, k) for k in range(40)),
    *(seen(k, *range(k, 0, -1)) for k in range(1, 6)),
    *LONG,
    *(parts(k, p, p) for k in range(20) for p in range(2)),
    *((2 * COUNTER, long_row(k), long_row(k)) for k in range(1, 6)),
]


# A switch that has come so many moves far is decided: new logs and state are in their places.
COMPLETED = 4


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn.put_up(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    files = {"0/2.snapshot": file_bytes("S", ROWS, defined=FAMILIES)}
    return transformed(tmp_path / "checkpoint", files, batches=2)


def switch(path: Path, to: str, *, apply: bool = True) -> Migration:
    return migrate(Checkpoint.open(path), to, apply=apply, stopped=True, settled=AT_ONCE)


def families_of(path: Path) -> dict[str, Any]:
    """The definitions of families in a snapshot, but for their ids."""
    checkpoint = Checkpoint.open(path)
    version = FamilyVersion(checkpoint.stores[0].chain(checkpoint.newest_committed + 1))
    return {
        family.name: (
            family.is_internal,
            family.has_many_values,
            json.loads(family.encoder_json),
            json.loads(family.key_json),
            json.loads(family.value_json),
        )
        for family in version.families.values()
    }


def pin(path: Path, **settings: str) -> None:
    """Pin settings, named without what all of stores begin with."""
    for batch in (path / "offsets").iterdir():
        batch.write_bytes(offsets(int(batch.name), providerClass=HOLDFAST, **settings))


def test_rows_and_families_come_back_as_they_were(path: Path, stand_in: StandIn) -> None:
    before, families = everything(path), families_of(path)
    description = {
        each: each.read_bytes()
        for name in ("_metadata", "_stateSchema")
        for each in (path / "state/0" / name).rglob("*")
        if each.is_file()
    }
    done = switch(path, "rocksdb")
    # A list is a row, as long as it may be.
    assert (done.converted_stores, done.records) == (1, 40 + 6 + 40 + 5)
    assert Checkpoint.open(path).settings.provider_class == ROCKSDB
    assert not list(path.glob("state/0/*/*.snapshot"))
    assert not list(path.glob("state/0/*/*.delta"))
    (asked,) = stand_in.asked
    assert asked.families is not None
    told = {each.name: (each.has_many_values, each.is_internal) for each in asked.families}
    assert told == {
        "default": (False, False),
        "total": (False, False),
        "seen": (True, False),
        "parts": (False, False),
        "$rowCounter_seen": (False, True),
    }
    assert json.loads(asked.json())["families"][2]["hasManyValues"] is True

    done = switch(path, "holdfast")
    assert (done.converted_stores, done.records) == (1, 91)
    assert Checkpoint.open(path).settings.conf[PROVIDER_CLASS] == HOLDFAST
    assert everything(path) == before
    # What every store has stands in no schema file, and needs no definition.
    assert families_of(path) == {n: each for n, each in families.items() if n != "default"}
    lists = shown(path, state_var_name="seen", partition=0)
    assert [each[2]["n"] for each in lists if each[1]["k"] == 5] == [1, 2, 3, 4, 5]
    assert verify_checkpoint(Checkpoint.open(path)).sound
    assert description == {each: each.read_bytes() for each in description}


def values_of(path: Path, key: int) -> list[int]:
    checkpoint = Checkpoint.open(path)
    version = FamilyVersion(checkpoint.stores[0].chain(checkpoint.newest_committed + 1))
    family = version.named("seen")
    assert family
    return [
        struct.unpack_from("<q", value, 8)[0]
        for _, found, values in version.lists(family)
        for value in values
        if found == long_row(key)
    ]


def test_lists_keep_their_order_and_are_cut_anew(path: Path) -> None:
    assert values_of(path, 9) == list(range(120))
    for to in ("rocksdb", "holdfast"):
        switch(path, to)
    assert values_of(path, 9) == list(range(120))
    assert values_of(path, 4) == [4, 3, 2, 1]


def test_row_checksums_are_of_the_records_of_each_side(path: Path) -> None:
    whole = file_bytes("S", ROWS, defined=FAMILIES, row_checksums=True)
    (path / "state/0/0/2.snapshot").write_bytes(whole)
    pin(path, **{"rowChecksum.enabled": "true"})
    before = everything(path)
    for to in ("rocksdb", "holdfast"):
        switch(path, to)
    assert everything(path) == before
    assert verify_checkpoint(Checkpoint.open(path)).sound


def test_a_dry_run_converts_and_changes_nothing(path: Path) -> None:
    before = content(path)
    planned = switch(path, "rocksdb", apply=False)
    assert (planned.applied, planned.converted_stores) == (False, 1)
    assert content(path) == before


@pytest.mark.parametrize("moves", range(5))
@pytest.mark.parametrize("source", ["holdfast", "rocksdb"])
def test_a_switch_that_is_cut_off_is_completed_or_undone(
    path: Path, source: str, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = everything(path)
    if source == "rocksdb":
        switch(path, "rocksdb")
    target = "holdfast" if source == "rocksdb" else "rocksdb"
    before = content(path)
    move = Location.move
    left = iter(range(moves))

    def die(location: Location, to: Location) -> None:
        if next(left, None) is None:
            raise CheckpointError("the disk is dead.")
        move(location, to)

    with monkeypatch.context() as patch:
        patch.setattr(Location, "move", die)
        with pytest.raises(CheckpointError, match="the disk is dead"):
            switch(path, target)
    finish_unfinished(Location.of(str(path)))
    assert not unfinished(Location.of(str(path)))
    assert (content(path) == before) == (moves < COMPLETED)
    if moves < COMPLETED:
        switch(path, target)  # undone: it can be done again
    if target == "rocksdb":
        switch(path, "holdfast")
    assert everything(path) == rows


def refused(path: Path, to: str, text: str) -> None:
    before = content(path)
    with pytest.raises(CheckpointError, match=text):
        switch(path, to)
    assert content(path) == before


def test_a_value_that_got_lost_on_the_way_is_told(
    path: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = stand_in.write

    def other_order(store: Any, file: Path) -> int:  # noqa: ANN401
        first, second = value(5, 5), value(5, 4)
        file.write_bytes(file.read_bytes().replace(first + second, second + first))
        return write(store, file)

    monkeypatch.setattr(stand_in, "write", other_order)
    refused(path, "rocksdb", "0/0 of .* came out different: 91 rows went in, and 91 rows")


def value(key: int, n: int) -> bytes:
    """A value of the list of a key as Spark takes it."""
    row = struct.pack(">i", 16) + long_row(key), struct.pack(">i", 16) + long_row(n)
    return struct.pack(">i", 2 * SEEN) + b"".join(row)


def test_without_a_schema_file_nothing_is_converted(path: Path) -> None:
    switch(path, "rocksdb")
    (path / "state/0/_stateSchema/default/0_a").unlink()
    refused(path, "holdfast", "_stateSchema/default/0_a")


def test_formats_of_newer_releases_are_left_alone(path: Path) -> None:
    snapshot = path / "state/0/0/2.snapshot"
    ours = snapshot.read_bytes()
    snapshot.write_bytes(header("S", version=2) + ours[len(header("S")) :])
    refused(path, "rocksdb", "families 2, and this version of Holdfast knows 1: use a newer one")
    snapshot.write_bytes(ours)
    switch(path, "rocksdb")
    schema = path / "state/0/_stateSchema/default/0_a"
    schema.write_bytes(schema.read_bytes().replace(b"v3", b"v4"))
    refused(path, "holdfast", "schema format version v4")


def test_a_schema_that_no_file_has_cannot_be_told_by_its_number(path: Path) -> None:
    pin(path, encodingFormat="avro")
    done = switch(path, "rocksdb", apply=False)
    assert done.converted_stores == 1
    old = path / "state/0/_stateSchema/default/0_a"
    old.write_bytes(old.read_bytes().replace(b'"name":"n"', b'"name":"m"').replace(b'"n"', b'"m"'))
    refused(path, "rocksdb", "has a schema that is in none of the operator's schema files")


def test_numbers_of_schemas_come_with_rows_in_avro(path: Path, stand_in: StandIn) -> None:
    pin(path, encodingFormat="avro")
    switch(path, "rocksdb", apply=False)
    families = {each.name: each for each in stand_in.asked[0].families or ()}
    assert set(families["total"].value_schemas) == {0}
    assert families["total"].value_schemas[0] == families["total"].value_schema
    assert not families["default"].value_schemas


def define_anew(path: Path, *schemas: Sequence[Described]) -> None:
    """Add schema files, as a query does whose state variables have changed."""
    metadata = path / "state/0/_metadata/v2/0"
    folder = path / "state/0/_stateSchema/default"
    names = ["0_a", *(f"{number}_b" for number in range(1, len(schemas) + 1))]
    text = json.loads(metadata.read_text().partition("\n")[2])
    text["stateStoreInfo"][0]["stateSchemaFilePaths"] = [f"file:{folder}/{n}" for n in names]
    metadata.write_text(f"v2\n{json.dumps(text)}")
    for name, described in zip(names[1:], schemas, strict=True):
        (folder / name).write_bytes(schema_v3(described))


@pytest.mark.parametrize("left_out", ["total", "seen"])
def test_rows_of_a_state_variable_that_is_left_out_stay(path: Path, left_out: str) -> None:
    """Its definition stands in an earlier schema file alone, as it may come back."""
    before = everything(path)
    switch(path, "rocksdb")
    define_anew(path, [each for each in DESCRIBED if not each[0].endswith(left_out)])
    switch(path, "holdfast")
    assert everything(path) == before


def test_a_state_variable_may_come_back_as_another_kind(path: Path) -> None:
    """A list was deleted, and a value has its name."""
    counter, parts, seen, total = DESCRIBED
    define_anew(path, [parts, total], [parts, seen, total])
    found = family_definitions(Checkpoint.open(path), 0, store_name="default")
    kinds = {each.name: each.has_many_values for each in found.newest.values()}
    assert kinds == {"parts": False, "seen": False, "total": False}
    assert [each.name for each in found.earlier.values()] == [counter[0]]


def test_joins_tell_lists_and_what_is_internal_by_names(path: Path) -> None:
    times = json.dumps({"keyStateEncoderType": "TimestampAsPrefixKeyStateEncoderSpec"})
    names = ("left-keyWithTsToValues", "left-tsWithKey", "left-keyToNumValues", "left-others")
    described = [(name, *K_N, times, "{    }") for name in names]
    (path / "state/0/_stateSchema/default/0_a").write_bytes(schema_v3(described))
    metadata = path / "state/0/_metadata/v2/0"
    metadata.write_text(metadata.read_text().replace(TRANSFORM, "symmetricHashJoin"))
    found = family_definitions(Checkpoint.open(path), 0, store_name="default")
    kinds = {each.name: (each.has_many_values, each.is_internal) for each in found.newest.values()}
    assert kinds == dict(
        zip(names, ((True, False), (True, True), (False, True), (False, False)), strict=True)
    )
    assert [found.newest[number].name for number in range(1, 5)] == sorted(names)
