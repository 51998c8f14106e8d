"""What `verify` says of checkpoints whose state only its own provider reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from checkpoint.checkpoints import AT_ONCE, GOLDEN, HDFS
from checkpoint.checks.harm import cut, empty, gone, invoke, text, verified
from holdfast_spark.checkpoint import Checkpoint, CheckpointError, Location, repair
from holdfast_spark.checkpoint.changes.schema_paths import with_schemas_in

GOLDEN_OF_ROCKSDB = sorted(GOLDEN.glob("*/rocksdb/*/checkpoint"))


def with_sources(golden: Path, folder: Path) -> Path:
    """Copy a golden checkpoint, and give it the log of its file source again."""
    shutil.copytree(golden, folder)
    (folder / "sources/0").mkdir(parents=True)
    for batch in range(len(list((folder / "offsets").iterdir()))):
        entry = f'{{"path":"file:///in/{batch}.json","timestamp":{batch},"batchId":{batch}}}'
        (folder / f"sources/0/{batch}").write_text(f"v1\n{entry}")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return with_sources(GOLDEN / "spark-4.3/rocksdb/sums/checkpoint", tmp_path / "checkpoint")


@pytest.mark.parametrize("golden", GOLDEN_OF_ROCKSDB, ids=lambda p: "-".join(p.parts[-4:-1]))
def test_all_but_the_state_is_judged(golden: Path, tmp_path: Path) -> None:
    path = with_sources(golden, tmp_path / "copy")
    for file in path.glob("state/*/_metadata/v2/*"):
        place, said = Location.of(path), file.read_bytes()
        file.write_bytes(with_schemas_in(said, of=place, to=place, path=str(file)))
    found = verified(path)
    assert (found.broken, found.goes_on, found.judges_state, found.files) == ((), True, False, 0)
    (note,) = found.notes
    assert note.startswith("The state was not judged. ")
    assert "RocksDB provider" in note
    result = invoke("verify", path)
    assert result.exit_code == 0, result.stderr
    assert "By all but its state, the query goes on with batch " in result.stdout


@pytest.mark.parametrize("name", ["offsets", "commits", "metadata"])
def test_damage_to_its_logs_is_told(path: Path, name: str) -> None:
    file = "metadata"
    if name != "metadata":
        file = f"{name}/{max(int(p.name) for p in (path / name).iterdir())}"
    for harm in (empty, cut, gone):
        before = (path / file).read_bytes()
        harm(file)(path)
        found = verified(path)
        is_told = any(broken.path == str(path / file) for broken in found.broken)
        # Without its commit a batch runs again, which is nothing wrong.
        assert is_told or (harm is gone and name == "commits" and found.reruns), found
        (path / file).write_bytes(before)


def test_a_provider_that_nobody_knows_is_not_judged_either(path: Path) -> None:
    shutil.rmtree(path / "state")
    for file in (path / "offsets").iterdir():
        provider = HDFS.replace("HDFSBacked", "RocksDB")
        text(f"offsets/{file.name}", provider, "com.example.Other")(path)
    found = verified(path)
    assert (found.goes_on, found.judges_state) == (True, False)
    assert "written by com.example.Other" in found.notes[0]


def test_it_is_not_repaired(path: Path) -> None:
    with pytest.raises(CheckpointError, match="holdfast migrate --to holdfast first"):
        repair(Checkpoint.open(str(path)), settled=AT_ONCE)
