"""The names of state files and what follows from them."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from holdfast_spark.checkpoint.errors import MissingVersionError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import as_ranges, group_by_store, recoverable

STATE = Location(MemoryFileSystem(), "/c/state")
TIME = datetime(2026, 1, 1, tzinfo=timezone.utc)


def entries(*names: str) -> list[Entry]:
    return [Entry(path=f"/c/state/{name}", size_bytes=9, modified=TIME) for name in names]


def test_files_are_grouped_by_store_and_ordered_by_version() -> None:
    stores = group_by_store(
        STATE,
        entries("0/1/10.delta", "0/1/9.delta", "0/1/9.snapshot", "0/0/left-x/1.delta", "1/0/1.zip"),
    )
    assert [str(store) for store in stores] == ["0/0/left-x", "0/1", "1/0"]
    assert [(f.version, f.kind) for f in stores[1].files] == [
        (9, "delta"),
        (9, "snapshot"),
        (10, "delta"),
    ]
    assert [store.is_rocksdb for store in stores] == [False, False, True]


@pytest.mark.parametrize(
    "name",
    [
        "0/0/.1.delta.crc",
        "0/0/1.delta.tmp",
        "0/0/x.delta",
        "0/0/_metadata/1.delta",
        "0/_metadata/metadata",
        "0/1.delta",
    ],
)
def test_other_files_are_no_state_files(name: str) -> None:
    assert group_by_store(STATE, entries(name)) == []


def test_unique_ids_in_names_are_noticed() -> None:
    (store,) = group_by_store(STATE, entries("0/0/3_1f2e-ab.delta"))
    assert store.has_unique_ids
    assert store.files[0].version == 3


def test_a_version_needs_the_newest_snapshot_and_every_delta_behind_it() -> None:
    names = ["1.delta", "2.delta", "2.snapshot", "3.delta", "5.delta", "6.snapshot", "7.delta"]
    (store,) = group_by_store(STATE, entries(*(f"0/0/{name}" for name in names)))
    assert store.versions == (1, 2, 3, 6, 7)
    chain = [file.location.path.rpartition("/")[2] for file in store.chain(3)]
    assert chain == ["2.snapshot", "3.delta"]
    assert store.chain(0) == ()
    with pytest.raises(MissingVersionError) as error:
        store.chain(5)
    assert str(error.value) == (
        "Version 5 of the store 0/0 cannot be read: 4.delta is missing, and no snapshot follows "
        "it. Readable versions: 1-3, 6-7."
    )


def test_recoverable_versions_are_those_that_have_a_chain() -> None:
    seed = 20260101
    generator = random.Random(seed)
    for _ in range(200):
        snapshots = {v for v in range(1, 12) if generator.random() < 0.2}
        deltas = {v for v in range(1, 12) if generator.random() < 0.7}
        expected = [
            version
            for version in range(1, 12)
            if any(
                (base == 0 or base in snapshots)
                and all(v in deltas for v in range(base + 1, version + 1))
                for base in range(version + 1)
            )
            and version in snapshots | deltas
        ]
        assert recoverable(snapshots, deltas) == tuple(expected), (seed, snapshots, deltas)


def test_ranges_are_short() -> None:
    assert as_ranges([1, 2, 3, 5, 7, 8]) == "1-3, 5, 7-8"
    assert as_ranges([]) == ""
