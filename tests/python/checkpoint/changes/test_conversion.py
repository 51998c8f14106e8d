"""State carried from and to RocksDB: refused, planned, done, undone, and in real queries.

But for the last tests, a stand-in keeps what Spark's RocksDB provider would: its `N.zip` holds the
records of version N, uncompressed.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner

from checkpoint.changes.stand_in import StandIn
from checkpoint.checkpoints import (
    AT_ONCE,
    GOLDEN,
    HDFS,
    PROVIDER,
    content,
    counts,
    long_row,
    offsets,
    records,
    row,
    schema_file,
    schema_json,
)
from checkpoint.plans import planned
from checkpoint.test_golden import check
from harness import SharedSpark, Spark
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes import spark_state
from holdfast_spark.checkpoint.changes.change import finish_unfinished, is_decided
from holdfast_spark.checkpoint.changes.migration import Migration, migrate
from holdfast_spark.checkpoint.changes.spark_state import SparkStateError, SparkStore
from holdfast_spark.checkpoint.errors import CheckpointError, ConversionError
from holdfast_spark.checkpoint.files.journals import unfinished
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.providers import HOLDFAST, PROVIDERS, ROCKSDB
from holdfast_spark.cli import main as cli

APPS = Path(__file__).parents[1] / "apps"
OPERATORS = ("aggregation", "deduplication", "session", "join")
# Of these a Spark line has read every row, which has every type that state can have.
WITH_EXPECTED_ROWS = ("typed", "typed_keys", "more_types", "windows", "join", "zstd_checked")
ROWS = [row(1, 10), row(2, 20), row(3, 30)]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return StandIn.put_up(monkeypatch)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A checkpoint of two batches with Spark's default provider."""
    versions = {
        "1.delta": [row(1, 10), row(2, 2), row(4, 4)],
        "1.snapshot": [*ROWS[:1], row(2, 2), row(4, 4)],
    }
    versions["2.delta"] = [row(2, 20), row(3, 30), row(4, None)]
    return counts(tmp_path / "plain", versions, batches=2)


@pytest.fixture
def rocksdb(tmp_path: Path) -> Path:
    """A checkpoint of two batches with RocksDB."""
    path = counts(tmp_path / "rocksdb", {}, batches=2)
    (path / "state/0/0/SSTs").mkdir(parents=True)
    (path / "state/0/0/SSTs/000007-b.sst").touch()
    (path / "state/0/0/1.zip").write_bytes(records(ROWS[:1]))
    (path / "state/0/0/2.zip").write_bytes(records(ROWS))
    (path / "state/0/0/.2.zip.crc").touch()
    (path / "offsets/1").write_bytes(offsets(providerClass=ROCKSDB))
    (path / "offsets/.1.crc").touch()
    return path


def switch(path: Path | str, to: str, *, apply: bool = True, stopped: bool = False) -> Migration:
    return migrate(Checkpoint.open(str(path)), to, apply=apply, stopped=stopped, settled=AT_ONCE)


def rows(path: Path | str) -> dict[int, int]:
    pieces = Checkpoint.open(str(path)).read()
    return {each["key"]["k"]: each["value"]["n"] for p in pieces for each in p.to_pylist()}


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("to", ["holdfast", "hdfs"])
def test_rows_come_out_of_rocksdb(rocksdb: Path, to: str) -> None:
    before = content(rocksdb)
    done = switch(rocksdb, to)
    assert (done.converted_stores, done.records, done.files) == (1, 3, 0)
    assert rows(rocksdb) == {1: 10, 2: 20, 3: 30}
    assert sorted(path.name for path in (rocksdb / "state/0/0").iterdir()) == [
        *("2.snapshot", "_metadata"),
    ]
    backup = content(Path(done.backup or ""))
    assert backup.pop("written.jsonl")
    gone = {name: before[name] for name in before if not (rocksdb / name).exists()}
    assert backup == {**gone, **{name: before[name] for name in ("offsets/1", "commits/1")}}
    assert len(gone) == 5
    conf = planned((rocksdb / "offsets/1").read_text())["conf"]
    assert conf[PROVIDER] == {"holdfast": HOLDFAST, "hdfs": HDFS}[to]
    checked = CliRunner().invoke(cli.main, ["verify", str(rocksdb)])
    assert checked.exit_code == 0, checked.stderr


@pytest.mark.usefixtures("stand_in")
def test_deduplication_has_no_values_whatever_its_schema_says(rocksdb: Path) -> None:
    """As of a query that began before Spark 3.4, whose schema stays."""
    keys = [(long_row(1, 7), long_row(None)), (long_row(2, 8), long_row(None))]
    columns = schema_json(a="long", b="long")
    (rocksdb / "state/0/0/_metadata/schema").write_bytes(schema_file(columns, columns))
    (rocksdb / "state/0/0/2.zip").write_bytes(records(keys))
    assert switch(rocksdb, "holdfast").records == 2
    (piece,) = Checkpoint.open(str(rocksdb)).read()
    assert piece["value"].to_pylist() == [None, None]


@pytest.mark.usefixtures("stand_in")
def test_rows_go_into_rocksdb_and_come_back(plain: Path) -> None:
    done = switch(plain, "rocksdb")
    assert (done.converted_stores, done.records, done.files) == (1, 3, 3)
    state = plain / "state/0/0"
    assert sorted(path.name for path in state.iterdir()) == ["2.zip", "SSTs", "_metadata"]
    assert Checkpoint.open(str(plain)).settings.provider_class == ROCKSDB
    switch(plain, "hdfs", stopped=True)
    assert rows(plain) == {1: 10, 2: 20, 3: 30}


@pytest.mark.parametrize("line", ["3.5", "4.0", "4.1"])
def test_rocksdb_is_not_written_by_a_spark_that_cannot(
    plain: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(spark_state, "installed_spark_line", lambda: line)
    refused(plain, "rocksdb", rf"of Spark {line}: run holdfast migrate where pyspark 4\.2 or newer")


@pytest.mark.parametrize("line", ["4.0", "4.1"])
def test_nor_are_column_families_read_by_one_that_does_not_tell_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(spark_state, "installed_spark_line", lambda: line)
    told = rf"tells all families from Spark 4\.2 on, .* of Spark {line}: run holdfast migrate where"
    with (
        pytest.raises(ConversionError, match=told),
        spark_state.spark_state(tmp_path, writes=False, families=True),
    ):
        pass


@pytest.mark.usefixtures("stand_in")
def test_a_dry_run_converts_and_changes_nothing(plain: Path, rocksdb: Path) -> None:
    for path, to in ((plain, "rocksdb"), (rocksdb, "holdfast")):
        before = content(path)
        proposed = switch(path, to, apply=False)
        assert (proposed.applied, proposed.backup, proposed.converted_stores) == (False, None, 1)
        assert content(path) == before


@pytest.mark.usefixtures("stand_in")
def test_other_file_systems_serve_as_well(rocksdb: Path) -> None:
    fs = fsspec.filesystem("memory")
    fs.put(str(rocksdb), "/converted", recursive=True)
    switch("memory://converted", "holdfast")
    assert rows("memory://converted") == {1: 10, 2: 20, 3: 30}
    switch("memory://converted", "rocksdb", stopped=True)
    assert fs.exists("/converted/state/0/0/2.zip")
    fs.rm("/converted", recursive=True)


@pytest.mark.usefixtures("stand_in")
def test_the_provider_that_is_in_use_needs_no_conversion(rocksdb: Path) -> None:
    done = switch(rocksdb, "rocksdb")
    assert (done.applied, done.converted_stores) == (False, 0)


def test_a_query_without_state_needs_no_conversion(rocksdb: Path) -> None:
    shutil.rmtree(rocksdb / "state")
    done = switch(rocksdb, "holdfast")
    assert (done.applied, done.converted_stores) == (True, 0)
    assert Checkpoint.open(str(rocksdb)).settings.provider_class == HOLDFAST


def refused(path: Path, to: str, text: str) -> None:
    """Check that a switch fails with this in its sentence and leaves everything as it was."""
    before = content(path)
    with pytest.raises(CheckpointError, match=text):
        switch(path, to)
    assert content(path) == before


def test_other_rows_than_went_in_are_not_taken(plain: Path, stand_in: StandIn) -> None:
    stand_in.lost = [row(3, 30)]
    refused(plain, "rocksdb", "came out different: 3 rows went in, and 2 rows")


def test_what_spark_cannot_do_is_a_sentence(
    rocksdb: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(store: SparkStore, _: Path) -> int:
        raise SparkStateError(f"could not read {store}.")

    monkeypatch.setattr(stand_in, "read", fail)
    refused(rocksdb, "holdfast", "could not read 0/0/default")


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("step", ["upload", "create", "move", "replace"])
def test_a_full_disk_changes_nothing(
    rocksdb: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    original = getattr(Location, step)
    failures = iter([OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])

    def full(location: Location, *arguments: object, **named: object) -> None:
        error = next(failures, None)
        if error:
            raise CheckpointError(f"Cannot write {location}: {error.strerror}.")
        original(location, *arguments, **named)

    monkeypatch.setattr(Location, step, full)
    refused(rocksdb, "holdfast", "No space left on device")


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("moves", range(7))
def test_what_a_dead_disk_left_half_done_is_undone_or_completed_later(
    rocksdb: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    before = content(rocksdb)
    move = Location.move
    left = iter(range(moves))

    def die(location: Location, target: Location) -> None:
        if next(left, None) is None:
            raise CheckpointError("the disk is dead.")
        move(location, target)

    with monkeypatch.context() as patch:
        patch.setattr(Location, "move", die)
        with pytest.raises(CheckpointError, match="the disk is dead"):
            switch(rocksdb, "holdfast")
    place = Location.of(str(rocksdb))
    completed = any(is_decided(journal) for journal in unfinished(place))
    finish_unfinished(place)
    assert completed == (moves > 2)
    if completed:
        assert rows(rocksdb) == {1: 10, 2: 20, 3: 30}
    else:
        assert content(rocksdb) == before


def test_a_query_that_goes_on_meanwhile_is_left_alone(
    rocksdb: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = stand_in.read

    def read_while_running(store: SparkStore, file: Path) -> int:
        (rocksdb / "state/0/0/3.zip").write_bytes(b"")
        return read(store, file)

    monkeypatch.setattr(stand_in, "read", read_while_running)
    with pytest.raises(CheckpointError, match=r"3\.zip has changed meanwhile"):
        switch(rocksdb, "holdfast")
    assert Checkpoint.open(str(rocksdb)).settings.provider_class == ROCKSDB
    assert not (rocksdb / "state/0/0/2.snapshot").exists()


def test_damaged_files_are_not_converted(plain: Path) -> None:
    (plain / "state/0/0/2.delta").write_bytes(b"x")
    refused(plain, "rocksdb", "is not switched: 1 file is damaged")


def edit_metadata(path: Path, old: str, new: str) -> None:
    metadata = path / "state/0/_metadata/metadata"
    metadata.write_text(metadata.read_text().replace(old, new))


def test_state_in_column_families_does_not_go_to_sparks_default_provider(rocksdb: Path) -> None:
    edit_metadata(rocksdb, "stateStoreSave", "transformWithStateExec")
    refused(rocksdb, "hdfs", r"\(transformWithStateExec\) keeps its state in column families")
    refused(rocksdb, "holdfast", "does not tell how its keys are ordered")


def test_nor_do_joins_in_column_families(rocksdb: Path) -> None:
    edit_metadata(rocksdb, "stateStoreSave", "symmetricHashJoin")
    text = (rocksdb / "offsets/1").read_text()
    setting = '"spark.sql.streaming.join.stateFormatVersion": "3", '
    (rocksdb / "offsets/1").write_text(text.replace('"conf": {', f'"conf": {{{setting}'))
    refused(rocksdb, "hdfs", r"\(symmetricHashJoin\) keeps its state in column families")


def test_operators_without_metadata_are_not_converted(rocksdb: Path) -> None:
    (rocksdb / "state/0/_metadata/metadata").unlink()
    refused(rocksdb, "holdfast", "has no metadata, which says how RocksDB orders its keys")


def test_missing_partitions_are_not_converted(rocksdb: Path) -> None:
    edit_metadata(rocksdb, '"numPartitions": 1', '"numPartitions": 2')
    # Spark obeys what the newest batch pins.
    newest = rocksdb / "offsets/1"
    newest.write_text(newest.read_text().replace('partitions": "1"', 'partitions": "2"'))
    refused(rocksdb, "holdfast", r"has no files of the store 0/1 \(named default\)")


@pytest.mark.usefixtures("stand_in")
def test_what_an_earlier_number_of_partitions_has_left_is_passed_over(rocksdb: Path) -> None:
    (rocksdb / "state/0/1").mkdir()
    (rocksdb / "state/0/1/1.zip").write_bytes(records(ROWS))
    done = switch(rocksdb, "holdfast")
    assert (done.converted_stores, done.records) == (1, 3)
    assert rows(rocksdb) == {1: 10, 2: 20, 3: 30}


def test_a_version_that_is_not_there_is_named(rocksdb: Path) -> None:
    (rocksdb / "state/0/0/2.zip").unlink()
    text = "Version 2 of the store 0/0 cannot be read: 2.changelog is missing, and no zip follows"
    refused(rocksdb, "holdfast", text)


def test_a_query_without_a_committed_batch_is_not_converted(rocksdb: Path) -> None:
    for commit in (rocksdb / "commits").iterdir():
        commit.unlink()
    refused(rocksdb, "holdfast", "has no committed batch")


def test_without_pyspark_nothing_is_converted(
    rocksdb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyspark", "pyspark.version"):
        monkeypatch.setitem(sys.modules, name, None)
    before = content(rocksdb)
    result = CliRunner().invoke(
        cli.main, ["migrate", str(rocksdb), "--to", "holdfast", "--settled", "0", "--apply"]
    )
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Holdfast needs pyspark")
    assert content(rocksdb) == before


def outputs(folder: Path, operator: str, provider: str) -> list[str]:
    """The output of the batches that have any: a switch adds one without data."""
    out = folder / f"{operator}-{provider}" / "out"
    texts = {int(path.stem): path.read_text() for path in out.iterdir()}
    return [texts[batch] for batch in sorted(texts) if texts[batch].strip() not in ("", "[]")]


def migrate_all(spark: SharedSpark, switches: Mapping[Path, str]) -> None:
    arguments = [f"{path}={to}" for path, to in switches.items()]
    found = spark.python(str(APPS / "migrate_all.py"), *arguments).result()
    assert found == {str(path): PROVIDERS[to] for path, to in switches.items()}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.since("4.2", "a state store that is written whole")
def test_queries_go_on_from_rocksdb_and_to_it(shared_spark: SharedSpark, tmp_path: Path) -> None:
    folder = tmp_path / "queries"
    began = shared_spark.python(str(APPS / "carry_on.py"), folder, "0").result()
    switches = {"rocksdb": "holdfast", "holdfast": "rocksdb"}
    migrate_all(
        shared_spark,
        {
            folder / f"{operator}-{before}" / "checkpoint": after
            for operator in OPERATORS
            for before, after in switches.items()
        },
    )
    before_the_switch = {operator: outputs(folder, operator, "hdfs") for operator in OPERATORS}
    ended = shared_spark.python(str(APPS / "carry_on.py"), folder, "1").result()
    for operator in OPERATORS:
        for before, after in {**switches, "hdfs": "hdfs"}.items():
            assert began[f"{operator}-{before}"] == PROVIDERS[before]
            assert ended[f"{operator}-{before}"] == PROVIDERS[after]
        unmoved = outputs(folder, operator, "hdfs")
        assert len(unmoved) > len(before_the_switch[operator])
        for provider in switches:
            assert outputs(folder, operator, provider) == unmoved, (operator, provider)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.since("4.2", "a state store that is written whole")
def test_every_type_goes_through_rocksdb_and_comes_back(
    shared_spark: SharedSpark, tmp_path: Path
) -> None:
    places = [shutil.copytree(GOLDEN / "spark-4.3" / n, tmp_path / n) for n in WITH_EXPECTED_ROWS]
    for to in ("rocksdb", "holdfast"):
        migrate_all(shared_spark, {place / "checkpoint": to for place in places})
    for place in places:
        newest = str(Checkpoint.open(str(place / "checkpoint")).newest_committed)
        expected = json.loads((place / "expected.json").read_text())
        entries = [entry for entry in expected if entry[0]["batchId"] == newest]
        assert sum(len(rows) for _, rows in entries) > 0
        (place / "expected.json").write_text(json.dumps(entries))
        check(place)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.since("4.2", "a state store that is written whole")
def test_the_command_starts_spark_by_itself(spark: Spark, tmp_path: Path, plain: Path) -> None:
    app = tmp_path / "command.py"
    app.write_text("import sys\nfrom holdfast_spark.cli.main import main\nmain(sys.argv[1:])\n")
    for to in ("rocksdb", "holdfast"):
        arguments = ("migrate", plain, "--to", to, "--settled", "0", "--stopped")
        done = spark.python(str(app), *arguments, "--apply", "--json").result()
        assert (done["applied"], done["converted_stores"], done["records"]) == (True, 1, 3)
    assert rows(plain) == {1: 10, 2: 20, 3: 30}
