"""Whatever a command is given: a sentence, an exit code, and the checkpoint as it was."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner, Result
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from checkpoint.checkpoints import (
    content,
    counts,
    long_row,
    lz4,
    offsets,
    records,
    row,
    schema_file,
)
from holdfast_spark.cli import main as cli
from holdfast_spark.cli.checkpoint_command import CheckpointCommand

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
}
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

# What each command is run with besides the path; COPY is a folder that is not there.
COPY = object()
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "inspect": (),
    "show": (),
    "diff": (),
    "verify": (),
    "savepoint": (COPY,),
    "repair": ("--settled", "0", "--apply"),
    "repartition": ("--partitions", "3", "--settled", "0", "--apply"),
    "migrate": ("--to", "holdfast", "--settled", "0", "--apply"),
}


class LockedFileSystem(LocalFileSystem):  # type: ignore[misc] # fsspec has no types
    """Local files, of which those of some names may not be read."""

    protocol = "locked"
    locked = ""
    mv = AbstractFileSystem.mv  # which copies, as that of a store of objects

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("locked://")))

    def open(self, path: str, mode: str = "rb", **more: object) -> object:
        if LockedFileSystem.locked in path:
            raise PermissionError(13, "Permission denied", path)
        return super().open(path, mode, **more)

    def ls(self, path: str, detail: bool = False, **more: object) -> object:
        if f"{path}/".endswith(f"/{LockedFileSystem.locked}/"):
            raise PermissionError(13, "Permission denied", path)
        return super().ls(path, detail, **more)

    def cat_file(self, path: str, **_: object) -> bytes:
        with self.open(path) as file:  # type: ignore[attr-defined]
            content: bytes = file.read()
        return content


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=3)


def run(command: str, path: Path | str, copy: Path) -> Result:
    arguments = [str(copy) if part is COPY else str(part) for part in ARGUMENTS[command]]
    return CliRunner().invoke(cli.main, [command, str(path), *arguments])


def sentence(result: Result) -> str:
    """The sentence that a command failed with."""
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("Error: ")
    assert "holdfast --verbose" not in result.stderr, "an error that nobody thought of"
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_every_command_about_checkpoints_is_tried() -> None:
    # Reports, plans and what is told of an environment have tests of their own.
    own = {"report", "plan", "doctor"}
    commands = cli.main.commands.items()
    names = {name for name, command in commands if isinstance(command, CheckpointCommand)}
    assert names - own == set(ARGUMENTS)


@pytest.mark.parametrize("command", ARGUMENTS)
def test_what_is_no_checkpoint_is_named(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    (tmp_path / "other/things").mkdir(parents=True)
    for place, found in (
        (tmp_path / "missing", "nothing at that path"),
        (tmp_path / "empty", "found nothing"),
        (tmp_path / "file", "is not the checkpoint of a streaming query"),
        (tmp_path / "other", "found things"),
        ("memory://nothing", "nothing at that path"),
        ("nowhere://bucket/x", "Cannot open nowhere://bucket/x"),
        ("gs://bucket/x", "Cannot open gs://bucket/x"),
    ):
        assert found in sentence(run(command, place, tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def damage(name: str, text: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        (path / name).write_bytes(text)

    return write


def remove(*names: str) -> Callable[[Path], None]:
    def remove_all(path: Path) -> None:
        for name in names:
            (path / name).unlink()

    return remove_all


def state_of(provider: str, file: str) -> Callable[[Path], None]:
    """State that another provider has written."""

    def write(path: Path) -> None:
        remove(*(f"state/0/0/{name}" for name in VERSIONS))(path)
        (path / f"state/0/0/{file}").touch()
        (path / "offsets/2").write_bytes(offsets(providerClass=provider))

    return write


# What is wrong, what the sentence has, and which commands nevertheless do their work.
SITUATIONS: dict[str, tuple[Callable[[Path], None], str, set[str]]] = {
    "offsets cut off": (damage("offsets/2", b"v1\n{"), "offsets/2 is damaged", {"inspect"}),
    "offsets empty": (damage("offsets/2", b""), "offsets/2 is damaged", {"inspect"}),
    "offsets of another program": (
        damage("offsets/2", b"{}\n{}"),
        "offsets/2 is damaged",
        {"inspect"},
    ),
    "metadata cut off": (
        damage("state/0/_metadata/metadata", b'v1\n{"operatorInfo"'),
        "metadata is damaged",
        set(),
    ),
    "schema of an unknown version": (
        damage("state/0/0/_metadata/schema", b"\0\2v9"),
        "schema format version v9",
        {"inspect"},
    ),
    "schema cut off": (
        damage("state/0/0/_metadata/schema", b"\0\2v2\0\0\0\1\0\7ab"),
        "schema is damaged",
        {"inspect"},
    ),
    "schema missing": (
        remove("state/0/0/_metadata/schema"),
        "expected the schema of the store",
        {"inspect", "show"},
    ),
    "schema with an unknown type": (
        damage(
            "state/0/0/_metadata/schema",
            schema_file('{"type": "quark"}', '{"type": "struct", "fields": []}'),
        ),
        "quark",
        {"inspect"},
    ),
    "delta half written": (
        damage("state/0/0/3.delta", lz4(records([row(3, 31), row(4, 40)]))[:50]),
        "3.delta",
        {"inspect"},
    ),
    "delta empty": (damage("state/0/0/3.delta", b""), "3.delta", {"inspect"}),
    "rows of another schema": (
        damage("state/0/0/3.delta", lz4(records([(long_row(1, 2, 3), bytes(8))]))),
        "does not fit its schema",
        {"inspect"},
    ),
    "delta missing": (
        remove("state/0/0/3.delta"),
        "Version 3|but not 3|after batch 2",
        {"inspect"},
    ),
    "no state": (
        remove(*(f"state/0/0/{name}" for name in VERSIONS)),
        "store",
        {"inspect"},
    ),
    "state of RocksDB": (state_of(ROCKSDB, "3.zip"), "RocksDB", {"inspect", "verify"}),
    "an unknown provider": (
        state_of("org.example.Provider", "3.dat"),
        "org.example.Provider",
        {"inspect"},
    ),
    "an unknown codec": (
        damage("offsets/2", offsets(0, **{"compression.codec": "zip"})),
        "codec zip",
        {"inspect"},
    ),
    "nothing committed": (
        remove(
            *(f"commits/{batch}" for batch in range(3)),
            *("offsets/1", "offsets/2"),
            *(f"state/0/0/{name}" for name in ("2.delta", "2.snapshot", "3.delta")),
        ),
        "has no committed batch",
        {"inspect", "verify", "repair"},
    ),
}


@pytest.mark.parametrize("command", ARGUMENTS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_damage_is_a_sentence_and_changes_nothing(
    path: Path, tmp_path: Path, command: str, situation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    harm, text, unaffected = SITUATIONS[situation]
    harm(path)
    # Without pyspark, so that what is refused is refused before Spark is asked.
    monkeypatch.setitem(sys.modules, "pyspark.version", None)
    before = content(path)
    result = run(command, path, tmp_path / "copy")
    if command in unaffected:
        assert result.exit_code == 0, result.stderr
    elif command in ("verify", "repair"):
        assert re.search(text, f"{result.stdout}{sentence(result)}")
    elif command in ("savepoint", "migrate"):
        sentence(result)
    else:
        assert re.search(text, sentence(result))
    if command != "migrate" or command not in unaffected:
        assert content(path) == before


# What may not be read, and the commands that do without.
LEFT_ALONE = {"delta": {"inspect"}, "_metadata/schema": {"inspect"}}


@pytest.mark.parametrize("command", ARGUMENTS)
@pytest.mark.parametrize(
    "locked",
    ["offsets/2", "_metadata/metadata", "_metadata/schema", "delta", "state/0", "state/0/0"],
)
def test_what_may_not_be_read_is_named(
    path: Path, tmp_path: Path, command: str, locked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec.register_implementation("locked", LockedFileSystem, clobber=True)
    monkeypatch.setattr(LockedFileSystem, "locked", locked)
    before = content(path)
    result = run(command, f"locked://{path}", tmp_path / "copy")
    if command in LEFT_ALONE.get(locked, ()):
        assert result.exit_code == 0, result.stderr
    elif command == "migrate":
        sentence(result)
    else:
        assert "Permission denied" in f"{result.stdout}{sentence(result)}"
    assert content(path) == before


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_file_and_an_empty_path_are_named(command: str, tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    assert "and commits/ in it, found a file. Give" in sentence(run(command, file, tmp_path / "a"))
    assert "Cannot open '': the path is empty." in sentence(run(command, "", tmp_path / "b"))


@pytest.mark.parametrize("form", ["table", "json", "csv", "parquet"])
def test_a_file_that_cannot_be_written_is_named(form: str, path: Path) -> None:
    target = path.parent / "nowhere" / "rows"
    arguments = ["show", str(path), "--format", form, "--output", str(target)]
    result = CliRunner().invoke(cli.main, arguments)
    assert f"Cannot write {target}: " in sentence(result)


def test_an_archive_can_be_read_and_not_changed(path: Path, tmp_path: Path) -> None:
    sound = Path(shutil.make_archive(str(tmp_path / "sound"), "zip", path))
    (path / "state/0/0/2.snapshot").write_bytes(b"x")
    damaged = Path(shutil.make_archive(str(tmp_path / "damaged"), "zip", path))
    before = sound.read_bytes(), damaged.read_bytes()
    for command in ("inspect", "show", "diff", "verify", "savepoint"):
        result = run(command, f"zip://::{sound}", tmp_path / "copy")
        assert result.exit_code == 0, result.stderr
    assert run("show", tmp_path / "copy", tmp_path).exit_code == 0
    for command, archive in (("migrate", sound), ("repair", damaged)):
        sentence(run(command, f"zip://::{archive}", tmp_path / "copy"))
    assert (sound.read_bytes(), damaged.read_bytes()) == before


def test_an_operator_or_partition_that_is_not_there_is_named(path: Path) -> None:
    for command, options, text in (
        ("show", ("--operator-id", "7"), "has no stateful operator 7: it has 0."),
        ("show", ("--partition", "3"), "has no partition 3: it has 0."),
        ("show", ("--store-name", "x"), "has no store x: it has default."),
        ("show", ("--join-side", "left"), "is no join but aggregation"),
        ("show", ("--batch-id", "9"), "has no batch 9: it has the batches 0 to"),
        ("diff", ("--operator-id", "7"), "has no stateful operator 7: it has 0."),
        ("diff", ("--from-batch", "9"), "has no batch 9: it has the batches 0 to"),
        ("savepoint", (str(path / "copy"), "--batch-id", "9"), "has not committed a batch 9"),
    ):
        assert text in sentence(CliRunner().invoke(cli.main, [command, str(path), *options]))


@pytest.mark.parametrize("command", ["repair", "repartition", "migrate"])
def test_a_running_query_is_not_touched(path: Path, command: str) -> None:
    if command == "repair":  # which has to have something to do
        (path / "state/0/0/1.snapshot").write_bytes(b"damage")
    before = content(path)
    arguments = [str(part) for part in ARGUMENTS[command] if part not in ("--settled", "0")]
    result = CliRunner().invoke(cli.main, [command, str(path), *arguments])
    assert "seems to be running" in sentence(result)
    assert content(path) == before
