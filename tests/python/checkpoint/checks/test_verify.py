"""What `verify` says of each kind of damage to each kind of file."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import google_crc32c
import pytest
from click.testing import CliRunner, Result
from mutations.mutate import DAMAGES, files_by_kind

from checkpoint.checkpoints import long_row, lz4, records
from checkpoint.whole import BATCHES, add_checksums, whole
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.migration import migrate
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.checks.verification import Verification, verify_checkpoint
from holdfast_spark.cli import main as cli

Harm = Callable[[Path], object]
STATE_FILE = "state/0/0/5.delta"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return whole(tmp_path / "checkpoint")


def verified(path: Path) -> Verification:
    return verify_checkpoint(Checkpoint.open(str(path)))


def gone(*names: str) -> Harm:
    def harm(path: Path) -> None:
        for name in names:
            (path / name).unlink()

    return harm


def folder_gone(name: str) -> Harm:
    return lambda path: shutil.rmtree(path / name)


def text(name: str, before: str, after: str) -> Harm:
    """Replace a text in a file, which keeps its time."""

    def harm(path: Path) -> None:
        content = (path / name).read_text()
        assert before in content
        rewrite(path / name, content.replace(before, after).encode())

    return harm


def content(name: str, changed: Callable[[bytes], bytes]) -> Harm:
    return lambda path: rewrite(path / name, changed((path / name).read_bytes()))


def empty(name: str) -> Harm:
    return content(name, lambda _: b"")


def cut(name: str) -> Harm:
    return content(name, lambda whole: whole[: len(whole) * 2 // 3])


def garbled(name: str) -> Harm:
    return content(name, lambda whole: bytes(byte ^ 0x5A for byte in whole))


def zeros(name: str) -> Harm:
    return content(name, lambda whole: whole[:20] + bytes(len(whole) - 20))


def copied(name: str, target: str) -> Harm:
    def harm(path: Path) -> None:
        shutil.copy2(path / name, path / target)

    return harm


def exchanged(one: str, other: str) -> Harm:
    def harm(path: Path) -> None:
        (path / one).rename(path / "aside")
        (path / other).rename(path / one)
        (path / "aside").rename(path / other)

    return harm


def contents(path: Path) -> dict[str, bytes]:
    files = (file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def rewrite(file: Path, changed: bytes) -> None:
    before = file.stat()
    file.write_bytes(changed)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


# What stops the query, or makes it go on with what is not right: the harm, what is named, why.
STOPPING: dict[str, tuple[Harm, str, str]] = {
    "metadata empty": (empty("metadata"), "metadata", "expected a JSON object"),
    "metadata cut": (cut("metadata"), "metadata", "expected a JSON object"),
    "metadata garbled": (garbled("metadata"), "metadata", "expected a JSON object"),
    "metadata gone": (gone("metadata"), "metadata", "is gone: expected the id of the query"),
    "metadata with no id": (
        text("metadata", "6a2f8c5e-", "6a2f8c5e+"),
        "metadata",
        "expected a random UUID",
    ),
    "offsets empty": (empty("offsets/4"), "offsets/4", "the version v1 or v2"),
    "offsets cut": (cut("offsets/4"), "offsets/4", "expected a JSON object"),
    "offsets garbled": (garbled("offsets/4"), "offsets/4", "version v1 or v2"),
    "offsets of zeros": (zeros("offsets/4"), "offsets/4", "expected a JSON object"),
    "offsets of the batch before garbled": (garbled("offsets/3"), "offsets/3", "version v1 or v2"),
    "offsets of an unknown version": (text("offsets/4", "v1", "v7"), "offsets/4", "version v1"),
    "offsets gone": (gone("offsets/4"), "offsets/4", "ends with batch 3.*with 4"),
    "offsets of the batch before gone": (gone("offsets/3"), "offsets/3", "lost the batches 3"),
    "offsets exchanged": (
        exchanged("offsets/4", "offsets/2"),
        "offsets/4",
        "does not go on|contradicts",
    ),
    "offsets copied to the next batch": (
        copied("offsets/4", "offsets/5"),
        "offsets/5",
        "says what 4 says: expected another batch",
    ),
    "offsets with another watermark": (
        text("offsets/4", '"batchWatermarkMs": 400', '"batchWatermarkMs": 900'),
        "offsets/4",
        "expected the watermark 400, which the commit of batch 3 announces, found 900",
    ),
    "offsets with a negative time": (
        text("offsets/4", '"batchWatermarkMs": 400', '"batchWatermarkMs": -9'),
        "offsets/4",
        "a number of milliseconds in batchWatermarkMs",
    ),
    "offsets with another setting": (
        text("offsets/4", '"spark.sql.shuffle.partitions"', '"spark.sql.shuffle.partitionz"'),
        "offsets/4",
        "pins other settings than batch 3",
    ),
    "offsets with another provider": (
        text("offsets/4", "HDFSBackedState", "HDFSBackedZtate"),
        "offsets/4",
        "pins other settings than batch 3",
    ),
    "offsets without their source": (
        text("offsets/4", '\n{"logOffset":4}', ""),
        "offsets/4",
        "does not go on from batch 3: expected 1 source (",
    ),
    "offsets of a source that go back": (
        text("offsets/4", '{"logOffset":4}', '{"logOffset":1}'),
        "offsets/4",
        "expected source 0 at 3 or further, found 1",
    ),
    "offsets of a source in another form": (
        text("offsets/4", '{"logOffset":4}', '{"logOffzet":4}'),
        "offsets/4",
        "expected an offset of source 0 such as",
    ),
    "commit empty": (empty("commits/4"), "commits/4", "the version v1 or v2"),
    "commit cut": (cut("commits/4"), "commits/4", "expected a JSON object"),
    "commit garbled": (garbled("commits/4"), "commits/4", "version v1 or v2"),
    "commit of zeros": (zeros("commits/4"), "commits/4", "expected a JSON object"),
    "commits exchanged": (exchanged("commits/4", "commits/0"), "commits/4", "contradicts|older"),
    "commit copied to the next batch": (
        copied("commits/4", "commits/5"),
        "offsets/5",
        "ends with batch 4.*with 5",
    ),
    "two commits gone": (gone("commits/4", "commits/3"), "commits/3", "ends with batch 2"),
    "log of the source empty": (empty("sources/0/4"), "sources/0/4", "v1 in the first line"),
    "log of the source cut": (cut("sources/0/4"), "sources/0/4", "expected a JSON object"),
    "log of the source garbled": (garbled("sources/0/4"), "sources/0/4", "v1 in the first line"),
    "log of the source of zeros": (zeros("sources/0/4"), "sources/0/4", "expected a JSON object"),
    "log of the source gone": (gone("sources/0/4"), "sources/0/4", "lost the source's batches 4"),
    "old log of the source gone": (
        gone("sources/0/1"),
        "sources/0/1",
        "lost the source's batches 1",
    ),
    "all logs of the source gone": (folder_gone("sources/0"), "sources/0", "batches 0-4"),
    "logs of all sources gone": (folder_gone("sources"), "sources/0", "batches 0-4"),
    "log of the source without files": (
        content("sources/0/4", lambda _: b"v1"),
        "sources/0/4",
        "expected input files of its batch, found the version alone",
    ),
    "log of the source with a damaged name": (
        text("sources/0/4", "file:///in", "file|///in"),
        "sources/0/4",
        "expected path, timestamp and batchId",
    ),
    "log of the source with a damaged scheme": (
        text("sources/0/2", "file:///in", "fime:///in"),
        "sources/0/2",
        "expected input files below file:, as all others, found fime:///in",
    ),
    "log of the source with a damaged field": (
        text("sources/0/4", '"timestamp"', '"tieestamp"'),
        "sources/0/4",
        "expected path, timestamp and batchId",
    ),
    "offsets of a batch gone that has written": (
        gone("commits/4", "offsets/4"),
        "offsets/4",
        "is gone: expected the plan of batch 4, whose state all stores have",
    ),
    "logs of the source exchanged": (
        exchanged("sources/0/4", "sources/0/1"),
        "sources/0/4",
        "of its batch 4",
    ),
    "log of the source copied": (
        copied("sources/0/4", "sources/0/5"),
        "sources/0/5",
        "of its batch 5",
    ),
    "delta empty": (empty(STATE_FILE), STATE_FILE, "damaged at byte 0"),
    "delta cut": (cut(STATE_FILE), STATE_FILE, "damaged at byte"),
    "delta garbled": (garbled(STATE_FILE), STATE_FILE, "damaged at byte"),
    "delta of zeros": (zeros(STATE_FILE), STATE_FILE, "damaged at byte"),
    "delta gone": (gone(STATE_FILE), STATE_FILE, "the state that batch 5 starts from needs it"),
    "deltas of partitions exchanged": (
        exchanged(STATE_FILE, "state/0/1/5.delta"),
        STATE_FILE,
        "expected keys of partition 0 of 2, by their hash",
    ),
    "delta copied to another partition": (
        copied("state/0/1/5.delta", STATE_FILE),
        STATE_FILE,
        "that belong elsewhere, the first in partition 1",
    ),
    "deltas of versions exchanged": (
        exchanged(STATE_FILE, "state/0/0/4.delta"),
        STATE_FILE,
        "while batch 3 ran",
    ),
    "delta copied to another version": (
        copied("state/0/0/2.delta", "state/0/0/4.delta"),
        "state/0/0/4.delta",
        "while batch 1 ran",
    ),
    "all deltas of a partition gone": (folder_gone("state/0/1"), "state/0/1", "has no state file"),
    "snapshots of partitions exchanged": (
        exchanged("state/0/0/3.snapshot", "state/0/1/3.snapshot"),
        "state/0/0/3.snapshot",
        "expected keys of partition 0 of 2",
    ),
    "delta in place of a snapshot": (
        copied("state/0/0/2.delta", "state/0/0/3.snapshot"),
        "state/0/0/3.snapshot",
        "is not what the deltas before it lead to",
    ),
    "snapshot of another version": (
        lambda path: (path / "state/0/0/4.snapshot").write_bytes(
            (path / "state/0/0/3.snapshot").read_bytes()
        ),
        "state/0/0/4.snapshot",
        "is not what the deltas before it lead to",
    ),
    "snapshot cut after the deltas before it": (
        lambda path: (cut("state/0/0/3.snapshot")(path), gone("state/0/0/1.delta")(path)),
        "state/0/0/3.snapshot",
        "damaged at byte",
    ),
    "schema empty": (empty("state/0/0/_metadata/schema"), "state/0/0/_metadata/schema", "2 bytes"),
    "schema cut": (cut("state/0/0/_metadata/schema"), "state/0/0/_metadata/schema", "before the"),
    "schema garbled": (
        garbled("state/0/0/_metadata/schema"),
        "state/0/0/_metadata/schema",
        "expected",
    ),
    "schema without a part": (
        text("state/0/0/_metadata/schema", '"nullable"', '"nuldable"'),
        "state/0/0/_metadata/schema",
        "expected a field with name, type, nullable, metadata",
    ),
}


@pytest.mark.parametrize("what", STOPPING)
def test_what_stops_the_query_is_named(path: Path, what: str) -> None:
    harm, name, why = STOPPING[what]
    harm(path)
    found = verified(path)
    assert not found.sound
    assert not found.goes_on
    named = [file for file in found.broken if file.path == str(path / name)]
    assert any(re.search(why, file.error) for file in named), found.broken
    assert any(file.stops for file in found.broken)


# What is wrong and nothing that the query reads.
SPOILT: dict[str, tuple[Harm, str, str]] = {
    "old offsets garbled": (garbled("offsets/1"), "offsets/1", "version v1 or v2"),
    "old offsets gone": (gone("offsets/2"), "offsets/2", "has lost the batches 2"),
    "old commit garbled": (garbled("commits/1"), "commits/1", "version v1 or v2"),
    "old commit gone": (gone("commits/1"), "commits/1", "has lost the batches 1"),
    "all commits gone": (folder_gone("commits"), "commits", "has no batch, and 4 is planned"),
    "old delta cut": (cut("state/0/0/2.delta"), "state/0/0/2.delta", "damaged at byte"),
    "old delta gone": (
        gone("state/0/0/1.delta"),
        "state/0/0/1.delta",
        "is gone: expected what batch 0 changed; the query goes on without it",
    ),
    "snapshot cut": (cut("state/0/0/3.snapshot"), "state/0/0/3.snapshot", "damaged at byte"),
    "delta of no batch": (
        copied("state/0/0/5.delta", "state/0/0/9.delta"),
        "state/0/0/9.delta",
        "of a version that no batch has made: expected at most 5",
    ),
    "schema gone": (
        gone("state/0/0/_metadata/schema"),
        "state/0/0/_metadata/schema",
        "is gone: expected the schema of the store",
    ),
    "metadata of the operator cut": (
        cut("state/0/_metadata/metadata"),
        "state/0/_metadata",
        "expected a JSON object",
    ),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_the_query_does_without_is_named_as_such(path: Path, what: str) -> None:
    harm, name, why = SPOILT[what]
    harm(path)
    found = verified(path)
    assert not found.sound
    assert found.goes_on, found.broken
    named = [file for file in found.broken if file.path == str(path / name)]
    assert any(re.search(why, file.error) for file in named), found.broken


def test_a_whole_checkpoint_is_sound(path: Path) -> None:
    found = verified(path)
    assert (found.sound, found.goes_on, found.next_batch) == (True, True, BATCHES)
    assert not found.reruns
    assert found.broken == ()


def test_a_batch_without_its_commit_runs_again(path: Path) -> None:
    gone("commits/4")(path)
    found = verified(path)
    assert (found.sound, found.next_batch, found.reruns) == (True, 4, True)


def test_a_query_without_any_offsets_would_start_anew(path: Path) -> None:
    folder_gone("offsets")(path)
    result = CliRunner().invoke(cli.main, ["verify", str(path)])
    assert result.exit_code == 1
    assert "Spark would start the query anew" in result.stderr


def test_a_commit_that_is_older_than_its_batch_is_a_copy(path: Path) -> None:
    for batch in range(BATCHES):
        rewrite(path / f"commits/{batch}", b"v1\n{}")
    assert verified(path).sound
    gone("commits/4")(path)
    copied("commits/0", "commits/4")(path)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "commits/4"), True)
    assert "is older than the offsets of its batch" in broken.error


def test_times_of_a_copy_say_nothing(path: Path) -> None:
    for file in sorted(path.rglob("*")):
        os.utime(file)
    assert verified(path).sound


def test_an_input_file_that_is_not_there_is_named_if_older_ones_are(
    path: Path, tmp_path: Path
) -> None:
    inputs = tmp_path / "in %"
    inputs.mkdir()
    for batch in range(BATCHES):
        (inputs / f"{batch}.json").touch()
        uri = inputs.as_uri()
        text(f"sources/0/{batch}", "file:///in", uri)(path)
    assert verified(path).sound
    (inputs / "0.json").unlink()
    assert verified(path).sound  # who cleans up begins with the oldest
    text("sources/0/3", "3.json", "s.json")(path)
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "sources/0/3"), True)
    assert "s.json, which is not there" in broken.error


def test_a_rate_source_begins_when_its_offsets_say(path: Path) -> None:
    for batch in range(BATCHES):
        text(f"offsets/{batch}", f'{{"logOffset":{batch}}}', f"{batch}")(path)
    shutil.rmtree(path / "sources/0")
    start = path / "sources/0/0"
    start.parent.mkdir()
    start.write_text("v1\n1000")
    assert verified(path).sound
    for damaged in ("v1\n91000", "v1\n", "", "v2\n1000"):
        start.write_text(damaged)
        (broken, *_) = verified(path).broken
        assert (broken.path, broken.stops) == (str(start), True)
    start.unlink()
    (broken,) = verified(path).broken
    assert "is empty: expected what a source keeps there" in broken.error


def test_a_rate_source_is_not_judged_by_a_batch_that_a_change_has_planned(path: Path) -> None:
    for batch in range(BATCHES):
        text(f"offsets/{batch}", f'{{"logOffset":{batch}}}', f"{batch}")(path)
    shutil.rmtree(path / "sources/0")
    start = path / "sources/0/0"
    start.parent.mkdir()
    start.write_text("v1\n1000")
    # Each plans a batch without data, long after the rate source's newest offset.
    assert migrate(Checkpoint.open(str(path)), "holdfast", apply=True).applied
    assert verified(path).sound
    assert repartition(Checkpoint.open(str(path)), 3, apply=True, stopped=True).applied
    assert verified(path).sound
    start.write_text("v1\n91000")
    assert [broken.path for broken in verified(path).broken] == [str(start)]


def test_state_that_is_gone_altogether_is_told_of_by_every_command(path: Path) -> None:
    shutil.rmtree(path / "state")
    found = verified(path)
    (note,) = found.notes
    assert "holds no state: that is right only for a query without stateful operators" in note
    for command in ("verify", "inspect"):
        assert "holds no state" in invoke(command, path).stdout.replace("\n", " ")
    for command in ("repair", "migrate --to holdfast", f"savepoint {path}-copy"):
        name, *options = command.split()
        assert "holds no state" in invoke(name, path, *options).stderr


def test_an_operator_whose_state_is_gone_is_told_by_its_number(path: Path) -> None:
    (path / "state/0").rename(path / "state/1")
    (broken,) = [file for file in verified(path).broken if file.path == str(path / "state/0")]
    assert broken.stops
    assert "is gone: expected the state of operator 0" in broken.error
    assert "Operator 0 has lost the folder" in invoke("inspect", path).stdout


def test_an_operator_whose_state_is_gone_is_told_by_the_newest_commit(path: Path) -> None:
    ids = json.dumps({"nextBatchWatermarkMs": 500, "stateUniqueIds": {"0": [["a"], ["b"]]}})
    rewrite(path / "commits/4", f"v2\n{ids}".encode())
    shutil.rmtree(path / "state")
    (broken,) = verified(path).broken
    assert (broken.path, broken.stops) == (str(path / "state/0"), True)


@pytest.mark.parametrize(("pinned", "batches"), [("1", (4,)), ("1", range(BATCHES)), ("5", (4,))])
def test_the_pinned_number_of_partitions_is_that_of_the_state(
    path: Path, pinned: str, batches: Sequence[int]
) -> None:
    for batch in batches:
        name = "spark.sql.shuffle.partitions"
        text(f"offsets/{batch}", f'"{name}": "2"', f'"{name}": "{pinned}"')(path)
    found = verified(path)
    assert not found.goes_on
    assert any(
        f"pins {pinned} for spark.sql.shuffle.partitions, which Spark obeys: expected 2"
        in file.error
        for file in found.broken
        if file.path == str(path / "offsets/4")
    )


def test_partitions_that_a_repartitioning_left_behind_do_not_count(path: Path) -> None:
    one_partition_since(path, 4)
    found = verified(path)
    assert (found.sound, found.broken) == (True, ())
    assert [store.partition_id for store in found.stores] == [0]
    assert "cannot be put together" not in invoke("inspect", path).stdout


def one_partition_since(path: Path, batch: int) -> None:
    """Do what Spark does to repartition with a batch: metadata of version 1 stays as it is."""
    name = "spark.sql.shuffle.partitions"
    text(f"offsets/{batch}", f'"{name}": "2"', f'"{name}": "1"')(path)
    (path / f"state/0/1/{batch + 1}.delta").unlink()
    rows = ((long_row(key), long_row(7)) for key in range(9))
    rewrite(path / f"state/0/0/{batch + 1}.delta", lz4(records(rows)))


def test_a_change_that_was_cut_off_keeps_the_query_from_starting(path: Path) -> None:
    journal = path / "holdfast-backup/1/journal.json"
    journal.parent.mkdir(parents=True)
    journal.write_text(json.dumps({"fence": "offsets/5"}))
    (path / "offsets/5").write_text("Holdfast is changing this checkpoint (1)")
    found = verified(path)
    assert not found.goes_on
    (broken,) = found.broken
    assert f"Spark refuses to start at {path / 'offsets/5'}" in broken.error
    assert "Run holdfast repair --apply" in broken.error


def test_inspect_names_a_newest_commit_that_cannot_be_read(path: Path) -> None:
    empty("commits/4")(path)
    shown = " ".join(invoke("inspect", path).stdout.split())
    assert "commits/4 is damaged: expected the version" in shown


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"reservoirVersion":2,"index":5}', '{"reservoirVersion":3,"index":-1}'),
        ('{"version":1,"snapshot_id":99}', '{"version":1,"snapshot_id":7}'),
        ('{"a":1}', '{"a":1,"b":2}'),
    ],
)
def test_offsets_of_unknown_sources_are_their_own_affair(
    path: Path, before: str, after: str
) -> None:
    shutil.rmtree(path / "sources")
    for batch in range(BATCHES):
        text(f"offsets/{batch}", f'{{"logOffset":{batch}}}', after if batch == 4 else before)(path)
    assert verified(path).broken == ()


def test_commits_of_version_3_are_read(path: Path) -> None:
    text("commits/4", "v1", "v3")(path)
    assert verified(path).broken == ()


def test_a_file_source_that_has_seen_no_file_has_an_empty_folder(path: Path) -> None:
    (path / "sources/1").mkdir()
    for batch in range(BATCHES):
        content(f"offsets/{batch}", lambda whole: whole + b"\n-")(path)
    assert verified(path).broken == ()


def test_the_log_of_a_named_source_is_found_by_its_name(path: Path) -> None:
    (path / "sources/0").rename(path / "sources/clicks")
    for batch in range(BATCHES):
        text(f"offsets/{batch}", '{"logOffset"', 'clicks:{"logOffset"')(path)
        text(f"offsets/{batch}", "v1", "v2")(path)
    assert verified(path).broken == ()
    gone("sources/clicks/4")(path)
    assert [file.path for file in verified(path).broken] == [str(path / "sources/clicks/4")]


def test_damaged_offsets_say_nothing_of_their_commit(path: Path) -> None:
    (path / "offsets/3").write_bytes(b"garbage")
    assert not any("is older than" in file.error for file in verified(path).broken)


def invoke(command: str, path: Path, *options: str) -> Result:
    return CliRunner().invoke(cli.main, [command, str(path), *options])


KINDS = ("commits", "delta", "metadata", "offsets", "operator", "schema", "snapshot", "sources")


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_is_held_against_its_checksums(tmp_path: Path, kind: str) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    assert verified(path).sound
    file = files_by_kind(path)[kind][-1]
    before = file.read_bytes()
    # Valid, but for the checksums.
    file.write_bytes(before.replace(b"e", b"E", 1) if b"e" in before else before + b"\0")
    named = [broken for broken in verified(path).broken if broken.path == str(file)]
    assert any("expected the checksums of" in broken.error for broken in named)
    file.unlink()
    named = [broken for broken in verified(path).broken if broken.path == str(file)]
    assert any("is gone" in broken.error for broken in named)


def test_checksums_that_are_none_are_named_and_do_not_stop_the_query(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint", checksums=True)
    checksums = path / "state/0/0/.5.delta.crc"
    whole_sums = checksums.read_bytes()
    for damaged in (b"", whole_sums[:5], b"CRC" + whole_sums[3:], whole_sums + bytes(4)):
        checksums.write_bytes(damaged)
        found = verified(path)
        (broken,) = found.broken
        assert ".5.delta.crc" in broken.error
        assert not broken.stops
    for damaged in (whole_sums[:8], whole_sums[:4] + bytes(4) + whole_sums[8:]):
        checksums.write_bytes(damaged)
        assert not verified(path).goes_on


def test_files_are_held_against_the_checksums_of_spark(path: Path) -> None:
    file = path / STATE_FILE
    number = google_crc32c.value(file.read_bytes())
    stored = {
        "algorithm": "CRC32C",
        "value": number - (1 << 32),  # Java's ints have a sign
        "mainFileSize": file.stat().st_size,
    }
    checksums = file.with_name("5.delta.crc")
    checksums.write_text(json.dumps(stored))
    assert verified(path).sound
    for damaged in ({**stored, "value": 1}, {**stored, "mainFileSize": 1}, {}):
        checksums.write_text(json.dumps(damaged))
        (broken,) = verified(path).broken
        assert (broken.path, broken.stops) == (str(file), True)


def test_checksums_of_long_files_are_those_of_their_pieces(tmp_path: Path) -> None:
    path = whole(tmp_path / "checkpoint")
    file = path / STATE_FILE
    rows = records((long_row(key), long_row(7)) for key in (2, 4, 5, 8) * 200)
    rewrite(file, lz4(rows, block_bytes=64))
    add_checksums(file)
    assert verified(path).sound
    changed = bytearray(file.with_name(".5.delta.crc").read_bytes())
    changed[13] ^= 1
    file.with_name(".5.delta.crc").write_bytes(changed)
    (broken,) = verified(path).broken
    assert "bytes 512 to 1024" in broken.error


@pytest.mark.parametrize("damage", sorted(DAMAGES))
@pytest.mark.parametrize("kind", [*KINDS, "crc"])
def test_random_damage_is_told_without_a_traceback(tmp_path: Path, kind: str, damage: str) -> None:
    rng = random.Random(f"{kind} {damage}")
    path = whole(tmp_path / "whole", checksums=True)
    before = contents(path)
    for attempt in range(4):
        copy = shutil.copytree(path, tmp_path / str(attempt))
        files = files_by_kind(copy)[kind]
        done = DAMAGES[damage](rng.choice(files), files, rng)
        result = CliRunner().invoke(cli.main, ["verify", str(copy)])
        assert isinstance(result.exception, SystemExit | None), done
        # With its checksums a file can be lost or exchanged so that nobody knows, and checksums
        # or the only operator's metadata without leaving a trace.
        is_told = "with its checksums" not in done and damage not in ("duplicate", "delete")
        if is_told and kind not in ("crc", "operator") and contents(copy) != before:
            assert result.exit_code == 1, done


def test_odd_characters_in_paths_are_none(tmp_path: Path) -> None:
    path = whole(tmp_path / "100 % #odd? & [new] é" / "check point%20#1")
    for command in ("verify", "inspect", "show"):
        result = CliRunner().invoke(cli.main, [command, str(path)])
        assert result.exit_code == 0, result.stderr
    gone(STATE_FILE)(path)
    assert str(path / STATE_FILE) in CliRunner().invoke(cli.main, ["verify", str(path)]).stdout


def test_a_file_that_is_gone_is_counted_and_named(path: Path) -> None:
    gone(STATE_FILE)(path)
    result = CliRunner().invoke(cli.main, ["verify", str(path)])
    assert result.exit_code == 1
    assert f"broken: {path / STATE_FILE} is gone: expected what batch 4 changed" in result.stdout
    assert "The query does not go on with the right state at batch 5." in result.stdout
    assert (
        "1 file is broken or gone, and the query needs it; 1 of 2 stores lack the" in result.stderr
    )
