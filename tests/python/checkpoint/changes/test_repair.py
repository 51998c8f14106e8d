"""Damaged state: snapshots rebuilt, and batches given up; read by this package and by Spark."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import google_crc32c
import pytest
from click.testing import CliRunner, Result
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import (
    AT_ONCE,
    GOLDEN,
    Row,
    add_file_sources,
    counts,
    lz4,
    offsets,
    records,
    row,
    schema_file,
    schema_json,
)
from harness import SharedSpark
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.repair import Repair, repair
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.codecs import decompress
from holdfast_spark.checkpoint.rows.compress import compress
from holdfast_spark.cli import main as cli

CODECS = ("lz4", "zstd", "snappy", "lzf")
APP = Path(__file__).parents[1] / "apps" / "read_counts.py"
VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
    "4.delta": [row(5, 50)],
    "4.snapshot": [row(2, 20), row(3, 31), row(4, 40), row(5, 50)],
    "5.delta": [row(5, None)],
}
STATE = {2: 20, 3: 31, 4: 40}

# More than a frame of Zstandard holds.
FRAMES_ROWS = 40_000
FRAMES_FILES = ("1.delta", "2.delta", "3.delta", "4.delta", "4.snapshot")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=5)


def damage(path: Path, *names: str) -> None:
    for name in names:
        file = path / "state/0/0" / name
        file.write_bytes(file.read_bytes()[:-25])
        file.with_name(f".{name}.crc").write_bytes(b"crc\0")


def done(path: Path, *, apply: bool = True) -> Repair:
    return repair(Checkpoint.open(str(path)), apply=apply, settled=AT_ONCE)


def given_up(path: Path, *, apply: bool = True) -> Repair:
    return repair(Checkpoint.open(str(path)), drop_tail=True, apply=apply, settled=AT_ONCE)


def actions(found: Repair) -> dict[str, str]:
    return {step.path.rpartition("/")[2]: step.action for step in found.steps}


def state(path: Path, batch: int | None = None) -> dict[int, int]:
    pieces = Checkpoint.open(str(path)).read(batch_id=batch)
    rows = [row for piece in pieces for row in piece.to_pylist()]
    return {row["key"]["k"]: row["value"]["n"] for row in rows}


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def names(folder: Path) -> set[str]:
    """The files of a checkpoint, without the backups."""
    return {name for name in content(folder) if "holdfast-backup" not in name}


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
    assert kept.pop("written.json")
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


def put(path: Path, name: str, rows: list[Row]) -> None:
    (path / "state/0/0" / name).write_bytes(lz4(records(rows)))


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
    assert kept.pop("written.json")
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


def contents(checkpoint: Checkpoint, version: int) -> list[list[tuple[bytes, bytes]]]:
    """The rows of every store at a version."""
    return [
        sorted(
            row
            for _, records in checkpoint.read_bytes(store, version)
            for row in zip(records.key_bytes(), records.value_bytes(), strict=True)
        )
        for store in checkpoint.stores
    ]


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


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["repair", *map(str, arguments), "--settled", "0"])


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
def test_spark_reads_what_was_rebuilt(shared_spark: SharedSpark, tmp_path: Path) -> None:
    folders = []
    for codec in CODECS:
        for row_checksums in (False, True):
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
