"""Switching a query to another provider: refused, planned, done, undone, and in a real query."""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner, Result

from checkpoint.checkpoints import (
    AT_ONCE,
    HDFS,
    PARTITIONS,
    PROVIDER,
    content,
    counts,
    lz4,
    offsets,
    records,
    row,
)
from harness import SharedSpark
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes import stopped
from holdfast_spark.checkpoint.changes.migration import Migration, migrate
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.inspection import inspect_checkpoint
from holdfast_spark.cli import main as cli

HOLDFAST = "io.holdfast.HoldfastStateStoreProvider"
APP = Path(__file__).parents[1] / "apps" / "count_on.py"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A checkpoint of two batches, with checksums as Hadoop leaves them beside local files."""
    versions = {"1.delta": [row(1, 10)], "2.delta": [row(2, 20)]}
    folder = counts(tmp_path / "checkpoint", versions, batches=2)
    for batch in range(2):
        (folder / f"offsets/.{batch}.crc").write_bytes(b"crc\0")
    return folder


def switch(
    path: Path, to: str = "holdfast", *, apply: bool = True, stopped: bool = False
) -> Migration:
    return migrate(Checkpoint.open(str(path)), to, apply=apply, stopped=stopped, settled=AT_ONCE)


def test_a_dry_run_changes_nothing(path: Path) -> None:
    before = content(path)
    planned = switch(path, apply=False)
    assert (planned.from_provider, planned.to_provider) == (HDFS, HOLDFAST)
    assert (planned.applied, planned.backup) == (False, None)
    assert (planned.files, planned.records) == (2, 2)
    assert content(path) == before


def test_the_newest_batch_and_the_next_name_the_provider(path: Path) -> None:
    (path / "commits/1").write_bytes(b'v1\n{"nextBatchWatermarkMs":7}')
    before = content(path)
    done = switch(path)
    assert done.applied
    after = content(path)
    backup = str(Path(done.backup or "").relative_to(path))
    kept = {n.removeprefix(f"{backup}/"): after.pop(n) for n in list(after) if n.startswith(backup)}
    assert kept.pop("written.jsonl")
    assert kept == {n: before[n] for n in ("offsets/1", "offsets/.1.crc", "commits/1")}
    assert before.pop("offsets/.1.crc")
    old, new = (text.pop("offsets/1").decode().split("\n") for text in (before, after))
    planned = after.pop("offsets/2").decode().split("\n")
    assert after == before
    (path / "offsets/.0.crc").unlink()
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    old_conf, new_conf, next_conf = (json.loads(lines[1]) for lines in (old, new, planned))
    assert next_conf["batchWatermarkMs"] == 7
    assert next_conf["batchTimestampMs"] > new_conf["batchTimestampMs"]
    assert {**next_conf, **{n: new_conf[n] for n in new_conf if n != "conf"}} == new_conf
    assert new_conf["conf"].pop(PROVIDER) == HOLDFAST
    assert old_conf["conf"].pop(PROVIDER) == HDFS
    assert old_conf == new_conf
    # Batch 2 has no data: each source stays where it is.
    assert (old[0], old[2:]) == (new[0], new[2:]) == (planned[0], planned[2:])
    checkpoint = Checkpoint.open(str(path))
    assert checkpoint.settings.provider_class == HOLDFAST
    assert (checkpoint.planned, checkpoint.committed) == ((0, 1, 2), (0, 1))


def test_a_commit_without_a_watermark_announces_none(path: Path) -> None:
    (path / "commits/1").write_bytes(b'v1\n{"nextBatchWatermarkMs":null}')
    assert switch(path).applied
    assert Checkpoint.open(str(path)).batch().watermark_ms == 0


def test_the_way_back_gives_the_same_settings(path: Path) -> None:
    before = Checkpoint.open(str(path)).settings
    switch(path)
    (odd,) = inspect_checkpoint(Checkpoint.open(str(path))).odd
    assert odd == "Batch 2 was planned by a change with Holdfast: the query has yet to run it."
    refused(path, r"the batch 2 that holdfast planned in an earlier change is not comm", to="hdfs")
    back = switch(path, "hdfs", stopped=True)
    assert (back.from_provider, back.to_provider) == (HOLDFAST, HDFS)
    assert Checkpoint.open(str(path)).settings == before
    assert Checkpoint.open(str(path)).committed == (0, 1)
    again = switch(path, "hdfs")
    assert not again.applied


def test_the_file_keeps_its_mode(path: Path) -> None:
    (path / "offsets/1").chmod(0o640)
    switch(path)
    assert (path / "offsets/1").stat().st_mode & 0o777 == 0o640


def test_another_file_system_serves_as_well(path: Path) -> None:
    fs = fsspec.filesystem("memory")
    fs.put(str(path), "/moved", recursive=True)
    assert migrate(
        Checkpoint.open("memory://moved"), "holdfast", apply=True, settled=AT_ONCE
    ).applied
    assert Checkpoint.open("memory://moved").settings.provider_class == HOLDFAST
    assert not fs.exists("/moved/offsets/.1.crc")
    fs.rm("/moved", recursive=True)


def refused(path: Path, text: str, *, to: str = "holdfast", settled: float = 0) -> None:
    """Check that a switch fails with this in its sentence and leaves everything as it was."""
    before = content(path)
    checkpoint = Checkpoint.open(str(path))
    with pytest.raises(CheckpointError, match=text):
        migrate(checkpoint, to, apply=True, settled=timedelta(seconds=settled))
    assert content(path) == before


def test_a_query_that_wrote_a_moment_ago_is_not_touched(path: Path) -> None:
    for file in path.rglob("*"):
        os.utime(file, (0, 0))
    os.utime(path / "commits/1", (time.time() - 30, time.time() - 30))
    refused(path, r"seems to be running: .*commits/1 changed 3\d s ago", settled=60)
    assert migrate(
        Checkpoint.open(str(path)), "holdfast", apply=True, settled=timedelta(seconds=10)
    ).applied


def test_a_query_that_goes_on_meanwhile_keeps_its_provider(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Location.replace

    def replace_while_running(location: Location, text: bytes) -> None:
        replace(location, text)
        (path / "commits/2").write_bytes(b"v1\n{}")

    monkeypatch.setattr(Location, "replace", replace_while_running)
    before = content(path)
    with pytest.raises(CheckpointError, match="commits/2 has changed meanwhile"):
        switch(path)
    after = content(path)
    assert after["offsets/1"] == before["offsets/1"]
    assert after["offsets/.1.crc"] == before["offsets/.1.crc"]


def test_a_change_before_the_switch_stops_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listings: list[list[Entry]] = []
    entries = stopped.entries

    def changing(checkpoint: Location) -> list[Entry]:
        listings.append(entries(checkpoint))
        return listings[-1][: len(listings[-1]) - len(listings) + 1]

    monkeypatch.setattr(stopped, "entries", changing)
    refused(path, "has changed meanwhile. Stop it and try again")


def test_a_full_disk_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    refused(path, r"Cannot write .*/new/offsets/1: No space left on device")


def test_damaged_state_is_not_switched(path: Path) -> None:
    (path / "state/0/0/2.delta").write_bytes(lz4(records([row(2, 20)]))[:40])
    refused(path, "is not switched: 1 file is damaged, and 1 store lacks the version")


def test_what_is_not_right_is_said_in_whole_sentences(path: Path) -> None:
    (path / "state/0/0/2.snapshot").write_bytes(lz4(records([row(9, 9)])))
    refused(
        path,
        r"is not switched: 1 file is gone, or of another version\. It begins with .*/2\.snapshot\. "
        "holdfast verify names what",
    )


def test_files_of_rocksdb_are_not_taken_for_shared_ones(path: Path) -> None:
    (path / "state/0/0/2.zip").touch()
    refused(path, "written by Spark's RocksDB provider, and the query is bound to .*HDFSBacked")


OTHER = "org.example.Provider"


def test_a_provider_that_is_unknown_has_to_be_named(path: Path) -> None:
    for batch in range(2):
        (path / f"offsets/{batch}").write_bytes(offsets(batch, providerClass=OTHER))
    refused(path, rf"is bound to {OTHER}, which is none of .* give --from {OTHER} besides --to")
    checkpoint = Checkpoint.open(str(path))
    with pytest.raises(CheckpointError, match=rf"bound to {OTHER}, and not to org.example.Another"):
        migrate(checkpoint, "holdfast", bound_to="org.example.Another", settled=AT_ONCE)
    done = migrate(checkpoint, "holdfast", bound_to=OTHER, apply=True, settled=AT_ONCE)
    assert (done.applied, done.from_provider, done.records) == (True, OTHER, 2)
    assert Checkpoint.open(str(path)).settings.provider_class == HOLDFAST


def test_a_name_with_a_typo_does_not_bind_a_query_for_good(tmp_path: Path) -> None:
    """Spark writes the class into the offsets of batch 0, and then fails in that batch."""
    typo = "io.holdfast.HoldfastStoreProvider"
    path = counts(tmp_path / "checkpoint", {}, batches=0)
    (path / "offsets").mkdir()
    (path / "commits").mkdir()
    (path / "offsets/0").write_bytes(offsets(providerClass=typo))
    refused(
        path,
        rf"besides --to \(bound_to='{typo}' in Python\): what it has written is then read first",
    )

    with pytest.raises(CheckpointError, match=f"holdfast migrate --from {typo} --to holdfast"):
        Checkpoint.open(str(path)).require_readable()

    def run(*options: str) -> Result:
        now = ["migrate", str(path), "--settled", "0", "--to", "holdfast", "--apply", *options]
        return CliRunner().invoke(cli.main, now)

    result = run("--from", typo)
    assert result.exit_code == 1
    assert "or, if you know that the query runs nowhere, give --stopped" in result.stderr
    result = run("--from", typo, "--stopped")
    assert result.exit_code == 0, result.stderr
    checkpoint = Checkpoint.open(str(path))
    assert checkpoint.settings.provider_class == HOLDFAST
    assert (checkpoint.planned, checkpoint.committed) == ((0,), ())


def test_offsets_without_settings_get_them(path: Path) -> None:
    for batch in ("0", "1"):
        (path / "offsets" / batch).write_bytes(b"v1\n{}\n{}")
    assert switch(path).applied
    for batch in ("1", "2"):
        lines = (path / "offsets" / batch).read_text().split("\n")
        assert json.loads(lines[1])["conf"] == {PROVIDER: HOLDFAST, PARTITIONS: "1"}
        assert lines[2:] == ["{}"]


def test_the_command_says_what_it_does(path: Path) -> None:
    def run(*options: str) -> str:
        result = CliRunner().invoke(cli.main, ["migrate", str(path), *options])
        assert result.exit_code == 0, result.stderr
        return result.stdout

    now = ("--to", "holdfast", "--settled", "0")
    assert f"would name {HOLDFAST}.\nNothing was changed." in run(*now)
    assert "What was replaced is in" in run(*now, "--apply")
    assert "nothing to do" in run(*now, "--apply")
    done = json.loads(run("--to", "hdfs", "--settled", "0", "--stopped", "--apply", "--json"))
    assert (done["applied"], done["to_provider"]) == (True, HDFS)
    result = CliRunner().invoke(cli.main, ["migrate", str(path), "--to", "holdfast", "--apply"])
    assert result.exit_code == 1
    assert "seems to be running" in result.stderr
    told = run("--to", "holdfast")
    assert f"would name {HOLDFAST}.\nNothing was changed.\n" in told
    reasons = [line for line in told.splitlines() if line.startswith("With --apply it would be")]
    assert len(reasons) == 2
    assert re.search(r"refused now: .* seems to be running: .* changed \d+ s ago", reasons[0])
    assert "that holdfast planned in an earlier change is not committed" in reasons[1]
    told = json.loads(run("--to", "holdfast", "--json"))
    assert (len(told["in_the_way"]), told["applied"], told["backup"]) == (2, False, None)
    assert run("--to", "holdfast", "--stopped", "--settled", "0").endswith("was changed.\n")


@pytest.mark.spark
@pytest.mark.slow
def test_a_query_goes_on_with_the_other_provider_and_back(
    shared_spark: SharedSpark, tmp_path: Path
) -> None:
    words, expected = tmp_path / "words", Counter[str]()
    words.mkdir()
    steps = (
        ("to be or not to be", None, ()),
        ("that is not the question", "holdfast", ("--configure",)),
        ("to be is to do", "hdfs", ()),
    )
    for number, (text, to, options) in enumerate(steps):
        if to:
            assert switch(tmp_path / "checkpoint", to).applied
        (words / f"{number}.txt").write_text("\n".join(text.split()))
        expected.update(text.split())
        result = shared_spark.python(str(APP), tmp_path, *options).result()
        assert result["counted"] == expected
        assert (result["holdfastLiveBytes"] is not None) == (to == "holdfast")
    checkpoint = Checkpoint.open(str(tmp_path / "checkpoint"))
    rows = [row for piece in checkpoint.read() for row in piece.to_pylist()]
    assert {row["key"]["value"]: row["value"]["count"] for row in rows} == expected
