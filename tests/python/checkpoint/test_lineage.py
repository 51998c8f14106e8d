"""Checkpoint format 2: the commit log says which attempts count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import AT_ONCE, Row, counts, lz4, offsets, records, row
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.savepoint import make_savepoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.checks.verified import BrokenFile
from holdfast_spark.checkpoint.difference import Side, compare
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    MissingVersionError,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.providers import HOLDFAST
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.cli import main as cli


def attempt(letter: str, base: str | None) -> str:
    """The id of an attempt that is named by a letter."""
    return f"{letter * 32}-{base * 32 if base else 'none'}"


FIRST, LOST, SECOND, THIRD = (
    attempt("a", None),
    attempt("b", "a"),
    attempt("c", "a"),
    attempt("d", "c"),
)
FILES = {
    f"1_{FIRST}.delta": [row(1, 10)],
    f"2_{LOST}.delta": [row(1, 99), row(9, 99)],
    f"2_{LOST}.snapshot": [row(1, 99), row(9, 99)],
    f"2_{SECOND}.delta": [row(2, 20)],
    f"3_{THIRD}.delta": [row(1, None), row(3, 30)],
}


def format_2(folder: Path, files: Mapping[str, Sequence[Row]], ids: Sequence[str | None]) -> Path:
    """A checkpoint whose commit log has these ids of one store, batch by batch."""
    counts(folder, files, batches=len(ids))
    for batch, unique_id in enumerate(ids):
        found = {"stateUniqueIds": {"0": [[unique_id]]}} if unique_id else {}
        metadata = {"nextBatchWatermarkMs": 0, **found}
        (folder / f"commits/{batch}").write_text(f"v2\n{json.dumps(metadata)}")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return format_2(tmp_path / "checkpoint", FILES, [FIRST, SECOND, THIRD])


def rows(path: Path, batch_id: int | None = None) -> dict[int, int]:
    pieces = Checkpoint.open(str(path)).read(batch_id=batch_id)
    return {each["key"]["k"]: each["value"]["n"] for p in pieces for each in p.to_pylist()}


def test_versions_are_read_along_the_attempts_that_won(path: Path) -> None:
    assert rows(path) == {2: 20, 3: 30}
    assert rows(path, 1) == {1: 10, 2: 20}
    assert rows(path, 0) == {1: 10}


def test_the_commit_log_decides_between_attempts(path: Path) -> None:
    (path / "commits/2").unlink()
    metadata = {"stateUniqueIds": {"0": [[LOST]]}}
    (path / "commits/1").write_text(f"v2\n{json.dumps(metadata)}")
    assert rows(path) == {1: 99, 9: 99}


def test_files_of_other_attempts_are_told_apart(tmp_path: Path) -> None:
    # One of them is of a batch that was planned, and not committed.
    files = {**FILES, f"4_{attempt('e', 'd')}.delta": [row(9, 1)]}
    path = format_2(tmp_path / "checkpoint", files, [FIRST, SECOND, THIRD])
    (path / "offsets/3").write_bytes(offsets(3))
    (store,) = Checkpoint.open(str(path)).stores
    assert store.versions == (1, 2, 3)
    assert [(file.version, file.kind) for file in store.others] == [
        *((2, "delta"), (2, "snapshot"), (4, "delta")),
    ]
    ((summary,),) = [o.stores for o in inspect_checkpoint(Checkpoint.open(str(path))).operators]
    assert (summary.versions, summary.deltas, summary.snapshots) == ("1-3", 3, 0)
    assert (summary.newest_version, summary.other_attempts) == (3, 3)


def test_a_snapshot_of_another_attempt_is_no_base(path: Path) -> None:
    (path / f"state/0/0/1_{FIRST}.delta").unlink()
    with pytest.raises(MissingVersionError, match="Version 3 of the store 0/0 cannot be read"):
        rows(path)


def test_a_missing_file_does_not_hide_what_lies_before_it(path: Path) -> None:
    (path / f"state/0/0/2_{SECOND}.delta").unlink()
    assert rows(path, 0) == {1: 10}


def test_versions_of_format_1_may_lie_before(tmp_path: Path) -> None:
    second = attempt("b", None)
    files = {"1.delta": [row(1, 10)], f"2_{second}.delta": [row(2, 20)], "2.delta": [row(7, 7)]}
    path = format_2(tmp_path / "checkpoint", files, [None, second])
    assert rows(path) == {1: 10, 2: 20}
    assert rows(path, 0) == {1: 10}


def test_without_a_commit_nothing_counts(tmp_path: Path) -> None:
    path = format_2(tmp_path / "checkpoint", {f"1_{FIRST}.delta": [row(1, 10)]}, [])
    (path / "offsets").mkdir()
    (path / "offsets/0").write_text("v1\n{}\n{}")
    (store,) = Checkpoint.open(str(path)).stores
    assert (store.files, len(store.others)) == ((), 1)
    ((summary,),) = [o.stores for o in inspect_checkpoint(Checkpoint.open(str(path))).operators]
    assert (summary.newest_version, summary.versions, summary.other_attempts) == (0, "", 1)


def test_every_file_is_verified(path: Path) -> None:
    found = verify_checkpoint(Checkpoint.open(str(path)))
    assert found.sound
    assert (found.files, found.records) == (5, 8)
    assert found.stores[0].versions == "1-3"
    lost = path / f"state/0/0/2_{LOST}.delta"
    lost.write_bytes(lost.read_bytes()[:20])
    found = verify_checkpoint(Checkpoint.open(str(path)))
    assert [file.path for file in found.broken] == [str(lost)]
    assert found.stores[0].recoverable


def test_two_versions_are_compared(path: Path) -> None:
    checkpoint = Checkpoint.open(str(path))
    first, second = (Side(checkpoint=checkpoint, batch_id=batch) for batch in (1, 2))
    found = {each.change: each.keys.to_pylist() for each in compare(first, second)}
    assert found == {"added": [{"k": 3}], "removed": [{"k": 1}]}


def test_a_savepoint_has_the_files_that_count(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    made = make_savepoint(Checkpoint.open(str(path)), Location.of(str(copy)), batch_id=1)
    assert made.records == 2
    names = {file.name for file in (copy / "state/0/0").glob("*.delta")}
    assert names == {f"1_{FIRST}.delta", f"2_{SECOND}.delta"}
    assert rows(copy) == {1: 10, 2: 20}


def test_batches_that_are_given_up_go_with_all_attempts_at_them(path: Path) -> None:
    (path / f"state/0/0/3_{THIRD}.delta").unlink()
    found = repair(Checkpoint.open(str(path)), drop_tail=True, apply=True, settled=AT_ONCE)
    assert (found.newest_batch, found.last_batch, found.complete) == (2, 1, True)
    commit = json.loads((path / "commits/2").read_text().split("\n")[1])
    ((new_id,),) = commit["stateUniqueIds"]["0"]
    left = {file.name for file in (path / "state/0/0").glob("*.*")}
    assert left == {f"3_{new_id}.snapshot"}
    assert new_id not in {FIRST, LOST, SECOND, THIRD}
    assert rows(path) == {1: 10, 2: 20}
    assert Checkpoint.open(str(path)).planned == (2, 3)


def test_a_damaged_snapshot_is_rebuilt_from_its_own_line(path: Path) -> None:
    snapshot = path / f"state/0/0/3_{THIRD}.snapshot"
    snapshot.write_bytes(b"x")
    arguments = ["repair", str(path), "--settled", "0", "--apply"]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.stderr
    assert rows(path) == {2: 20, 3: 30}
    for delta in (path / "state/0/0").glob("[23]_*.delta"):
        delta.unlink()
    assert rows(path) == {2: 20, 3: 30}


def test_damaged_ids_are_a_sentence(path: Path) -> None:
    (path / "commits/2").write_text('v2\n{"stateUniqueIds": [7]}')
    with pytest.raises(MalformedFileError, match="commits/2 is damaged: expected in stateUniqueI"):
        rows(path)


def test_spark_s_default_provider_gets_files_without_ids(path: Path) -> None:
    before = rows(path)
    (path / "offsets/2").write_bytes(offsets(providerClass=HOLDFAST))
    (path / "commits/.2.crc").touch()
    assert not migrate(Checkpoint.open(str(path)), "hdfs", settled=AT_ONCE).applied
    told = CliRunner().invoke(cli.main, ["migrate", str(path), "--to", "hdfs", "--settled", "0"])
    assert "leave spark.sql.streaming.stateStore.checkpointFormatVersion at 1" in told.stdout
    done = migrate(Checkpoint.open(str(path)), "hdfs", apply=True, settled=AT_ONCE)
    assert (done.applied, done.converted_stores, done.records) == (True, 1, len(before))
    assert rows(path) == before
    assert sorted(file.name for file in (path / "state/0/0").iterdir()) == [
        *("3.snapshot", "_metadata"),
    ]
    assert (path / "commits/2").read_text() == 'v1\n{"nextBatchWatermarkMs":0}'
    assert not (path / "commits/.2.crc").exists()
    assert (path / "commits/1").read_text().startswith("v2\n")
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    kept = Path(done.backup or "")
    assert (kept / "commits/2").read_text().startswith("v2\n")
    assert len(list(kept.glob("state/0/0/*.delta"))) == 4


@pytest.mark.parametrize("name", ["4_late.delta", "5_late.delta", "3_late.snapshot"])
def test_a_late_file_with_an_id_is_named_and_set_aside(path: Path, name: str) -> None:
    (path / "offsets/2").write_bytes(offsets(providerClass=HOLDFAST))
    migrate(Checkpoint.open(str(path)), "hdfs", apply=True, settled=AT_ONCE)
    before = rows(path)
    late = path / f"state/0/0/{name}"
    late.write_bytes(lz4(records([row(7, 70)])))
    found = verify_checkpoint(Checkpoint.open(str(path)))
    assert not found.goes_on
    assert any(
        file.path == str(late) and "Spark's default provider fails at it" in file.error
        for file in found.broken
    )
    done = repair(Checkpoint.open(str(path)), apply=True, settled=AT_ONCE)
    assert [(step.path, step.action) for step in done.steps] == [(str(late), "set aside")]
    assert done.complete
    assert not late.exists()
    assert (Path(done.backup or "") / f"state/0/0/{name}").exists()
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    assert rows(path) == before


def test_a_late_file_with_an_id_is_none_of_holdfast_s_troubles(path: Path) -> None:
    commit = '{"nextBatchWatermarkMs":0}'
    (path / "commits/2").write_text(f"v1\n{commit}")
    (path / "offsets/2").write_bytes(offsets(providerClass=HOLDFAST))
    assert not any("has an id" in file.error for file in verified(path))


def verified(path: Path) -> tuple[BrokenFile, ...]:
    return verify_checkpoint(Checkpoint.open(str(path))).broken


def test_damage_in_format_2_is_not_converted(path: Path) -> None:
    (path / "offsets/2").write_bytes(offsets(providerClass=HOLDFAST))
    (path / f"state/0/0/3_{THIRD}.delta").write_bytes(b"x")
    with pytest.raises(CheckpointError, match="is not switched: 1 file is damaged"):
        migrate(Checkpoint.open(str(path)), "hdfs", apply=True, settled=AT_ONCE)
    assert not (path / "holdfast-backup").exists()
