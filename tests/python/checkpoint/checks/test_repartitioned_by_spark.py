"""What `verify` says of checkpoints that Spark itself repartitions, or has, and what is left."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import PARTITIONS, counts, long_row, lz4, records, row
from checkpoint.checks.harm import invoke, verified
from checkpoint.plans import planned, replanned
from checkpoint.whole import BATCHES, SNAPSHOT
from holdfast_spark.capacity import observe
from holdfast_spark.checkpoint import Checkpoint, diff, read_rows
from holdfast_spark.report import make_report

NEXT = BATCHES


def plan_like(path: Path, batch: int, model: int, partitions: int) -> None:
    """Plan a batch as Spark does to repartition: a copy of another, but for the number."""

    def spread_anew(plan: dict[str, Any]) -> None:
        plan["conf"][PARTITIONS] = str(partitions)

    file = path / f"offsets/{batch}"
    file.write_text(replanned((path / f"offsets/{model}").read_text(), spread_anew))
    os.utime(file, (10 * batch, 10 * batch))


def spread(path: Path, batch: int) -> None:
    """Write the state of a batch to one partition, as a snapshot."""
    rows = ((long_row(key), long_row(7)) for key in range(9))
    (path / f"state/0/0/{batch + 1}.snapshot").write_bytes(lz4(records(rows)))


def commit_like(path: Path, batch: int, model: int) -> None:
    shutil.copy(path / f"commits/{model}", path / f"commits/{batch}")


def test_a_batch_that_repartitions_has_the_watermark_of_the_one_that_it_repeats(
    path: Path,
) -> None:
    plan_like(path, NEXT, NEXT - 1, 1)
    spread(path, NEXT)
    commit_like(path, NEXT, NEXT - 1)
    found = verified(path)
    assert (found.broken, found.goes_on, found.next_batch) == ((), True, NEXT + 1)


def test_batches_that_spark_gave_up_to_repartition_have_no_state(path: Path) -> None:
    # Planned, perhaps begun, and not committed.
    plan = planned((path / f"offsets/{NEXT - 1}").read_text())
    plan |= {"batchWatermarkMs": 500, "batchTimestampMs": plan["batchTimestampMs"] + 1}
    (path / f"offsets/{NEXT}").write_text(f'v1\n{json.dumps(plan)}\n{{"logOffset":{NEXT}}}')
    text = f'v1\n{{"path":"file:///in/{NEXT}.json","timestamp":1,"batchId":{NEXT}}}'
    (path / f"sources/0/{NEXT}").write_text(text)
    (path / f"commits/{NEXT}").write_text('v1\n{"nextBatchWatermarkMs":0}')
    plan_like(path, NEXT + 1, NEXT - 1, 1)
    spread(path, NEXT + 1)
    commit_like(path, NEXT + 1, NEXT - 1)
    found = verified(path)
    assert (found.broken, found.goes_on, found.next_batch) == ((), True, NEXT + 2)


@pytest.mark.parametrize("partitions", [1, 5])
def test_a_repartitioning_that_spark_has_not_finished_keeps_the_query_from_starting(
    path: Path, partitions: int
) -> None:
    plan_like(path, NEXT, NEXT - 1, partitions)
    found = verified(path)
    (broken,) = found.broken
    assert (broken.path, broken.stops) == (str(path / f"offsets/{NEXT}"), True)
    assert f"pins {partitions} for {PARTITIONS}: expected 2" in broken.error
    assert not found.goes_on
    # Of the state nothing is lost, and what is written already does not count.
    assert all(store.recoverable for store in found.stores)
    assert [store.partition_id for store in found.stores] == [0, 1]
    if partitions == 1:
        spread(path, NEXT)
        assert verified(path).broken == found.broken
    assert invoke("verify", path).exit_code == 1


def test_another_watermark_is_still_told_after_a_repartitioning(path: Path) -> None:
    plan_like(path, SNAPSHOT + 2, SNAPSHOT + 1, 1)
    spread(path, SNAPSHOT + 2)
    commit_like(path, SNAPSHOT + 2, SNAPSHOT + 1)
    file = path / f"offsets/{SNAPSHOT + 2}"
    file.write_text(file.read_text().replace('"batchWatermarkMs": 400', '"batchWatermarkMs": 300'))
    assert not verified(path).goes_on


def test_what_an_earlier_number_of_partitions_has_left_is_passed_over(tmp_path: Path) -> None:
    versions = {"1.delta": [row(1, 1)], "2.delta": [row(2, 2), row(1, None)], "3.delta": []}
    path = counts(tmp_path / "c", versions, batches=3)
    left = path / "state/0/1/1.delta"
    left.parent.mkdir()
    left.write_bytes(lz4(records([row(9, 9)])))
    (path / "state/0/0/other").mkdir()
    shutil.copy(left, path / "state/0/0/other/7.delta")
    assert verified(path).sound
    checkpoint = Checkpoint.open(path)
    assert [each for piece in read_rows(checkpoint) for each in piece["key"].to_pylist()] == [
        {"k": 2}
    ]
    # It was there after the first batch.
    first = [piece.to_pylist() for piece in read_rows(checkpoint, batch_id=0)]
    assert [found["key"]["k"] for (found,) in first] == [1, 9]
    assert (diff(checkpoint, from_batch=1).added, diff(checkpoint, from_batch=1).removed) == (0, 0)
    report = make_report(checkpoint)
    assert [store.versions[-1].rows for store in report.stores] == [1]
    assert [load.rows for load in observe(checkpoint, 0).loads] == [1]
    assert invoke("report", path, "--output", str(tmp_path / "page.html")).exit_code == 0


@pytest.mark.parametrize("has_metadata", [True, False])
@pytest.mark.parametrize("name", ["3.delta", "4.delta", f"3_{'a' * 32}-{'b' * 32}.delta"])
def test_what_a_run_from_before_a_repartitioning_has_left_is_passed_over(
    tmp_path: Path, name: str, has_metadata: bool
) -> None:
    versions = {"2.snapshot": [row(1, 1), row(2, 2)], "3.delta": [row(1, None)]}
    path = counts(tmp_path / "c", versions, batches=3)
    left = path / "state/0/3" / name
    left.parent.mkdir()
    left.write_bytes(lz4(records([row(9, 9)])))
    if not has_metadata:
        shutil.rmtree(path / "state/0/_metadata")
    assert verified(path).sound
    shown = invoke("show", path, "--json")
    assert [json.loads(line)["key"] for line in shown.output.splitlines()] == [{"k": 2}]
    for command, *options in (
        ("inspect",),
        ("diff", "--from-batch", "1"),
        ("report", "--output", str(tmp_path / "page.html")),
        ("repair",),
        ("repair", "--drop-tail"),
        ("migrate", "--to", "hdfs"),
        ("savepoint", str(tmp_path / "savepoint")),
    ):
        done = invoke(command, path, *options)
        assert done.exit_code == 0, done.output
        assert "0/3" not in done.output
    assert [load.rows for load in observe(Checkpoint.open(tmp_path / "savepoint"), 0).loads] == [1]
    if has_metadata:  # which a repartitioning needs
        again = invoke("repartition", path, "--partitions", "2", "--apply", "--settled", "0")
        assert again.exit_code == 0, again.output
        assert not left.exists()
        assert verified(path).sound
