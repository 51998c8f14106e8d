"""`holdfast inspect`."""

from __future__ import annotations

from pathlib import Path

from checkpoint.checkpoints import GOLDEN, offsets
from checkpoint.commands.running import document, output


def test_inspect_tells_what_there_is(path: Path) -> None:
    found = document("inspect", path)
    assert found["path"] == str(path)
    assert found["query_id"] == "6a2f8c5e-0000-4000-8000-000000000000"
    assert (found["first_batch"], found["newest_batch"], found["newest_committed_batch"]) == (
        *(0, 2, 2),
    )
    assert found["newest_batch_started"] == "1970-01-01T00:00:03+00:00"
    ((store,),) = [operator["stores"] for operator in found["operators"]]
    sizes = {file.name: file.stat().st_size for file in (path / "state/0/0").glob("*.*")}
    assert store == {
        "name": "default",
        "partitions": 1,
        "versions": "1-3",
        "newest_version": 3,
        "deltas": 3,
        "delta_bytes": sizes["1.delta"] + sizes["2.delta"] + sizes["3.delta"],
        "snapshots": 1,
        "snapshot_bytes": sizes["2.snapshot"],
        "shared_files": 0,
        "shared_bytes": 0,
        "delta_bytes_per_version": (sizes["1.delta"] + sizes["2.delta"] + sizes["3.delta"]) // 3,
        "newest_snapshot_bytes": sizes["2.snapshot"],
        "snapshot_lag": 1,
        "other_attempts": 0,
        "column_families": [],
    }
    assert found["odd"] == []
    offsets_file = path / "offsets/2"
    formats = '"spark.sql.streaming.aggregation.stateFormatVersion":"2",'
    formats += '"spark.sql.streaming.join.stateFormatVersion":"2",'
    offsets_file.write_text(offsets_file.read_text().replace('"conf": {', f'"conf": {{{formats}'))
    text = output("inspect", path)
    assert "state formats  aggregation 2 " in text
    assert "stateStoreSave" in text
    assert "Odd" not in text


def test_inspect_tells_what_is_odd(path: Path) -> None:
    (path / "commits/2").unlink()
    (path / "commits/1").unlink()
    (path / "state/0/0/1.delta").unlink()
    (path / "state/0/0/3.delta").write_bytes(b"")
    (path / "state/0/0/.4.delta.7a.tmp").touch()
    (path / "offsets/2").write_bytes(offsets(2, encodingFormat="unsaferow"))
    (path / "state/0/_metadata/metadata").unlink()
    (path / "state/1/0").mkdir(parents=True)
    (path / "state/1/0/70.zip").touch()
    (path / "state/2/0").mkdir(parents=True)
    (path / "state/2/0/1.snapshot").write_bytes(b"x")
    (path / "state/2/0/60.delta").write_bytes(b"x")
    odd = "\n".join(document("inspect", path)["odd"])
    for part in (
        "Batch 2 is planned, and of the batches before it the newest that is committed is 0: see",
        "1 of 3 stores have files of Spark's RocksDB provider",
        "Operator 0 has no metadata",
        "Store 0/0 cannot be put together at version 1,",
        "Store 0/0 has empty files, of the versions 3.",
        "Store 2/0 has had no snapshot for 59 versions",
        "1 temporary file is there, of attempts",
    ):
        assert part in odd
    assert "Batch 2 is planned" in output("inspect", path)


def test_inspect_misses_partitions(path: Path) -> None:
    metadata = path / "state/0/_metadata/metadata"
    metadata.write_text(metadata.read_text().replace('"numPartitions": 1', '"numPartitions": 4'))
    assert document("inspect", path)["odd"] == []  # Spark obeys what the newest batch pins
    newest = max((path / "offsets").iterdir(), key=lambda file: int(file.name))
    newest.write_text(newest.read_text().replace('partitions": "1"', 'partitions": "4"'))
    (odd,) = document("inspect", path)["odd"]
    assert odd == "Operator 0 has no files of the store default in the partitions 1-3."


def test_inspect_tells_what_can_be_done_with_files_of_rocksdb() -> None:
    folder = GOLDEN / "spark-4.3" / "rocksdb"
    for name in ("sums", "column_families"):
        found = document("inspect", folder / name / "checkpoint")
        assert "or holdfast migrate --to holdfast" in found["explanation"]
