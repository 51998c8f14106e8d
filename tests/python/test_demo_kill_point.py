"""Where a killed query stood, by the files that it left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast_spark.demo.kill_point import KillPoint, find_kill_point, has_begun_to_write


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of a join in two partitions, killed in batch 10 after batch 9."""
    for batch in (9, 10):
        write(tmp_path / f"offsets/{batch}", "v1\n{}\n{}")
    write(tmp_path / "commits/9", "v1\n{}")
    write(tmp_path / "commits/.10.tmp", "")
    stores = [
        {"storeName": name, "numColsPrefixKey": 0, "numPartitions": 2} for name in ("left", "right")
    ]
    join = {"operatorId": 0, "operatorName": "symmetricHashJoin"}
    operator = {"operatorInfo": join, "stateStoreInfo": stores}
    write(tmp_path / "state/0/_metadata/metadata", f"v1\n{json.dumps(operator)}")
    for partition in (0, 1):
        for name in ("left", "right"):
            write(tmp_path / f"state/0/{partition}/{name}/10.delta", "abc")
    write(tmp_path / "state/0/0/left/.11.delta.1f.tmp", "ab")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_batch_has_begun_to_write_with_its_first_whole_file(checkpoint: Path) -> None:
    assert has_begun_to_write(checkpoint, 9)
    assert not has_begun_to_write(checkpoint, 10)
    write(checkpoint / "state/0/0/left/11.delta", "abc")
    assert has_begun_to_write(checkpoint, 10)


def test_a_store_in_the_folder_of_its_partition_counts_too(checkpoint: Path) -> None:
    write(checkpoint / "state/1/0/11.delta", "abc")
    assert has_begun_to_write(checkpoint, 10)


def test_a_killed_query_stands_in_the_batch_that_has_no_commit(checkpoint: Path) -> None:
    write(checkpoint / "state/0/0/left/11.delta", "abc")
    assert find_kill_point(checkpoint) == KillPoint(
        batch=10, committed=False, stores_written=1, state_stores=4
    )
    write(checkpoint / "commits/10", "v1\n{}")
    assert find_kill_point(checkpoint) == KillPoint(
        batch=10, committed=True, stores_written=1, state_stores=4
    )


def test_a_query_that_planned_nothing_stands_nowhere(tmp_path: Path) -> None:
    assert find_kill_point(tmp_path) is None
    assert not has_begun_to_write(tmp_path, 0)
    (tmp_path / "offsets").mkdir()
    assert find_kill_point(tmp_path) is None
