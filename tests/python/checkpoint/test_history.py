"""The history of a checkpoint's stores, compared with what its rows say."""

from __future__ import annotations

import errno
import random
from collections import Counter
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from fsspec.implementations.local import LocalFileSystem

from checkpoint.checkpoints import GOLDEN, PARTITIONS, counts, long_row, row
from checkpoint.skewed import PARTITION_COUNT, SKEWED_PARTITION, SNAPSHOT_EVERY, skewed
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.history import read_histories
from holdfast_spark.checkpoint.history_figures import StoreHistory
from holdfast_spark.checkpoint.rows.hot_keys import HotKeys
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.row_sizes import RowSizes

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
}
ROW_BYTES = 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=3)


def history(path: Path) -> StoreHistory:
    (store,) = read_histories(Checkpoint.open(str(path)))
    return store


def test_versions_are_counted_from_nothing(path: Path) -> None:
    found = history(path)
    assert [version.version for version in found.versions] == [1, 2, 3]
    assert [version.rows for version in found.versions] == [2, 2, 3]
    assert [version.row_bytes for version in found.versions] == [n * ROW_BYTES for n in (2, 2, 3)]
    assert [version.puts for version in found.versions] == [2, 1, 2]
    assert [version.removals for version in found.versions] == [0, 1, 0]
    assert [version.snapshots for version in found.versions] == [0, 1, 0]
    assert [version.deltas_to_replay for version in found.versions] == [1, 0, 1]
    assert found.not_read == ()


def test_versions_are_counted_from_a_snapshot(path: Path) -> None:
    (path / "state/0/0/1.delta").unlink()
    found = history(path)
    assert [version.rows for version in found.versions] == [2, 3]
    (path / "state/0/0/2.snapshot").unlink()
    found = history(path)
    assert [version.rows for version in found.versions] == [None, None]
    assert [version.puts for version in found.versions] == [1, 2]
    assert [version.deltas_to_replay for version in found.versions] == [None, None]


def test_a_damaged_delta_leaves_a_gap_up_to_the_next_snapshot(path: Path) -> None:
    damaged = path / "state/0/0/1.delta"
    damaged.write_bytes(damaged.read_bytes()[:-30])
    found = history(path)
    assert [version.rows for version in found.versions] == [None, 2, 3]
    assert [version.puts for version in found.versions] == [None, 1, 2]
    (sentence,) = found.not_read
    assert sentence.startswith(f"{damaged} (version 1) is damaged")


def test_so_does_one_that_a_disk_does_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = path / "state/0/0/1.delta"
    opens = LocalFileSystem.open

    def fail(fs: LocalFileSystem, file: str, *more: Any) -> Any:  # noqa: ANN401
        if file == str(lost):
            raise OSError(errno.EIO, "Input/output error")
        return opens(fs, file, *more)

    monkeypatch.setattr(LocalFileSystem, "open", fail)
    found = history(path)
    assert [version.rows for version in found.versions] == [None, 2, 3]
    (sentence,) = found.not_read
    assert sentence.startswith(f"Cannot read {lost}: Input/output error. That need be no damage")


def test_a_damaged_snapshot_is_named_when_it_is_needed(path: Path) -> None:
    snapshot = path / "state/0/0/2.snapshot"
    snapshot.write_bytes(b"")
    assert history(path).not_read == ()
    (path / "state/0/0/1.delta").unlink()
    found = history(path)
    assert [version.rows for version in found.versions] == [None, None]
    assert len(found.not_read) == 1


def test_what_is_not_known_of_a_partition_is_not_known_of_a_version(path: Path) -> None:
    newest = path / "offsets/2"
    newest.write_text(newest.read_text().replace(f'"{PARTITIONS}": "1"', f'"{PARTITIONS}": "2"'))
    other = path / "state/0/1"
    other.mkdir()
    (other / "3.delta").write_bytes((path / "state/0/0/3.delta").read_bytes())
    found = history(path)
    assert [version.rows for version in found.versions] == [None, None, None]
    assert [partition.rows for partition in found.partitions] == [3, None]
    assert [partition.changes for partition in found.partitions] == [6, 2]


def test_the_keys_that_change_most_are_told(path: Path) -> None:
    hottest = history(path).hottest_keys
    assert [(key.key, key.changes, key.changes_at_most) for key in hottest] == [
        ({"k": 1}, 2, 2),
        ({"k": 3}, 2, 2),
        ({"k": 2}, 1, 1),
        ({"k": 4}, 1, 1),
    ]


def test_keys_without_a_schema_are_bytes(path: Path) -> None:
    (path / "state/0/0/_metadata/schema").unlink()
    found = history(path)
    assert found.hottest_keys[0].key == long_row(1).hex()
    assert [version.rows for version in found.versions] == [2, 2, 3]
    assert "expected the schema of the store, found no file" in found.not_read[0]


def test_files_of_rocksdb_are_measured_from_outside(path: Path) -> None:
    for file in (path / "state/0/0").glob("*.*"):
        file.rename(file.with_suffix({".delta": ".changelog"}.get(file.suffix, ".zip")))
    for file in (path / "state/0/0").glob("*.zip"):
        zip_of_rocksdb(file, '{"sstFiles":[],"numKeys":7,"numInternalKeys":0}')
    found = history(path)
    assert [version.rows for version in found.versions] == [None, 7, None]
    assert {version.row_bytes for version in found.versions} == {None}
    assert all(version.delta_bytes for version in found.versions)
    assert found.hottest_keys == ()
    assert "only Spark reads" in found.not_read[0]


def zip_of_rocksdb(file: Path, metadata: str) -> None:
    with ZipFile(file, "w") as archive:
        archive.writestr("CURRENT", "MANIFEST-000005")
        archive.writestr("metadata", f"v1\n{metadata}")


def test_a_zip_that_spark_made_tells_its_rows() -> None:
    path = GOLDEN / "spark-4.3/rocksdb/column_families/checkpoint"
    found = history(path)
    assert [version.rows for version in found.versions if version.snapshots] == [15]
    assert found.versions[-1].rows is None


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ('{"numKeys":-1}', None),
        ("{}", "expected a number in numKeys, found None"),
        ("{", "expected a JSON object"),
        (None, "expected a zip with a file metadata"),
    ],
)
def test_a_zip_that_does_not_tell_its_rows(
    metadata: str | None, sentence: str | None, path: Path
) -> None:
    for file in (path / "state/0/0").glob("*.*"):
        file.unlink()
    zip_file = path / "state/0/0/1.zip"
    zip_of_rocksdb(zip_file, metadata or "")
    if metadata is None:
        zip_file.write_bytes(zip_file.read_bytes()[:-30])
    found = history(path)
    assert [version.rows for version in found.versions] == [None]
    told = found.not_read[1:]
    assert len(told) == (1 if sentence else 0)
    assert all(sentence in text for text in told if sentence)


def test_skew_shows(tmp_path: Path) -> None:
    batches = 2 * SNAPSHOT_EVERY + 1
    (found,) = read_histories(Checkpoint.open(str(skewed(tmp_path, batches=batches))))
    rows = {partition.partition_id: partition.rows or 0 for partition in found.partitions}
    assert len(rows) == PARTITION_COUNT
    assert max(rows, key=lambda partition: rows[partition]) == SKEWED_PARTITION
    assert found.versions[-1].rows == sum(rows.values())
    snapshots = [version.version for version in found.versions if version.snapshots]
    assert snapshots == [SNAPSHOT_EVERY, 2 * SNAPSHOT_EVERY]


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("*/*/checkpoint")))
def test_rows_are_those_that_reading_gives(folder: Path) -> None:
    checkpoint = Checkpoint.open(str(folder))
    for store in read_histories(checkpoint):
        read = checkpoint.read(operator_id=store.operator_id, store_name=store.name)
        assert store.versions[-1].rows == sum(len(rows) for rows in read)
        assert store.not_read == ()


def test_rows_are_counted_through_any_changes() -> None:
    random_ = random.Random(11)
    state: dict[bytes, bytes] = {}
    sizes = RowSizes()
    for _ in range(60):
        removed = random_.sample(sorted(state), len(state) // 5)
        puts = [
            (long_row(random_.randrange(300)), bytes(8 * random_.randrange(4))) for _ in "x" * 40
        ]
        changes = [*((key, None) for key in removed), *puts]
        random_.shuffle(changes)
        for key, value in changes:
            if value is None:
                state.pop(key, None)
            else:
                state[key] = value
        sizes.apply(as_records(changes))
        assert len(sizes) == len(state)
        assert sizes.total_bytes == sum(len(k) + len(v) for k, v in state.items())
    loaded = RowSizes.of([as_records(list(state.items()))])
    assert (len(loaded), loaded.total_bytes) == (len(sizes), sizes.total_bytes)


def as_records(changes: list[tuple[bytes, bytes | None]]) -> Records:
    records = Records.of((key, value or b"") for key, value in changes)
    for place, (_, value) in enumerate(changes):
        if value is None:
            records.value_lengths[place] = -1
    return records


def test_hot_keys_stay_within_their_bounds_in_little_memory() -> None:
    random_ = random.Random(5)
    keys = [long_row(int(random_.paretovariate(0.6))) for _ in range(20_000)]
    true, hot = Counter(keys), HotKeys(memory_bytes=166 * 50)
    for start in range(0, len(keys), 500):
        hot.add(Records.of((key, b"") for key in keys[start : start + 500]))
    assert hot.missed
    hottest = hot.hottest(10)
    assert all(count <= true[key] <= count + hot.missed for key, count in hottest)
    assert hottest[0][0] == true.most_common(1)[0][0]
    # Misra and Gries: at most one change in `capacity` is missed.
    assert hot.missed <= len(keys) / 50
