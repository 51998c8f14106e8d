"""Damaged snapshots, rebuilt: by what this package and, in a test marked `spark`, Spark reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import Row, counts, lz4, offsets, records, row
from harness import Spark
from holdfast.checkpoint import Checkpoint
from holdfast.checkpoint.codecs import decompress
from holdfast.checkpoint.compress import compress
from holdfast.checkpoint.location import Location
from holdfast.checkpoint.repair import Repair, repair
from holdfast.checkpoint.state_files import StateFile
from holdfast.checkpoint.verification import verify_checkpoint
from holdfast.cli import main as cli

CODECS = ("lz4", "zstd", "snappy", "lzf")
APP = Path(__file__).parent / "apps" / "read_counts.py"
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=5)


def damage(path: Path, *names: str) -> None:
    for name in names:
        file = path / "state/0/0" / name
        file.write_bytes(file.read_bytes()[:-25])
        file.with_name(f".{name}.crc").write_bytes(b"crc\0")


def done(path: Path, *, apply: bool = True) -> Repair:
    return repair(Checkpoint.open(str(path)), apply=apply)


def actions(found: Repair) -> dict[str, str]:
    return {step.path.rpartition("/")[2]: step.action for step in found.steps}


def state(path: Path, batch: int | None = None) -> dict[int, int]:
    pieces = Checkpoint.open(str(path)).read(batch_id=batch)
    rows = [row for piece in pieces for row in piece.to_pylist()]
    return {row["key"]["k"]: row["value"]["n"] for row in rows}


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


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
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert state(path) == STATE
    assert state(path, 3) == {**STATE, 5: 50}
    (path / "state/0/0/3.delta").unlink()
    assert state(path) == STATE
    assert not list((path / "state/0/0").glob(".*.crc"))
    kept = content(Path(found.backup or ""))
    assert kept == {f"state/0/0/{n}": damaged[f"state/0/0/{n}"] for n in actions(found)}


def test_a_snapshot_that_a_newer_one_makes_superfluous_is_set_aside(path: Path) -> None:
    (path / "state/0/0/1.delta").unlink()
    damage(path, "2.snapshot")
    found = done(path)
    assert actions(found) == {"2.snapshot": "set aside"}
    assert not (path / "state/0/0/2.snapshot").exists()
    assert verify_checkpoint(Checkpoint.open(str(path))).sound
    assert state(path) == STATE


def test_what_is_held_nowhere_else_stays_as_it_is(path: Path) -> None:
    damage(path, "3.delta", "4.snapshot", "5.delta")
    before = content(path)
    found = done(path)
    assert actions(found) == {"3.delta": "none", "4.snapshot": "none", "5.delta": "none"}
    assert not found.complete
    assert not found.applied
    assert content(path) == before


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["repair", *map(str, arguments), "--settled", "0"])


def test_the_command_says_what_it_does(path: Path) -> None:
    assert command(path).stdout == "Nothing is damaged.\n"
    damage(path, "2.snapshot")
    result = command(path)
    assert result.exit_code == 0
    assert result.stdout.startswith("rebuild: ")
    assert result.stdout.endswith("Nothing was changed.\n")
    repaired = json.loads(command(path, "--apply", "--json").stdout)
    assert repaired["applied"]
    damage(path, "5.delta")
    result = command(path, "--apply")
    assert result.exit_code == 1
    assert "has 1 damaged files that cannot be repaired" in result.stderr
    result = CliRunner().invoke(cli.main, ["repair", str(path)])
    assert result.exit_code == 1
    assert "seems to be running" in result.stderr


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [0, 1, 50, 32_768, 200_001])
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


def with_codec(path: Path, codec: str, *, row_checksums: bool) -> None:
    """Rewrite a checkpoint of lz4 files for another codec, and damage its last snapshot."""
    settings = {"compression.codec": codec, "rowChecksum.enabled": str(row_checksums).lower()}
    for file in (path / "offsets").glob("[0-9]*"):
        file.write_bytes(offsets(**settings))
    for name, rows in VERSIONS.items():
        pairs: list[Row] = [checked(*row) if row_checksums else row for row in rows]
        file = path / "state/0/0" / name
        file.write_bytes(compress(records(pairs), codec, path=name))
    damage(path, "4.snapshot")


def checked(key: bytes, value: bytes | None) -> Row:
    import google_crc32c

    checksum = google_crc32c.value(key + (value or b"")).to_bytes(4, "little")
    return (key, checksum + value) if value is not None else (checksum + key, None)


@pytest.mark.spark
def test_spark_reads_what_was_rebuilt(spark: Spark, tmp_path: Path) -> None:
    folders = []
    for codec in CODECS:
        for row_checksums in (False, True):
            folder = counts(tmp_path / f"{codec}-{row_checksums}", VERSIONS, batches=5)
            with_codec(folder, codec, row_checksums=row_checksums)
            assert actions(done(folder)) == {"4.snapshot": "rebuild"}
            # Only the snapshot is left to read.
            (folder / "state/0/0/3.delta").unlink()
            folders.append(folder)
    read = spark.python(str(APP), *folders).result()
    assert read == {
        folder.name: {str(key): count for key, count in STATE.items()} for folder in folders
    }


def test_lz4_of_the_tests_and_of_the_package_agree() -> None:
    stream = bytes(range(256)) * 1_000
    assert compress(stream, "lz4", path="x") == lz4(stream)
