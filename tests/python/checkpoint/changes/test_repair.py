"""Damaged state: snapshots rebuilt; read by this package and by Spark."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import google_crc32c
import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.changes.damaged_counts import (
    STATE,
    VERSIONS,
    actions,
    command,
    damage,
    done,
    given_up,
    names,
    put,
    state,
)
from checkpoint.checkpoints import Row, content, counts, lz4, offsets, records, row
from harness import SharedSpark, is_since
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import decompress
from holdfast_spark.checkpoint.rows.compress import compress
from holdfast_spark.cli import main as cli

CODECS = ("lz4", "zstd", "snappy", "lzf")
APP = Path(__file__).parents[1] / "apps" / "read_counts.py"


# More than a frame of Zstandard holds.
FRAMES_ROWS = 40_000
FRAMES_FILES = ("1.delta", "2.delta", "3.delta", "4.delta", "4.snapshot")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=5)


def test_a_sound_checkpoint_needs_nothing(path: Path) -> None:
    before = content(path)
    found = done(path)
    assert (found.steps, found.applied, found.backup) == ((), False, None)
    assert content(path) == before


def test_snapshots_are_rebuilt_from_older_ones_and_deltas(path: Path) -> None:
    damage(path, "2.snapshot", "4.snapshot")
    damaged = content(path)
    planned = done(path, apply=False)
    assert content(path) == damaged
    found = done(path)
    assert actions(found) == actions(planned) == {"2.snapshot": "rebuild", "4.snapshot": "rebuild"}
    assert found.applied
    assert found.complete
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    assert state(path) == STATE
    assert state(path, 3) == {**STATE, 5: 50}
    (path / "state/0/0/3.delta").unlink()
    assert state(path) == STATE
    assert not list((path / "state/0/0").glob(".*.crc"))
    kept = content(Path(found.backup or ""))
    assert kept.pop("written.jsonl")
    names = [name for n in actions(found) for name in (n, f".{n}.crc")]
    assert kept == {f"state/0/0/{n}": damaged[f"state/0/0/{n}"] for n in names}


def test_a_snapshot_that_a_newer_one_makes_superfluous_is_set_aside(path: Path) -> None:
    (path / "state/0/0/1.delta").unlink()
    damage(path, "2.snapshot")
    found = done(path)
    assert actions(found) == {"2.snapshot": "set aside"}
    assert not (path / "state/0/0/2.snapshot").exists()
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    assert state(path) == STATE


def test_what_is_held_nowhere_else_stays_as_it_is(path: Path) -> None:
    damage(path, "3.delta", "4.snapshot", "5.delta")
    before = content(path)
    found = done(path)
    assert actions(found) == {"3.delta": "none", "4.snapshot": "none", "5.delta": "none"}
    assert not found.complete
    assert not found.applied
    assert content(path) == before


def test_a_damaged_delta_behind_a_snapshot_is_left(path: Path) -> None:
    damage(path, "1.delta")
    found = done(path)
    assert actions(found) == {"1.delta": "leave"}
    assert (found.complete, found.applied, found.last_batch) == (True, False, 4)


def test_files_of_a_batch_that_is_not_committed_are_set_aside(path: Path) -> None:
    (path / "state/0/0/6.snapshot").write_bytes(b"")
    found = done(path)
    assert (actions(found), found.complete) == ({"6.snapshot": "set aside"}, True)
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound


def test_what_is_left_of_batches_before_a_query_was_set_back_goes_when_told(path: Path) -> None:
    for log in ("offsets", "commits"):
        for batch in (3, 4):
            (path / log / str(batch)).unlink()
    before = content(path)
    found = done(path)
    assert actions(found) == {"3": "none"}
    assert "the query back on purpose" in found.steps[0].error
    assert content(path) == before
    found = given_up(path)
    assert actions(found) == dict.fromkeys(("4.delta", "4.snapshot", "5.delta"), "set aside")
    assert (found.complete, found.drops_tail, found.last_batch) == (True, False, 2)
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert state(path) == {2: 20, 3: 31, 4: 40}
    kept = content(Path(found.backup or ""))
    assert {name: before[name] for name in before.keys() - names(path)}.items() <= kept.items()


def test_what_is_left_of_batches_before_a_query_was_set_back_is_no_planned_batch_s(
    path: Path,
) -> None:
    for name in ("offsets/4", "commits/4", "commits/3"):
        (path / name).unlink()
    found = given_up(path)
    assert actions(found) == {"5.delta": "set aside"}


@pytest.mark.parametrize("wrong", ["2.snapshot", "4.delta"])
def test_a_snapshot_of_another_version_is_rebuilt_from_the_deltas(wrong: str, path: Path) -> None:
    before = names(path)
    folder = path / "state/0/0"
    (folder / "4.snapshot").write_bytes((folder / wrong).read_bytes())
    (broken,) = verify_checkpoint(Checkpoint.open(str(path))).broken
    assert broken.stops
    assert "or let holdfast repair write it anew from the deltas" in broken.error
    assert command(path).stdout.startswith("rebuild: ")
    found = done(path)
    assert (actions(found), found.complete) == ({"4.snapshot": "rebuild"}, True)
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert state(path, 3) == {**STATE, 5: 50}
    assert names(path) == before


def test_snapshots_that_changed_places_are_both_rebuilt(path: Path) -> None:
    put(path, "2.snapshot", VERSIONS["4.snapshot"])
    put(path, "4.snapshot", VERSIONS["2.snapshot"])
    assert actions(done(path)) == {"2.snapshot": "rebuild", "4.snapshot": "rebuild"}
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert (state(path, 1), state(path)) == ({2: 20, 3: 30}, STATE)


def test_an_older_snapshot_is_wrong_where_deltas_lead_on_to_a_newer_one(path: Path) -> None:
    put(path, "2.snapshot", [*VERSIONS["2.snapshot"], row(9, 9)])
    (broken,) = verify_checkpoint(Checkpoint.open(str(path))).broken
    assert (broken.path.rpartition("/")[2], broken.stops) == ("2.snapshot", False)
    assert actions(done(path)) == {"2.snapshot": "rebuild"}
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert state(path, 1) == {2: 20, 3: 30}


def test_nothing_is_rebuilt_from_a_snapshot_of_another_version(path: Path) -> None:
    put(path, "2.snapshot", VERSIONS["1.delta"])
    damage(path, "4.snapshot")
    assert actions(done(path)) == {"2.snapshot": "rebuild", "4.snapshot": "rebuild"}
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    assert state(path, 3) == {**STATE, 5: 50}


def test_where_a_delta_may_be_the_wrong_one_nothing_is_rebuilt(path: Path) -> None:
    put(path, "3.delta", VERSIONS["2.delta"])
    result = command(path)
    assert result.exit_code == 1
    assert "not repairable: " in result.output
    assert "or give --drop-tail to go back to after batch 1" in result.output
    found = given_up(path)
    assert (actions(found), found.last_batch) == ({"4.snapshot": "drop"}, 1)
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    assert state(path) == {2: 20, 3: 30}


def with_checksums(path: Path, *files: str) -> None:
    """Write the checksums that Hadoop and Spark have of files, and Hadoop of Spark's."""
    for name in files:
        file = path / "state/0/0" / name
        whole = file.read_bytes()
        sums = {"mainFileSize": len(whole), "value": google_crc32c.value(whole)}
        file.with_name(f"{name}.crc").write_text(json.dumps(sums))
        for each in (name, f"{name}.crc"):
            crc = zlib.crc32(file.with_name(each).read_bytes())
            file.with_name(f".{each}.crc").write_bytes(struct.pack(">4siI", b"crc\0", 512, crc))


def test_what_checksums_prove_is_rebuilt_and_none_stay_behind(path: Path) -> None:
    with_checksums(path, "3.delta", "4.snapshot")
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    put(path, "4.snapshot", [row(8, 8)])
    assert actions(done(path)) == {"4.snapshot": "rebuild"}
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert state(path) == STATE


def test_a_delta_that_is_not_needed_and_differs_from_its_checksums_is_left(path: Path) -> None:
    with_checksums(path, "3.delta")
    put(path, "3.delta", [row(3, 31), row(4, 41)])
    told = verify_checkpoint(Checkpoint.open(str(path))).told
    assert {(file.kind, file.stops) for file in told} == {("checksum", False)}
    assert command(path).stdout.startswith("leave: ")


def test_the_command_says_what_it_does(path: Path) -> None:
    assert command(path).stdout == "Nothing is damaged.\n"
    damage(path, "2.snapshot")
    result = CliRunner().invoke(cli.main, ["repair", str(path), "--apply"])
    assert result.exit_code == 1
    assert "seems to be running" in result.stderr
    assert "would be refused now: " in CliRunner().invoke(cli.main, ["repair", str(path)]).stdout
    result = command(path)
    assert result.exit_code == 0
    assert result.stdout.startswith("rebuild: ")
    assert "is damaged at byte" in result.stdout
    assert "Restore the file" not in result.stdout, "advice beside what is done"
    assert result.stdout.endswith("Nothing was changed: --apply does it.\n")
    repaired = json.loads(command(path, "--apply", "--json").stdout)
    assert repaired["applied"]
    damage(path, "5.delta")
    result = command(path, "--apply")
    assert result.exit_code == 1
    assert "or give --drop-tail to go back to after batch 3" in result.stderr
    result = command(path, "--drop-tail")
    assert result.exit_code == 0, result.stderr
    assert "The query would go back to after batch 3; its newest committed batch was 4" in (
        result.stdout
    )
    assert result.stdout.endswith("Nothing was changed: --apply does it.\n")
    result = command(path, "--drop-tail", "--apply")
    assert "The query is back to after batch 3" in result.stdout
    assert "The former files are in" in result.stdout
    schema = (path / "state/0/0/_metadata/schema").read_bytes()
    (path / "state/0/0/_metadata/schema").write_bytes(b"")
    result = command(path)
    (path / "state/0/0/_metadata/schema").write_bytes(schema)
    assert result.exit_code == 1
    assert result.stdout.endswith("Nothing was changed.\n")
    assert result.stderr == (
        f"Error: {path}/state/0/0/_metadata/schema cannot be repaired. Restore it from a copy.\n"
    )
    for file in (path / "state/0/0").glob("*.*"):
        file.unlink()
    assert "No file is damaged.\n" in command(path).stdout
    result = CliRunner().invoke(cli.main, ["repair", str(path), "--apply"])
    assert "cannot be put together, nor after any other one" in result.stderr


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [0, 1, 50, 32_768, 200_001, 2_500_001])
def test_what_is_compressed_is_decompressed(codec: str, size: int) -> None:
    stream = bytes(i % 251 for i in range(size))
    fs = MemoryFileSystem()
    fs.pipe_file("/1.snapshot", compress(stream, codec, path="1.snapshot"))
    file = StateFile(
        location=Location(fs, "/1.snapshot"),
        kind="snapshot",
        version=1,
        size_bytes=0,
        modified=None,
    )
    assert b"".join(decompress(file, codec)) == stream


def with_codec(
    path: Path,
    codec: str,
    *,
    row_checksums: bool = False,
    versions: Mapping[str, list[Row]] = VERSIONS,
) -> None:
    """Rewrite a checkpoint of lz4 files for another codec, and damage its last snapshot."""
    settings = {"compression.codec": codec, "rowChecksum.enabled": str(row_checksums).lower()}
    for file in (path / "offsets").glob("[0-9]*"):
        file.write_bytes(offsets(int(file.name), **settings))
    for name, rows in versions.items():
        pairs: list[Row] = [checked(*row) if row_checksums else row for row in rows]
        file = path / "state/0/0" / name
        file.write_bytes(compress(records(pairs), codec, path=name))
    damage(path, "4.snapshot")


def checked(key: bytes, value: bytes | None) -> Row:
    import google_crc32c

    checksum = google_crc32c.value(key + (value or b"")).to_bytes(4, "little")
    return (key, checksum + value) if value is not None else (checksum + key, None)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.since("4.0", "the `statestore` source")
def test_spark_reads_what_was_rebuilt(shared_spark: SharedSpark, tmp_path: Path) -> None:
    folders = []
    ways = (False, True) if is_since("4.2") else (False,)
    for codec in CODECS:
        for row_checksums in ways:
            folder = counts(tmp_path / f"{codec}-{row_checksums}", VERSIONS, batches=5)
            with_codec(folder, codec, row_checksums=row_checksums)
            assert actions(done(folder)) == {"4.snapshot": "rebuild"}
            # Only the snapshot is left to read.
            (folder / "state/0/0/3.delta").unlink()
            folders.append(folder)
    expected = {
        folder.name: {str(key): count for key, count in STATE.items()} for folder in folders
    }
    folders.append(several_frames(tmp_path / "several-frames"))
    expected["several-frames"] = {str(key): key for key in range(FRAMES_ROWS)}
    assert shared_spark.python(str(APP), *folders).result() == expected


def several_frames(path: Path) -> Path:
    """A checkpoint with a snapshot of several Zstandard frames."""
    versions = {name: [row(key, key) for key in range(FRAMES_ROWS)] for name in FRAMES_FILES}
    folder = counts(path, versions, batches=4)
    with_codec(folder, "zstd", versions=versions)
    assert actions(done(folder)) == {"4.snapshot": "rebuild"}
    (folder / "state/0/0/4.delta").unlink()
    return folder


def test_lz4_of_the_tests_and_of_the_package_agree() -> None:
    stream = bytes(range(256)) * 1_000
    assert compress(stream, "lz4", path="x") == lz4(stream)
