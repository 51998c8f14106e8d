"""What `verify` says of each kind of damage to each kind of file."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from mutations.mutate import DAMAGES, files_by_kind

from checkpoint.checkpoints import GOLDEN, ROW_CHECKSUMS
from checkpoint.checks.harm import (
    KINDS,
    STATE_FILE,
    Harm,
    content,
    contents,
    copied,
    cut,
    empty,
    exchanged,
    folder_gone,
    garbled,
    gone,
    invoke,
    text,
    verified,
    zeros,
)
from checkpoint.whole import BATCHES, whole
from holdfast_spark.cli import main as cli

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
        "does not go on from batch 3: expected 1 source ",
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
    "metadata of the operator with another name": (
        text("state/0/_metadata/metadata", "stateStoreSave", "stateStoseSave"),
        "state/0/_metadata",
        "expected the operator stateStoreSave, found 'stateStoseSave'",
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
    "schema gone": (
        gone("state/0/0/_metadata/schema"),
        "state/0/0/_metadata/schema",
        "is gone: expected the schema of the store",
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
        "of a version that no batch has made: expected at most 5.*in the way of the version",
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


def test_spark_before_4_2_does_not_go_on_past_a_snapshot(path: Path) -> None:
    """By the seed 38 of `./dev mutate --spark 4.1`."""
    text(f"offsets/{BATCHES - 1}", f', "{ROW_CHECKSUMS}": "false"', "")(path)
    assert verified(path).sound
    cut("state/0/0/3.snapshot")(path)
    assert not verified(path).goes_on
    assert invoke("repair", path, "--apply", "--settled", "0").exit_code == 0
    assert verified(path).sound


def test_a_whole_checkpoint_is_sound(path: Path) -> None:
    found = verified(path)
    assert (found.sound, found.goes_on, found.next_batch) == (True, True, BATCHES)
    assert not found.reruns
    assert found.broken == ()


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


def test_a_file_with_an_id_of_a_version_that_no_batch_made_is_in_nobodys_way(
    tmp_path: Path,
) -> None:
    path = shutil.copytree(GOLDEN / "spark-4.3" / "ids" / "checkpoint", tmp_path / "checkpoint")
    stray = path / "state/0/0/9_00000000-none.delta"
    shutil.copy(next(path.glob("state/0/0/1_*.delta")), stray)
    (file,) = [file for file in verified(path).broken if file.path == str(stray)]
    assert not file.stops
    assert "no batch has made" in file.error
    assert file.error.endswith("No batch will ask for it. Move it away.")
