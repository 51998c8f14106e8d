"""Other numbers of partitions for checkpoints that Spark made, and for what cannot have them."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import fsspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from checkpoint.checkpoints import AT_ONCE, GOLDEN, PARTITIONS, counts, lz4, offsets, records, row
from checkpoint.faults import content
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.changes.repartition import Repartition, repartition
from holdfast_spark.checkpoint.changes.steps import ChangeSteps
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, ContradictedStateError
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.spark_types import (
    ArrayType,
    AtomicType,
    MapType,
    SparkType,
    StructField,
    StructType,
)
from holdfast_spark.checkpoint.rows.partitioning import Placement
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.cli import main as cli

LONG = AtomicType("long")
LINES = ("spark-4.2", "spark-4.3")
QUERIES = ("join", "lzf", "snappy", "typed", "typed_keys", "windows", "zstd")
VERSIONS = {
    "1.delta": [row(key, 10 * key) for key in range(1, 40)],
    "2.delta": [row(7, None), row(40, 400)],
}


def golden(folder: Path, query: str = "join", line: str = "spark-4.3") -> Path:
    shutil.copytree(GOLDEN / line / query / "checkpoint", folder / query)
    return folder / query


def spread(path: Path | str, partitions: int, *, apply: bool = True) -> Repartition:
    """Repartition what is known to be stopped, also after another change that no run has seen."""
    return repartition(
        Checkpoint.open(str(path)), partitions, apply=apply, stopped=True, settled=AT_ONCE
    )


def rows(path: Path) -> dict[str, list[str]]:
    """The rows of each store, wherever they are."""
    checkpoint = Checkpoint.open(str(path))
    found = {}
    for operator in checkpoint.operators:
        for store in operator.stores:
            pieces = checkpoint.read(operator_id=operator.operator_id, store_name=store.name)
            texts = [f"{r['key']} {r['value']}" for piece in pieces for r in piece.to_pylist()]
            found[f"{operator.operator_id}/{store.name}"] = sorted(texts)
    return found


@pytest.mark.parametrize(
    ("line", "query"),
    [*product(LINES, QUERIES), ("spark-4.3", "ids"), ("spark-4.3", "ids_join")],
)
def test_every_row_is_kept_and_placed(line: str, query: str, tmp_path: Path) -> None:
    path = golden(tmp_path, query, line)
    before = rows(path)
    for partitions in (7, 1, 70, 3):
        done = spread(path, partitions)
        assert done.applied
        checkpoint = Checkpoint.open(str(path))
        assert checkpoint.settings.shuffle_partitions == partitions
        assert {kind.partitions for o in checkpoint.operators for kind in o.stores} == {partitions}
        assert {store.partition_id for store in checkpoint.stores} == set(range(partitions))
        assert verify_checkpoint(checkpoint).state_is_sound
        assert rows(path) == before
        assert [store.rows for store in done.stores] == [len(texts) for texts in before.values()]
        # It checks of every row that it is where Spark's hash puts it.
        assert not spread(path, partitions).applied


def test_nothing_is_spread_of_a_snapshot_of_another_version(tmp_path: Path) -> None:
    path = counts(tmp_path / "counts", VERSIONS, batches=2)
    (path / "state/0/0/2.snapshot").write_bytes((path / "state/0/0/1.delta").read_bytes())
    before = content(path)
    with pytest.raises(ContradictedStateError, match=r"2\.snapshot is not what .* repair"):
        spread(path, 3)
    assert content(path) == before


def test_the_way_back_gives_the_same_partitions(tmp_path: Path) -> None:
    path = golden(tmp_path, "typed_keys")
    before = [piece.to_pylist() for i in range(2) for piece in read(path, i)]
    spread(path, 5)
    spread(path, 2)
    after = [piece.to_pylist() for i in range(2) for piece in read(path, i)]
    assert [sorted(map(str, each)) for each in after] == [sorted(map(str, e)) for e in before]


def read(path: Path, partition: int) -> list[Any]:
    return list(Checkpoint.open(str(path)).read(partition=partition))


def test_what_is_not_state_of_the_newest_batch_stays_as_it_was(tmp_path: Path) -> None:
    path = golden(tmp_path)
    (path / "offsets/.3.crc").write_bytes(b"crc\0")
    (path / "state/0/_metadata/.metadata.crc").write_bytes(b"crc\0")
    before = content(path)
    done = spread(path, 3)
    after = content(path)
    kept = {n: text for n, text in before.items() if not n.startswith("state/")}
    assert kept.pop("offsets/.3.crc") == b"crc\0"
    old, new = (json.loads(files.pop("offsets/3").split(b"\n")[1]) for files in (kept, after))
    planned = json.loads(after.pop("offsets/4").split(b"\n")[1])
    assert (old["conf"].pop(PARTITIONS), new["conf"].pop(PARTITIONS)) == ("2", "3")
    assert old == new
    assert planned["conf"].pop(PARTITIONS) == "3"
    assert planned["conf"] == new["conf"]
    assert {n: text for n, text in after.items() if not n.startswith("state/")} == kept
    schemas = {n: text for n, text in before.items() if n.endswith("_metadata/schema")}
    assert {n: after[n] for n in schemas} == schemas
    state = {n for n in after if n.startswith("state/") and "_metadata" not in n}
    stores = {n.split("/")[3] for n in schemas}
    assert state == {f"state/0/{i}/{store}/4.snapshot" for i in range(3) for store in stores}
    assert not any(n.endswith(".crc") for n in after)
    backup = content_of(Path(done.backup or ""))
    moved = before.keys() - schemas.keys()
    assert {n: before[n] for n in moved if n.startswith("state/")}.items() <= backup.items()
    assert backup["offsets/3"] == before["offsets/3"]


def content_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_batch_that_is_planned_has_the_number_too(tmp_path: Path) -> None:
    path = counts(tmp_path / "checkpoint", VERSIONS, batches=2)
    (path / "offsets/2").write_bytes(offsets())
    before = content_of(path)
    with pytest.raises(CheckpointError, match=r"the batch 2 is planned and not committed, .* give"):
        repartition(Checkpoint.open(str(path)), 4, apply=True, settled=AT_ONCE)
    assert content_of(path) == before
    spread(path, 4)
    logs = {n: (path / "offsets" / n).read_text() for n in "012"}
    numbers = {n: json.loads(text.split("\n")[1])["conf"][PARTITIONS] for n, text in logs.items()}
    assert numbers == {"0": "1", "1": "4", "2": "4"}
    assert Checkpoint.open(str(path)).committed == (0, 1)


def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    path = counts(tmp_path / "checkpoint", VERSIONS, batches=2)
    before = content_of(path)
    planned = spread(path, 4, apply=False)
    assert content_of(path) == before
    assert (planned.applied, planned.backup, planned.batch_id) == (False, None, 1)
    (store,) = planned.stores
    assert (store.rows, store.partitions, store.operator_name) == (39, 4, "stateStoreSave")
    done = spread(path, 4)
    assert done.stores == planned.stores
    sizes = [sum(len(p) for p in Checkpoint.open(str(path)).read(partition=i)) for i in range(4)]
    assert max(sizes) == store.largest_partition_rows


def test_another_file_system_serves_as_well(tmp_path: Path) -> None:
    path = golden(tmp_path)
    before = rows(path)
    fs = fsspec.filesystem("memory")
    fs.put(str(path), "/moved", recursive=True)
    assert spread("memory://moved", 5).applied
    assert not spread("memory://moved", 5).applied
    fs.get("/moved", str(tmp_path / "back"), recursive=True)
    assert rows(tmp_path / "back") == before
    fs.rm("/moved", recursive=True)


def test_a_watermark_that_is_none_is_told(tmp_path: Path) -> None:
    path = counts(tmp_path / "c", VERSIONS, batches=2)
    (path / "commits/1").write_bytes(b'v1\n{"nextBatchWatermarkMs":"soon"}')
    before = content(path)
    expected = r"commits/1 is damaged: expected a number of milliseconds in nextBatchWat.*'soon'"
    with pytest.raises(CheckpointError, match=expected):
        spread(path, 3)
    assert content(path) == before


def test_folders_of_new_partitions_are_for_whoever_uses_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = counts(tmp_path / "c", VERSIONS, batches=2)
    (path / "state/0").chmod(0o770)
    given: dict[Path, tuple[object, object]] = {}

    def chown(folder: Path, user: object = None, group: object = None) -> None:
        if user is not None and folder == path / "state/0/2":
            raise PermissionError  # as for a user who is not root, and may be of the group
        given[folder] = (user, group)

    monkeypatch.setattr(shutil, "chown", chown)
    spread(path, 3)
    owner = (path / "state/0").stat()
    for partition in (1, 2):
        assert (path / f"state/0/{partition}").stat().st_mode & 0o777 == 0o770
    assert given[path / "state/0/1"] == (owner.st_uid, owner.st_gid)
    assert given[path / "state/0/2"] == (None, owner.st_gid)


def test_folders_of_new_partitions_go_when_the_change_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = counts(tmp_path / "c", VERSIONS, batches=2)
    before = sorted(path.rglob("*"))

    def meddled(steps: ChangeSteps) -> NoReturn:
        raise steps._meddled(Checkpoint.open(path).location)

    monkeypatch.setattr(ChangeSteps, "require_ours", meddled)
    with pytest.raises(CheckpointError, match="has changed meanwhile"):
        spread(path, 3)
    assert sorted(path.rglob("*")) == before


def test_an_operator_without_a_key_stays_in_one_partition(tmp_path: Path) -> None:
    path = counts(tmp_path / "checkpoint", {"1.delta": [row(0, 5)]}, batches=1)
    metadata = path / "state/0/_metadata/metadata"
    metadata.write_text(metadata.read_text().replace("stateStoreSave", "globalLimit"))
    (store,) = spread(path, 9).stores
    assert (store.partitions, store.rows) == (1, 1)
    assert [s.partition_id for s in Checkpoint.open(str(path)).stores] == [0]
    assert '"numPartitions":9' in metadata.read_text()
    assert verify_checkpoint(Checkpoint.open(str(path))).state_is_sound
    assert spread(path, 2).applied


def refused(path: Path, text: str) -> None:
    """Check that it fails with this in its sentence, and leaves everything as it was."""
    before = content_of(path)
    with pytest.raises(CheckpointError, match=text):
        spread(path, 3)
    assert content_of(path) == before


def test_rows_that_spark_would_not_look_for_are_not_spread(tmp_path: Path) -> None:
    path = golden(tmp_path, "windows")
    for name in ("0", "1"):
        (path / "state/0" / name).rename(path / f"state/0/was-{name}")
    for name, other in (("0", "1"), ("1", "0")):
        (path / f"state/0/was-{name}").rename(path / "state/0" / other)
    (path / "state/0/1/_metadata").rename(path / "state/0/0/_metadata")
    refused(path, "In the store 0/0, 3 rows are not in the partition that Spark's hash")


def test_what_cannot_be_spread_is_named(tmp_path: Path) -> None:
    path = counts(tmp_path / "checkpoint", VERSIONS, batches=2)
    metadata = path / "state/0/_metadata/metadata"
    text = metadata.read_text()
    metadata.write_text(text.replace("stateStoreSave", "anotherExec"))
    refused(path, "Operator 0 is anotherExec, and this version of Holdfast knows")
    metadata.unlink()
    refused(path, r"has no metadata, .*: let Spark 4\.0 or later, which writes it, run a batch")
    metadata.write_text(text.replace('"numPartitions": 1', '"numPartitions": 2'))
    (path / "offsets/1").write_bytes(offsets().replace(f'"{PARTITIONS}": "1"'.encode(), b'"x": ""'))
    refused(path, r"expected spark.sql.shuffle.partitions in the newest offsets file, found none")
    (path / "offsets/1").write_bytes(offsets().replace(b'partitions": "1"', b'partitions": "2"'))
    refused(path, r"Version 2 of the store 0/1/default cannot be read: there is no file of it")
    (path / "offsets/1").write_bytes(offsets())
    (path / "state/0/0/2.delta").write_bytes(lz4(records([row(7, 1)]))[:30])
    refused(path, r"2\.delta \(version 2\) is damaged")
    (path / "state/0/0/2.changelog").touch()
    refused(path, "was written by Spark's RocksDB provider")
    (path / "state/0/0/2.changelog").unlink()
    (path / "offsets/1").write_bytes(offsets(providerClass="org.example.Provider"))
    refused(path, r"was written by org\.example\.Provider")


def test_state_of_rocksdb_and_queries_without_state_are_named(tmp_path: Path) -> None:
    path = counts(tmp_path / "rocksdb", VERSIONS, batches=2)
    (path / "state/0/0/2.zip").touch()
    refused(path, "read its rows with Spark's statestore source")
    path = counts(tmp_path / "stateless", {}, batches=1)
    shutil.rmtree(path / "state")
    refused(
        path, "expected state of any operator in it, found none. A query without state takes the"
    )
    (path / "commits/0").unlink()
    refused(path, "cannot be repartitioned")


@pytest.mark.parametrize(
    ("name", "store", "columns"),
    [
        ("stateStoreSave", "default", 2),
        ("dedupe", "default", 2),
        ("sessionWindowStateStoreSaveExec", "default", 1),
        ("symmetricHashJoin", "left-keyToNumValues", 2),
        ("symmetricHashJoin", "right-keyWithIndexToValue", 1),
        ("applyInPandasWithState", "default", 2),
        ("globalLimit", "default", 0),
    ],
)
def test_the_columns_of_the_key_that_count(name: str, store: str, columns: int) -> None:
    key = StructType((StructField("a", LONG), StructField("b", LONG)))
    operator = Operator(operator_id=0, name=name, metadata_version=1, stores=())
    placement = Placement(operator, store_name=store, key=key)
    assert len(placement.columns.fields) == columns
    assert placement.is_single == (columns == 0)
    ints = np.arange(64, dtype=np.int64)
    keys = [(bytes(8) + bytes([i]) + bytes(7) + bytes([7 * i % 250]) + bytes(7)) for i in range(64)]
    placed = placement.partitions(Records.of((each, b"") for each in keys), 5, where="here")
    assert (len(placed), placed.min()) == (len(ints), 0)
    assert set(placed.tolist()) <= set(range(5))
    assert (placed.max() > 0) == (columns > 0)


@pytest.mark.parametrize("kind", [MapType(LONG, LONG), ArrayType(AtomicType("interval"))])
def test_keys_that_not_every_spark_hashes_alike_are_named(kind: SparkType) -> None:
    operator = Operator(operator_id=3, name="dedupe", metadata_version=1, stores=())
    key = StructType((StructField("odd", kind),))
    with pytest.raises(CheckpointError, match=r"Operator 3 \(dedupe\) has the key column odd"):
        Placement(operator, store_name="default", key=key)


def command(*arguments: str | Path) -> Result:
    options = ("--stopped", "--settled", "0")
    return CliRunner().invoke(cli.main, ["repartition", *map(str, arguments), *options])


def test_the_command_says_what_it_does(tmp_path: Path) -> None:
    path = counts(tmp_path / "checkpoint", VERSIONS, batches=2)
    result = command(path, "--partitions", "4")
    assert result.exit_code == 0, result.stderr
    assert "store default: 39 rows over 4 partitions, at most " in result.stdout
    assert "has 1 partition. With --apply it would have 4.\nNothing was changed." in result.stdout
    done = json.loads(command(path, "--partitions", "4", "--apply", "--json").stdout)
    assert (done["applied"], done["from_partitions"], done["to_partitions"]) == (True, 1, 4)
    assert "has 4 partitions already" in command(path, "--partitions", "4", "--apply").stdout
    result = command(path, "--partitions", "2", "--apply")
    assert "The query had 4 partitions and now has 2.\nThe former state is in" in result.stdout
    assert command(path, "--partitions", "0").exit_code == 2
    assert command(path).exit_code == 2
    plain = ["repartition", str(path), "--partitions", "3"]
    result = CliRunner().invoke(cli.main, [*plain, "--apply"])
    assert result.exit_code == 1
    assert "seems to be running" in result.stderr
    result = CliRunner().invoke(cli.main, plain)
    assert result.exit_code == 0
    assert "With --apply it would have 3.\nNothing was changed.\nWith --apply it would be " in (
        result.stdout
    )


def test_in_checkpoint_format_2_the_commit_log_names_the_new_files(tmp_path: Path) -> None:
    path = golden(tmp_path, "ids_join")
    (path / "commits/.3.crc").write_bytes(b"crc\0")
    before = content(path)
    done = spread(path, 3)
    after = content(path)
    ids = commit(after).pop("stateUniqueIds")
    assert [len(stores) for stores in ids["0"]] == [4, 4, 4]
    assert len({id_ for stores in ids["0"] for id_ in stores}) == 12
    names = [
        f"{side}-{kind}"
        for side in ("left", "right")
        for kind in ("keyToNumValues", "keyWithIndexToValue")
    ]
    assert {n for n in after if n.startswith("state/") and "_metadata" not in n} == {
        f"state/0/{partition}/{store}/4_{id_}.snapshot"
        for partition, stores in enumerate(ids["0"])
        for store, id_ in zip(names, stores, strict=True)
    }
    assert without_ids(commit(after)) == without_ids(commit(before))
    assert after["commits/2"] == before["commits/2"]
    assert "commits/.3.crc" not in after
    backup = content_of(Path(done.backup or ""))
    assert backup["commits/3"] == before["commits/3"]


def commit(files: dict[str, bytes]) -> dict[str, Any]:
    """The newest commit."""
    found = json.loads(files["commits/3"].split(b"\n")[1])
    assert isinstance(found, dict)
    return found


def without_ids(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != "stateUniqueIds"}
