"""Copies of checkpoints at a batch, and a real query that goes on from one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from click.testing import CliRunner
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from checkpoint.checkpoints import AT_ONCE, GOLDEN, counts, lz4, records, row
from harness import SharedSpark
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes import savepoint
from holdfast_spark.checkpoint.changes.repair import repair
from holdfast_spark.checkpoint.changes.repartition import repartition
from holdfast_spark.checkpoint.changes.savepoint import (
    Savepoint,
    SavepointError,
    make_savepoint,
)
from holdfast_spark.checkpoint.changes.schema_paths import with_schemas_in
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, ContradictedStateError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.cli import main as cli

APP = Path(__file__).parents[1] / "apps" / "count_on.py"
VERSIONS = {
    "1.delta": [row(1, 10)],
    "2.delta": [row(2, 20)],
    "2.snapshot": [row(1, 10), row(2, 20)],
    "3.delta": [row(3, 30)],
    "4.delta": [row(4, 40)],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = counts(tmp_path / "checkpoint", VERSIONS, batches=4)
    (folder / "sources/0").mkdir(parents=True)
    (folder / "sources/0/0").write_bytes(b"v1")
    return folder


def copy(path: Path, target: Path | str, batch: int | None = None) -> Savepoint:
    return make_savepoint(Checkpoint.open(str(path)), Location.of(str(target)), batch_id=batch)


def state(path: Path | str) -> set[int]:
    pieces = Checkpoint.open(str(path)).read()
    return {row["key"]["k"] for piece in pieces for row in piece.to_pylist()}


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def copy_while_these_go(path: Path, target: Path, *gone: str) -> Savepoint:
    def on_file(done: int, _all: int) -> None:
        if done == 1:
            for name in gone:
                (path / name).unlink()

    return make_savepoint(Checkpoint.open(str(path)), Location.of(str(target)), on_file=on_file)


def test_what_a_query_removes_from_its_logs_meanwhile_is_not_in_the_copy(
    path: Path, tmp_path: Path
) -> None:
    gone = ("offsets/0", "commits/0", "offsets/1")
    made = copy_while_these_go(path, tmp_path / "copy", *gone)
    found = names(tmp_path / "copy")
    logs = {name for name in found if name.startswith(("offsets", "commits"))}
    assert logs == {"offsets/2", "offsets/3", "commits/1", "commits/2", "commits/3"}
    assert made.files == len(found)
    assert state(tmp_path / "copy") == {1, 2, 3, 4}


@pytest.mark.parametrize("gone", ["offsets/2", "commits/3", "state/0/0/4.delta"])
def test_what_the_copy_needs_and_a_query_removes_meanwhile_is_told(
    gone: str, path: Path, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError, match=rf"{gone} is gone, .* Make the savepoint again"):
        copy_while_these_go(path, tmp_path / "copy", gone)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("name", ["offsets/3", "commits/1", "state/0/0/4.delta"])
def test_a_link_that_leads_nowhere_is_no_file_that_a_query_has_removed(
    name: str, path: Path, tmp_path: Path
) -> None:
    (path / name).unlink()
    (path / name).symlink_to("nowhere")
    with pytest.raises(CheckpointError, match=rf"{name}: it is a link that leads nowhere"):
        copy(path, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("inside", ["copy", "state/1", "link/copy"])
def test_a_copy_does_not_go_into_the_checkpoint(inside: str, path: Path) -> None:
    (path.parent / "link").symlink_to(path)
    target = path.parent / inside if inside.startswith("link") else path / inside
    before = names(path)
    with pytest.raises(CheckpointError, match=r"is in the checkpoint .* itself: name a"):
        copy(path, target)
    assert names(path) == before


def test_the_copy_has_what_the_batch_needs_and_no_more(path: Path, tmp_path: Path) -> None:
    made = copy(path, tmp_path / "copy", 2)
    found = names(tmp_path / "copy")
    logs = {f"{log}/{batch}" for log in ("offsets", "commits") for batch in range(3)}
    state_files = {"state/0/0/2.snapshot", "state/0/0/3.delta"}
    metadata = {"state/0/_metadata/metadata", "state/0/0/_metadata/schema", "metadata"}
    assert found == {*logs, *state_files, *metadata, "sources/0/0"}
    assert all((tmp_path / "copy" / n).read_bytes() == (path / n).read_bytes() for n in found)
    assert (made.files, made.records, made.batch_id) == (len(found), 3, 2)
    assert state(tmp_path / "copy") == {1, 2, 3}


def test_the_newest_committed_batch_is_the_default(path: Path) -> None:
    assert copy(path, "memory://copy").batch_id == 3
    assert state("memory://copy") == {1, 2, 3, 4}
    location = Location.of("memory://copy")
    location.fs.rm(location.path, recursive=True)


class WithEndpoint(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """A store of objects that is one for each address, without which it cannot be opened."""

    protocol = "endpoint"
    stores: ClassVar[dict[str, tuple[dict[str, object], list[str]]]] = {}

    def __init__(self, *, address: str, **more: object) -> None:
        super().__init__(**more)
        self.store, self.pseudo_dirs = self.stores.setdefault(address, ({}, [""]))

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:  # noqa: ANN401
        return super()._strip_protocol(path.removeprefix("endpoint://"))


def test_the_copy_is_read_with_the_options_that_it_was_written_with(path: Path) -> None:
    fsspec.register_implementation("endpoint", WithEndpoint, clobber=True)
    target = Location.of("endpoint://copy", storage_options={"address": "here"})
    assert make_savepoint(Checkpoint.open(str(path)), target).batch_id == 3
    assert WithEndpoint.stores["here"][0]


@pytest.mark.parametrize(
    ("of", "to", "root"),
    [
        (
            "abfss://c@account.dfs.core.windows.net/cp",
            "abfss://c@account.dfs.core.windows.net/copy",
            "abfss://c@account.dfs.core.windows.net/copy",
        ),
        ("file:/cp", "s3a://bucket/copy", "s3a://bucket/copy"),
        # The query may know the same objects by another scheme than who copies them.
        ("s3a://bucket/cp", "s3://bucket/copy", "s3a://bucket/copy"),
        ("s3a://bucket/cp", "/copy", "file:/copy"),
    ],
)
def test_schemas_are_named_where_the_query_finds_them(of: str, to: str, root: str) -> None:
    name = "state/0/_stateSchema/default/0_a"
    metadata = {"stateStoreInfo": [{"stateSchemaFilePaths": [f"{of}/{name}"]}]}
    content = f"v2\n{json.dumps(metadata)}".encode()
    there, here = place(of), place(to)
    made = with_schemas_in(content, of=there, to=here, path="metadata")
    (store,) = json.loads(made.split(b"\n")[1])["stateStoreInfo"]
    assert store["stateSchemaFilePaths"] == [f"{root}/{name}"]


def place(url: str) -> Location:
    """Return a place as fsspec has it, which keeps neither scheme nor account of Azure."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return Location(LocalFileSystem(), scheme.removeprefix("file:"))
    container, _, path = rest.partition("/")
    return Location(MemoryFileSystem(), f"{container.partition('@')[0]}/{path}", url=url)


@pytest.mark.parametrize("name", ["typed", "join", "windows"])
def test_a_copy_of_what_spark_made_is_sound(name: str, tmp_path: Path) -> None:
    source = GOLDEN / "spark-4.3" / name / "checkpoint"
    assert copy(source, tmp_path / "copy").records > 0


def test_no_copy_is_made_of_a_snapshot_of_another_version(path: Path, tmp_path: Path) -> None:
    (path / "state/0/0/2.snapshot").write_bytes((path / "state/0/0/2.delta").read_bytes())
    for batch in (1, 2, 3):
        with pytest.raises(ContradictedStateError, match=r"2\.snapshot is not what .* repair"):
            copy(path, tmp_path / "copy", batch)
        assert not (tmp_path / "copy").exists()
    assert copy(path, tmp_path / "copy", 0).batch_id == 0


def test_what_cannot_be_copied_is_named(path: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not empty: name a folder that does not exist"):
        copy(path, path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(CheckpointError, match=r"full is not empty: name a folder that does not"):
        copy(path, Path(f"{tmp_path}/none/../full"))
    assert not (tmp_path / "none").exists()
    with pytest.raises(CheckpointError, match=r"has not committed a batch 9: .* batches 0 to 3"):
        copy(path, tmp_path / "copy", 9)
    (path / "state/0/0/1.delta").unlink()
    with pytest.raises(CheckpointError, match=r"1\.delta is missing"):
        copy(path, tmp_path / "copy", 0)
    assert not (tmp_path / "copy").exists()
    (path / "state/0/0/4.delta").write_bytes(lz4(records([row(1, 1)]))[:30])
    with pytest.raises(CheckpointError, match="would not be whole: of what it needs, 1 file is"):
        copy(path, tmp_path / "copy")
    (path / "state/0/0/5.zip").touch()
    with pytest.raises(CheckpointError, match="read its rows with Spark's statestore source"):
        copy(path, tmp_path / "other")


def test_where_no_earlier_batch_is_planned_the_copy_has_the_next_plan(
    path: Path, tmp_path: Path
) -> None:
    (path / "state/0/0/3.delta").write_bytes(b"damage")
    repair(Checkpoint.open(path), drop_tail=True, apply=True, settled=AT_ONCE)
    assert copy(path, tmp_path / "copy").batch_id == 3
    planned = {name for name in names(tmp_path / "copy") if name.startswith("offsets")}
    assert planned == {"offsets/3", "offsets/4"}
    for folder in (path, tmp_path / "copy"):
        found = verify_checkpoint(Checkpoint.open(folder))
        assert (found.goes_on, found.next_batch, found.reruns) == (True, 4, True)
        assert state(folder) == {1, 2}


def test_a_single_batch_is_called_so(path: Path, tmp_path: Path) -> None:
    for log in ("offsets", "commits"):
        for batch in (0, 1, 2):
            (path / log / str(batch)).unlink()
    with pytest.raises(CheckpointError, match=r"it has committed the batch 3\.$"):
        copy(path, tmp_path / "copy", 9)
    with pytest.raises(CheckpointError, match=r"has no batch 9: it has the batch 3\.$"):
        Checkpoint.open(path).version_after(9)


def test_a_file_in_the_place_of_the_copy_stays(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("kept")
    with pytest.raises(CheckpointError, match=f"{file} is a file: name a folder that does not"):
        copy(path, file)
    with pytest.raises(CheckpointError, match="Not a directory"):
        copy(path, file / "copy")
    assert file.read_text() == "kept"


def test_the_command_makes_a_savepoint(path: Path, tmp_path: Path) -> None:
    arguments = ["savepoint", str(path), str(tmp_path / "copy"), "--batch-id", "1"]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 0, result.stderr
    assert "has the state after batch 1: 9 files" in result.stdout
    result = CliRunner().invoke(cli.main, [*arguments[:2], str(tmp_path / "json"), "--json"])
    assert json.loads(result.stdout)["batch_id"] == 3
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")


@pytest.mark.spark
@pytest.mark.slow
def test_a_query_goes_on_from_a_savepoint(shared_spark: SharedSpark, tmp_path: Path) -> None:
    folder = tmp_path / "query"
    words, expected = folder / "words", Counter[str]()
    words.mkdir(parents=True)
    for number, text in enumerate(("to be or not to be", "that is the question", "to be")):
        (words / f"{number}.txt").write_text("\n".join(text.split()))
        expected.update(text.split())
        if number == 1:
            # What is counted from here on is forgotten, and counted again.
            copy(folder / "checkpoint", tmp_path / "savepoint")
        assert shared_spark.python(str(APP), folder).result()["counted"] == expected
    (folder / "checkpoint").rename(tmp_path / "old")
    (tmp_path / "savepoint").rename(folder / "checkpoint")
    assert Checkpoint.open(str(folder / "checkpoint")).newest_committed == 0
    assert shared_spark.python(str(APP), folder).result()["counted"] == expected


def test_a_copy_that_fails_leaves_what_somebody_else_has_put_there(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy"
    needed = savepoint._needed
    made: list[Savepoint] = []

    def late(checkpoint: Checkpoint, batch: int) -> Iterator[Location]:
        files = list(needed(checkpoint, batch))
        if not made:  # as another command comes to its end meanwhile
            monkeypatch.setattr(savepoint, "_needed", needed)
            made.append(make_savepoint(Checkpoint.open(str(path)), target))
        yield from files

    monkeypatch.setattr(savepoint, "_needed", late)
    with pytest.raises(SavepointError, match=rf"Somebody else writes to {target} as well: "):
        make_savepoint(Checkpoint.open(str(path)), target)
    assert verify_checkpoint(Checkpoint.open(str(target))).state_is_sound
    assert len([file for file in target.rglob("*") if file.is_file()]) == made[0].files


def test_what_comes_to_the_copy_besides_is_told_and_stays(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    target.mkdir()

    def more(_done: int, _all: int) -> None:
        (target / "state/9").mkdir(parents=True, exist_ok=True)
        (target / "state/9/note").write_text("mine")

    with pytest.raises(SavepointError, match=r"found \S*/copy/state/9/note\. Name another folder"):
        make_savepoint(Checkpoint.open(str(path)), target, on_file=more)
    assert [file for file in target.rglob("*") if file.is_file()] == [target / "state/9/note"]


@pytest.mark.parametrize("log", ["state", "commits", "offsets"])
def test_a_change_of_the_checkpoint_meanwhile_is_told(
    log: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_file = savepoint._copy_file

    def changed(file: Location, root: Location, target: Location, made: savepoint._Made) -> int:
        if f"/{log}/" in file.path:
            monkeypatch.setattr(savepoint, "_copy_file", copy_file)
            assert repartition(Checkpoint.open(path), 3, apply=True, settled=AT_ONCE).applied
        return copy_file(file, root, target, made)

    monkeypatch.setattr(savepoint, "_copy_file", changed)
    with pytest.raises(SavepointError, match=rf"{path} was changed while the copy was made: "):
        make_savepoint(Checkpoint.open(path), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert make_savepoint(Checkpoint.open(path), tmp_path / "copy").batch_id == 3
