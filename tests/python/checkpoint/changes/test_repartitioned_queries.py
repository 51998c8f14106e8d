"""Real queries that go on with another number of partitions, or from an earlier batch."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checkpoint.checkpoints import AT_ONCE
from checkpoint.streams import StatefulQueries, rows_in_order, write_inputs
from harness import SharedSpark, is_since
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.since("4.0", "metadata of operators, which tells how rows are placed"),
]

SINGLE = {"global", "limit"}


def spread(folder: Path, partitions: int) -> None:
    """Repartition the checkpoints in a folder."""
    for path in folder.iterdir():
        done = repartition(Checkpoint.open(str(path)), partitions, apply=True, settled=AT_ONCE)
        assert done.applied
        assert sum(store.rows for store in done.stores) > 0


@pytest.mark.parametrize(
    ("provider", "names"),
    [
        # Of both providers together, each kind of state.
        ("spark", "windows,global,distinct,join,pandas"),
        pytest.param("spark", "all", marks=pytest.mark.long),
        pytest.param("holdfast", "all", marks=pytest.mark.long),
        ("holdfast_with_ids", "counts,sessions,outer_join,limit"),
        pytest.param("holdfast_with_ids", "all", marks=pytest.mark.long),
    ],
)
def test_queries_go_on_as_if_they_had_always_had_their_partitions(
    provider: str, names: str, shared_spark: SharedSpark, tmp_path: Path
) -> None:
    inputs, first = tmp_path / "inputs", tmp_path / "3"
    write_inputs(inputs, range(2))
    queries = StatefulQueries(shared_spark, inputs, partitions=3, names=names)
    started = queries.run(provider, first)[str(first)]
    for partitions in (7, 2):
        shutil.copytree(first, tmp_path / str(partitions))
        spread(tmp_path / str(partitions), partitions)
    write_inputs(inputs, range(2, 4))
    folders = [tmp_path / str(partitions) for partitions in (3, 7, 2)]
    # Spark 4.0 does not ask for state by ids.
    reads = is_since("4.1") or provider != "holdfast_with_ids"
    # What the session has does not count.
    found = queries.run(provider, *folders, read="state" if reads else "nothing")
    expected = found[str(first)]
    for partitions, folder in zip((3, 7, 2), folders, strict=True):
        for query, result in found[str(folder)].items():
            wanted = rows_in_order(expected[query]["output"])
            last = max(started[query]["output"], key=int)
            # The batch without data; an aggregation without a key tells its row once more in it.
            if partitions != 3:
                again = result["output"].pop(str(int(last) + 1), [])
                assert again in ([], started[query]["output"][last]), (partitions, query)
            assert rows_in_order(result["output"]) == wanted, (partitions, query)
            if reads:
                assert result["state"] == expected[query]["state"], (partitions, query)
                assert set(result["partitions"]) == {partitions}
            assert min(map(int, result["output"])) > int(last)
            check_places(folder / query, partitions, single=query in SINGLE)
    for query, result in expected.items():
        assert any(result["output"].values()), query
        assert not reads or any(result["state"].values()), query


def check_places(path: Path, partitions: int, *, single: bool) -> None:
    """Check that Spark put the rows that came later where the earlier ones are."""
    checkpoint = Checkpoint.open(str(path))
    stores = {store.partition_id for store in checkpoint.stores}
    assert stores == (set(range(1 if single else partitions)))
    assert repartition(checkpoint, 11, settled=AT_ONCE).from_partitions == partitions


# What happens to the store of a partition, and the batch that the query goes back to.
Harm = Callable[[Path], None]


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def flip(file: Path) -> None:
    """Flip bits of several bytes: one may be a distance to what is there twice."""
    content = file.read_bytes()
    middle = len(content) // 2
    flipped = bytes(byte ^ 0x40 for byte in content[middle : middle + 16])
    file.write_bytes(content[:middle] + flipped + content[middle + 16 :])


def damages(newest: int) -> Iterator[tuple[str, dict[str, Harm], int]]:
    """Yield kinds of damage: to the snapshot of version 2 and the deltas behind it."""
    yield "missing-delta", {f"0/{newest}.delta": Path.unlink}, newest - 2
    yield "truncated-delta", {"1/4.delta": cut}, 2
    yield "flipped-bits", {"0/3.delta": flip, f"1/{newest}.delta": flip}, 1
    yield "missing-snapshot", {"1/2.snapshot": Path.unlink}, -1
    yield "both", {"0/2.snapshot": flip, f"1/{newest}.delta": Path.unlink}, -1


@pytest.mark.parametrize(
    ("provider", "names"),
    [
        ("holdfast", ("counts",)),
        pytest.param("holdfast", ("pandas",), marks=pytest.mark.long),
        pytest.param("spark", ("counts", "pandas"), marks=pytest.mark.long),
    ],
)
def test_queries_go_back_and_come_to_the_same_result(
    provider: str, names: tuple[str, ...], shared_spark: SharedSpark, tmp_path: Path
) -> None:
    inputs, whole = tmp_path / "inputs", tmp_path / "whole"
    queries = StatefulQueries(shared_spark, inputs, partitions=3, names=",".join(names))
    outputs = []
    for numbers in (range(2), range(2, 5)):
        write_inputs(inputs, numbers)
        outputs.append(queries.run(provider, whole)[str(whole)])
        if not numbers.start:
            # A snapshot, for which the queries are too short.
            spread(whole, 2)
    folders = []
    rerun = {}
    # Batch 2 was that of the new partitions, without data.
    for name, harms, last in damages(newest=6):
        folders.append(tmp_path / name)
        rerun[str(folders[-1])] = str(last + 1)
        shutil.copytree(whole, folders[-1])
        for query in names:
            path = folders[-1] / query
            for file, harm in harms.items():
                harm(path / "state/0" / file)
            done = repair(Checkpoint.open(str(path)), drop_tail=True, apply=True, settled=AT_ONCE)
            assert (done.last_batch, done.complete, done.applied) == (last, True, True), name
    write_inputs(inputs, range(5, 6))
    after = queries.run(provider, whole, *folders, read="state")
    expected = after.pop(str(whole))
    for folder, found in after.items():
        for query, result in found.items():
            assert result["state"] == expected[query]["state"], folder
            begun = [output[query]["output"] for output in outputs]
            kept = upserted(*begun, expected[query]["output"])
            assert upserted(*begun, result["output"]) == kept, folder
            first = min(result["output"], key=int)
            assert result["output"][first] == {**begun[0], **begun[1]}[rerun[folder]], folder


def upserted(*outputs: dict[str, list[str]]) -> dict[str, str]:
    """What a sink has in the end that keeps the newest row of each key."""
    rows: dict[str, str] = {}
    for output in outputs:
        for batch in sorted(output, key=int):
            for row in output[batch]:
                key, _, value = row.partition(", rows=")
                rows[key] = value
    return rows
