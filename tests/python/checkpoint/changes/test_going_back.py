"""State that is lost: batches given up, and queries that go back to what is left."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from checkpoint.changes.damaged_counts import (
    VERSIONS,
    actions,
    command,
    contents,
    damage,
    done,
    given_up,
    names,
    state,
)
from checkpoint.checkpoints import (
    GOLDEN,
    add_file_sources,
    content,
    counts,
    offsets,
    schema_file,
    schema_json,
)
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=5)


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("flatMapGroupsWithState", {"n": "long"}),
        ("transformWithStateExec", {"n": "long"}),
        (None, {"groupState": "long", "timeoutTimestamp": "integer"}),
    ],
)
def test_a_query_that_may_have_begun_with_state_does_not_go_back_to_its_beginning(
    operator: str | None, value: Mapping[str, str], path: Path
) -> None:
    metadata = path / "state/0/_metadata/metadata"
    if operator:
        metadata.write_text(metadata.read_text().replace("stateStoreSave", operator))
    else:
        metadata.unlink()
    schema = schema_file(schema_json(k="long"), schema_json(**value))
    (path / "state/0/0/_metadata/schema").write_bytes(schema)
    damage(path, *VERSIONS)
    before = content(path)
    with pytest.raises(CheckpointError, match="cannot go back to before its first batch: expected"):
        given_up(path)
    assert content(path) == before


def test_the_tail_goes_only_when_told(path: Path) -> None:
    (path / "state/0/0/5.delta").unlink()
    before = content(path)
    found = done(path)
    assert (found.newest_batch, found.last_batch) == (4, 3)
    assert not found.complete
    planned = given_up(path, apply=False)
    assert planned.complete
    assert (planned.drops_tail, planned.applied, planned.dropped_files) == (True, False, 6)
    assert content(path) == before


def test_a_query_goes_back_to_the_newest_batch_that_is_whole(path: Path) -> None:
    damage(path, "3.delta", "4.snapshot", "5.delta")
    for name in ("commits/.4.crc", "offsets/.4.crc", "offsets/.2.crc"):
        (path / name).write_bytes(b"crc\0")
    for batch in range(5):
        text = offsets(batch)[:-2].replace(b'WatermarkMs": 0', b'WatermarkMs": %d' % batch)
        (path / f"offsets/{batch}").write_bytes(text + str(batch).encode())
        (path / f"commits/{batch}").write_text(f'v1\n{{"nextBatchWatermarkMs":{batch + 1}}}')
    before = content(path)
    found = given_up(path)
    assert actions(found) == {"3.delta": "drop", "4.snapshot": "drop", "5.delta": "drop"}
    assert (found.last_batch, found.applied, found.complete) == (1, True, True)
    # Batch 5 is to do what batch 2 was planned to do, and batch 4 ends with what batch 1 left.
    logs = {"offsets/4", "offsets/5", "commits/4"}
    rest = {"metadata", "state/0/_metadata/metadata", "state/0/0/_metadata/schema"}
    assert names(path) == logs | {"state/0/0/5.snapshot"} | rest
    after = content(path)
    assert [json.loads(after[f"offsets/{b}"].split(b"\n")[2]) for b in (4, 5)] == [1, 2]
    assert after["commits/4"] == before["commits/1"]
    kept = content(Path(found.backup or ""))
    assert kept.pop("written.jsonl")
    replaced = {"offsets/4", "offsets/.4.crc", "commits/4", "commits/.4.crc"}
    assert kept == {name: before[name] for name in before.keys() - names(path) | replaced}
    checkpoint = Checkpoint.open(str(path))
    assert verify_checkpoint(checkpoint).sound
    assert (checkpoint.committed, checkpoint.planned) == ((4,), (4, 5))
    assert state(path) == {2: 20, 3: 30}
    assert done(path).steps == ()


def test_all_former_files_go_where_batches_are_given_up(path: Path) -> None:
    damage(path, "2.snapshot", "5.delta")
    found = given_up(path)
    assert actions(found) == {"2.snapshot": "drop", "5.delta": "drop"}
    assert found.last_batch == 3
    assert state(path) == {2: 20, 3: 31, 4: 40, 5: 50}
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound


def test_with_no_state_left_the_query_starts_over(path: Path) -> None:
    damage(path, "1.delta")
    (path / "commits/4").write_bytes(b'v1\n{"nextBatchWatermarkMs":40}')
    for name in ("2.snapshot", "4.snapshot"):
        (path / "state/0/0" / name).unlink()
    before = content(path)
    found = given_up(path)
    assert (found.last_batch, found.complete) == (-1, True)
    assert state(path) == {}
    checkpoint = Checkpoint.open(str(path))
    assert [store.snapshots.keys() for store in checkpoint.stores] == [{5}]
    assert verify_checkpoint(checkpoint).sound
    assert (checkpoint.committed, checkpoint.planned) == ((4,), (4, 5))
    after = content(path)
    # No source has come to an offset after batch 4, and batch 5 takes them as far as batch 0 did.
    assert after["offsets/4"].split(b"\n")[2:] == [b"-"]
    assert after["offsets/5"].split(b"\n")[2:] == before["offsets/0"].split(b"\n")[2:]
    assert b'"nextBatchWatermarkMs":0' in after["commits/4"]


def test_the_logs_have_to_reach_back_as_far(path: Path) -> None:
    damage(path, "3.delta", "4.snapshot")
    for batch in range(2):
        (path / f"offsets/{batch}").unlink()
        (path / f"commits/{batch}").unlink()
    before = content(path)
    found = given_up(path)
    assert (found.last_batch, found.complete, found.applied) == (None, False, False)
    assert content(path) == before
    result = command(path, "--drop-tail", "--apply")
    assert result.exit_code == 1
    assert "nor after any other one that the logs reach back to" in result.stderr


@pytest.mark.parametrize("how", ["gone", "truncated", "flipped"])
def test_all_stores_go_back_together(how: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "spark-4.3" / "join" / "checkpoint", path)
    add_file_sources(path)
    before = contents(Checkpoint.open(str(path)), 2)
    file = path / "state/0/1/right-keyToNumValues/3.delta"
    if how == "gone":
        file.unlink()
    elif how == "truncated":
        file.write_bytes(file.read_bytes()[:-30])
    else:
        bits = bytearray(file.read_bytes())
        bits[40] ^= 4
        file.write_bytes(bits)
    found = given_up(path)
    assert (found.newest_batch, found.last_batch, found.complete) == (3, 1, True)
    checkpoint = Checkpoint.open(str(path))
    assert verify_checkpoint(checkpoint).state_is_sound
    # The state of version 2 is that of version 4 now.
    assert contents(checkpoint, 4) == before


def test_a_store_that_is_gone_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "spark-4.3" / "windows" / "checkpoint", path)
    add_file_sources(path)
    assert done(path).complete
    for file in (path / "state/0/1").glob("*.*"):
        file.unlink()
    found = done(path)
    assert (found.complete, found.last_batch) == (False, -1)
    found = given_up(path)
    assert (found.complete, found.last_batch) == (True, -1)
    checkpoint = Checkpoint.open(str(path))
    assert verify_checkpoint(checkpoint).state_is_sound
    assert sum(len(rows) for rows in checkpoint.read()) == 0


def test_a_batch_that_may_be_running_is_not_given_up(path: Path) -> None:
    (path / "state/0/0/5.delta").unlink()
    (path / "offsets/5").write_bytes(offsets())
    before = content(path)
    result = command(path, "--drop-tail", "--apply")
    assert result.exit_code == 1
    assert "the batch 5 is planned and not committed, and a run may be in it" in result.stderr
    assert content(path) == before
    result = command(path, "--drop-tail", "--apply", "--stopped")
    assert "The query is back to after batch 3" in result.stdout
    checkpoint = Checkpoint.open(str(path))
    assert (checkpoint.committed, checkpoint.planned) == ((4,), (4, 5))


def test_going_back_to_before_checkpoint_format_2_leaves_a_commit_of_version_2(
    tmp_path: Path,
) -> None:
    path = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "spark-4.3/ids/checkpoint", path)
    add_file_sources(path)
    for checksums in path.rglob("*.crc"):
        checksums.unlink()
    _begin_in_format_1(path, versions=2)
    assert verify_checkpoint(Checkpoint.open(str(path))).goes_on
    (third,) = (path / "state/0/0").glob("3_*.delta")
    third.write_bytes(third.read_bytes()[:20])
    assert given_up(path).last_batch == 1
    assert (path / "commits/3").read_text().startswith("v2\n")
    assert verify_checkpoint(Checkpoint.open(str(path))).goes_on


def _begin_in_format_1(path: Path, *, versions: int) -> None:
    """Leave what a query leaves that was in checkpoint format 1 for so many versions."""
    for batch in range(versions):
        (path / f"commits/{batch}").write_text('v1\n{"nextBatchWatermarkMs":0}')
    later = path / f"commits/{versions}"
    later.write_text(re.sub(r"([0-9a-f]{32})-[0-9a-f]{32}", r"\1-none", later.read_text()))
    for file in [*path.glob("state/0/*/*_*-*.*")]:
        version = int(file.name.partition("_")[0])
        if version <= versions:
            file.rename(file.with_name(f"{version}{file.suffix}"))
        elif version == versions + 1 and file.suffix == ".delta":
            file.rename(file.with_name(re.sub(r"-[0-9a-f]{32}", "-none", file.name)))
        elif version == versions + 1:
            file.unlink()
