"""Opening checkpoints, in folders and in another file system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fsspec
import pytest

from checkpoint.checkpoints import (
    HDFS,
    PARTITIONS,
    PROVIDER,
    ROW_CHECKSUMS,
    STRICT,
    counts,
    offsets,
    row,
)
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    NoBatchError,
    NoSuchStoreError,
    NotACheckpointError,
    UnsupportedProviderError,
)

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30), row(9, None)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(3, 32), row(2, None), row(4, 40)],
}


STORES = 'v1\n{"operatorInfo":{"operatorName":"x"},"stateStoreInfo":["default"]}'
WRONG = ['v1\n{"conf":[1]}', 'v1\n{"batchTimestampMs":"now"}', 'v1\n{"batchWatermarkMs":[1]}']


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=3)


def state(checkpoint: Checkpoint, batch: int | None = None) -> dict[int, int]:
    rows = [row for piece in checkpoint.read(batch_id=batch) for row in piece.to_pylist()]
    found = {row["key"]["k"]: row["value"]["n"] for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_version_is_put_together(path: Path) -> None:
    checkpoint = Checkpoint.open(str(path))
    assert state(checkpoint, 0) == {1: 10, 2: 20}
    assert state(checkpoint, 1) == {2: 20, 3: 30}
    assert state(checkpoint, 2) == state(checkpoint) == {3: 32, 4: 40}
    (path / "state/0/0/2.snapshot").unlink()
    assert state(Checkpoint.open(str(path))) == {3: 32, 4: 40}


def test_another_file_system_serves_as_well(path: Path) -> None:
    fs = fsspec.filesystem("memory")
    fs.put(str(path), "/there", recursive=True)
    checkpoint = Checkpoint.open("memory://there")
    assert state(checkpoint) == {3: 32, 4: 40}
    (store,) = checkpoint.stores
    assert all(file.modified and file.size_bytes for file in store.files)
    fs.rm("/there", recursive=True)


def test_the_settings_are_those_of_the_newest_batch(path: Path) -> None:
    (path / "offsets/3").write_bytes(
        offsets(
            3, providerClass="p", **{"compression.codec": "zstd", "rowChecksum.enabled": "true"}
        )
    )
    checkpoint = Checkpoint.open(str(path))
    settings = checkpoint.settings
    assert (settings.provider_class, settings.codec, settings.row_checksums) == ("p", "zstd", True)
    first = checkpoint.batch(0).settings.conf
    assert first.items() >= {PROVIDER: HDFS, PARTITIONS: "1", STRICT: "true"}.items()
    assert first[ROW_CHECKSUMS] == "false"
    assert settings.shuffle_partitions == 1
    assert (checkpoint.planned, checkpoint.committed) == ((0, 1, 2, 3), (0, 1, 2))
    assert checkpoint.newest_committed == 2
    started = checkpoint.batch(0).started
    assert started is not None
    assert started.timestamp() == 1


def test_old_offsets_files_have_spark_s_defaults(path: Path) -> None:
    (path / "offsets/2").write_text("v1\n\n{}")
    settings = Checkpoint.open(str(path)).settings
    assert settings.provider_class == HDFS
    assert (settings.codec, settings.row_checksums) == ("lz4", False)
    assert settings.shuffle_partitions is None


@pytest.mark.parametrize("folder", ["missing", "empty", "checkpoint/state"])
def test_what_is_no_checkpoint_is_named(path: Path, folder: str) -> None:
    (path.parent / "empty").mkdir()
    with pytest.raises(NotACheckpointError, match="is not the checkpoint of a streaming query"):
        Checkpoint.open(str(path.parent / folder))


def test_of_a_folder_that_is_no_checkpoint_what_one_sees_in_it_is_named(path: Path) -> None:
    output = path.parent / "output"
    (output / "_spark_metadata").mkdir(parents=True)
    for name in ("part-0.json", ".part-0.json.crc"):
        (output / name).touch()
    with pytest.raises(NotACheckpointError, match=r", found _spark_metadata, part-0\.json\. Give"):
        Checkpoint.open(str(output))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"operator_id": 7}, NoSuchStoreError, "no stateful operator 7: it has 0"),
        ({"store_name": "left"}, NoSuchStoreError, "no store left: it has default"),
        ({"partition": 5}, NoSuchStoreError, "no partition 5: it has 0"),
        ({"batch_id": 8}, NoBatchError, r"has no batch 8: it has the batches 0 to 2"),
    ],
)
def test_what_is_not_there_is_named(
    path: Path, options: dict[str, int], error: type[CheckpointError], text: str
) -> None:
    with pytest.raises(error, match=text):
        list(Checkpoint.open(str(path)).read(**options))  # type: ignore[arg-type]


def test_a_batch_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(NoBatchError, match="no batch 8: it has the batches 0 to 2"):
        Checkpoint.open(str(path)).batch(8)
    for commit in (path / "commits").iterdir():
        commit.unlink()
    with pytest.raises(NoBatchError, match="though batch 2 is planned: expected the files of"):
        state(Checkpoint.open(str(path)))
    for batch in (1, 2):
        (path / "offsets" / str(batch)).unlink()
    with pytest.raises(NoBatchError, match="has not finished its first one"):
        state(Checkpoint.open(str(path)))


@pytest.mark.parametrize("text", ["", "v1", "v1\n{", "v1\n[]", "x\n{}", *WRONG])
def test_a_damaged_offsets_file_is_named(path: Path, text: str) -> None:
    (path / "offsets/2").write_text(text)
    with pytest.raises(MalformedFileError, match="offsets/2 is damaged: expected"):
        Checkpoint.open(str(path)).batch()
    assert Checkpoint.open(str(path)).settings == Checkpoint.open(str(path)).batch(1).settings


@pytest.mark.parametrize("text", ["v9\n{}", "v1\n{}", "v2\nnull", "v1", STORES])
def test_damaged_metadata_is_named(path: Path, text: str) -> None:
    (path / "state/0/_metadata/metadata").write_text(text)
    with pytest.raises(MalformedFileError, match="_metadata/metadata is damaged: expected"):
        _ = Checkpoint.open(str(path)).operators


def test_the_newest_metadata_of_version_2_counts(path: Path) -> None:
    text = (path / "state/0/_metadata/metadata").read_text().replace("v1", "v2", 1)
    for batch, name in ((0, "old"), (2, "dedupe")):
        file = path / f"state/0/_metadata/v2/{batch}"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text.replace("stateStoreSave", name))
    (operator,) = Checkpoint.open(str(path)).operators
    assert (operator.name, operator.metadata_version) == ("dedupe", 2)


def test_an_operator_without_metadata_is_unknown(path: Path) -> None:
    (path / "state/0/_metadata/metadata").unlink()
    checkpoint = Checkpoint.open(str(path))
    assert checkpoint.operators[0].name == "unknown"
    assert state(checkpoint) == {3: 32, 4: 40}


def test_a_schema_that_is_asked_for_and_missing_is_named(path: Path) -> None:
    (path / "state/0/0/_metadata/schema").unlink()
    with pytest.raises(MalformedFileError, match="expected the schema of the store, found no file"):
        Checkpoint.open(str(path)).schema(0)


@pytest.mark.parametrize("name", ["3.zip", "3.changelog"])
def test_rows_of_other_providers_are_left_to_spark(path: Path, name: str) -> None:
    (path / f"state/0/0/{name}").touch()
    with pytest.raises(UnsupportedProviderError, match="with Spark's statestore source"):
        state(Checkpoint.open(str(path)))


def test_importing_the_package_imports_no_codec() -> None:
    heavy = "{'pyarrow', 'numpy', 'fsspec', 'xxhash', 'pyspark'}"
    program = (
        f"import sys, holdfast_spark, holdfast_spark.cli.main; print({heavy} & set(sys.modules))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr
