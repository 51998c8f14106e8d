"""Reading a checkpoint's folders, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.demo.checkpoint_files import (
    KillPoint,
    OperatorFiles,
    kill_point,
    operator_files,
    provider_class,
    stores_with_version,
)

PROVIDER = "spark.sql.streaming.stateStore.providerClass"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of a join and an aggregation, killed in batch 10 after batch 9."""
    for batch in (9, 10):
        write(
            tmp_path / f"offsets/{batch}",
            f'v1\n{{"batchWatermarkMs":0,"conf":{{"{PROVIDER}":"p{batch}"}}}}\n{{}}',
        )
    write(tmp_path / "commits/9", "v1\n{}")
    write(tmp_path / "commits/.10.tmp", "")
    for partition in (0, 1):
        for name in ("left", "right"):
            write(tmp_path / f"state/0/{partition}/{name}/10.delta", "abc")
    write(tmp_path / "state/0/0/left/11.delta", "abc")
    write(tmp_path / "state/0/0/left/10.snapshot", "abcdefg")
    write(tmp_path / "state/0/0/left/.11.delta.1f.tmp", "ab")
    write(tmp_path / "state/0/0/left/.11.delta.crc", "")
    write(tmp_path / "state/1/0/10.delta", "a")
    write(tmp_path / "state/1/0/_metadata/schema", "v3\n")
    metadata = json.dumps({"operatorInfo": {"operatorId": 1, "operatorName": "stateStoreSave"}})
    write(tmp_path / "state/1/_metadata/.metadata.crc", "")
    write(tmp_path / "state/1/_metadata/metadata", f"v1\n{metadata}")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_newest_batch_tells_the_provider(checkpoint: Path) -> None:
    assert provider_class(checkpoint) == "p10"


def test_a_killed_query_stands_in_the_batch_that_has_no_commit(checkpoint: Path) -> None:
    expected = KillPoint(batch=10, committed=False, stores_written=1, state_stores=5)
    assert kill_point(checkpoint) == expected
    write(checkpoint / "commits/10", "v1\n{}")
    assert kill_point(checkpoint) == KillPoint(
        batch=10, committed=True, stores_written=1, state_stores=5
    )


def test_a_query_that_planned_nothing_stands_nowhere(tmp_path: Path) -> None:
    assert kill_point(tmp_path) is None
    assert provider_class(tmp_path) is None
    assert stores_with_version(tmp_path, 1) == 0
    (tmp_path / "offsets").mkdir()
    assert kill_point(tmp_path) is None


def test_files_are_counted_by_operator(checkpoint: Path) -> None:
    assert operator_files(checkpoint) == [
        OperatorFiles(
            operator=0,
            name="unknown",
            state_stores=4,
            deltas=5,
            delta_bytes=15,
            snapshots=1,
            snapshot_bytes=7,
        ),
        OperatorFiles(
            operator=1,
            name="stateStoreSave",
            state_stores=1,
            deltas=1,
            delta_bytes=1,
            snapshots=0,
            snapshot_bytes=0,
        ),
    ]
