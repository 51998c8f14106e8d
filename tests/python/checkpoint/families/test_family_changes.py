"""Stores with column families verified, repaired, copied and repartitioned."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import AT_ONCE, long_row, schema_json
from checkpoint.families.made import (
    FAMILIES,
    K_N,
    SEEN,
    Record,
    family,
    file_bytes,
    header,
    part,
    parts,
    seen,
    total,
    transformed,
)
from checkpoint.families.test_family_rows import FIRST, VERSIONS, shown
from holdfast_spark.capacity.observed import observe
from holdfast_spark.checkpoint import (
    Checkpoint,
    CheckpointError,
    make_savepoint,
    migrate,
    repair,
    repartition,
    verify_checkpoint,
)
from holdfast_spark.checkpoint.errors import (
    ConversionError,
    NewerFileError,
    UnknownFormatError,
)
from holdfast_spark.checkpoint.history import read_histories
from holdfast_spark.cli.main import main

NEWER = (K_N[0], schema_json(n="quaternion"))
NAMES = ("total", "seen", "parts")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return transformed(tmp_path / "checkpoint", VERSIONS, batches=3)


def many() -> Mapping[str, bytes]:
    """A store with some rows of each family."""
    records: list[Record] = [total(k, k) for k in range(40)]
    records += [seen(k, *range(k % 5 + 1)) for k in range(40)]
    records += [parts(k, p, p) for k in range(40) for p in range(2)]
    return {"0/1.delta": file_bytes("D", records, defined=FAMILIES)}


def everything(path: Path) -> dict[str, list[str]]:
    """All rows but for the partition that they are in."""
    return {
        name: sorted(json.dumps(each[1:]) for each in shown(path, state_var_name=name))
        for name in NAMES
    }


def flip(file: Path, at: int) -> None:
    whole = bytearray(file.read_bytes())
    whole[at] ^= 1
    file.write_bytes(whole)


def test_a_sound_store_is_sound(path: Path) -> None:
    found = verify_checkpoint(Checkpoint.open(path))
    assert (found.sound, found.goes_on, found.broken, found.notes) == (True, True, (), ())
    assert (found.files, found.records) == (4, 13)


def test_damage_is_named_and_a_snapshot_rebuilt(path: Path) -> None:
    before = everything(path)
    flip(path / "state/0/0/2.snapshot", 300)
    (broken,) = verify_checkpoint(Checkpoint.open(path)).broken
    assert "expected a block" in broken.error
    assert not broken.stops
    assert repair(Checkpoint.open(path), apply=True, settled=AT_ONCE).complete
    assert verify_checkpoint(Checkpoint.open(path)).sound
    assert everything(path) == before


def test_a_query_goes_back_from_a_lost_delta(path: Path) -> None:
    flip(path / "state/0/0/3.delta", 80)
    found = verify_checkpoint(Checkpoint.open(path))
    assert not found.goes_on
    done = repair(Checkpoint.open(path), drop_tail=True, apply=True, settled=AT_ONCE)
    assert (done.applied, done.last_batch) == (True, 1)
    assert verify_checkpoint(Checkpoint.open(path)).sound
    assert shown(path, state_var_name="total") == [(0, {"k": 1}, {"n": 11})]


def test_what_a_newer_holdfast_wrote_is_left_alone(path: Path) -> None:
    file = path / "state/0/0/2.snapshot"
    file.write_bytes(header("S", version=2) + file.read_bytes())
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    checkpoint = Checkpoint.open(path)
    for change in (
        lambda: verify_checkpoint(checkpoint),
        lambda: repair(checkpoint, apply=True, settled=AT_ONCE),
        lambda: repartition(checkpoint, 3, apply=True, settled=AT_ONCE),
        lambda: make_savepoint(checkpoint, path.parent / "copy"),
        lambda: shown(path, state_var_name="total"),
    ):
        with pytest.raises(NewerFileError, match="and this version of Holdfast knows 1"):
            change()
    assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before


def test_a_snapshot_that_is_not_what_deltas_lead_to_is_told(path: Path) -> None:
    other = [total(1, 11), seen(1, 1, 2, 3), seen(2, 6), parts(1, 3, 4)]
    (path / "state/0/0/2.snapshot").write_bytes(file_bytes("S", other, defined=FAMILIES))
    (broken,) = verify_checkpoint(Checkpoint.open(path)).broken
    assert "is not what the deltas before it lead to" in broken.error
    assert broken.stops


def test_a_snapshot_of_an_earlier_version_is_rebuilt(path: Path) -> None:
    before = everything(path)
    (path / "state/0/0/2.snapshot").write_bytes(file_bytes("S", FIRST, defined=FAMILIES))
    with pytest.raises(CheckpointError, match=r"2\.snapshot is not what the deltas"):
        make_savepoint(Checkpoint.open(path), path.parent / "copy")
    with pytest.raises(CheckpointError, match=r"2\.snapshot is not what the deltas"):
        repartition(Checkpoint.open(path), 3, apply=True, settled=AT_ONCE)
    assert repair(Checkpoint.open(path), apply=True, settled=AT_ONCE).complete
    assert verify_checkpoint(Checkpoint.open(path)).sound
    assert everything(path) == before


def test_rows_that_do_not_fit_their_family_are_told(path: Path) -> None:
    wrong: list[Record] = [(2, long_row(), long_row(1))]
    (path / "state/0/0/3.delta").write_bytes(file_bytes("D", wrong))
    (broken,) = verify_checkpoint(Checkpoint.open(path)).broken
    assert "does not fit its schema" in broken.error
    (path / "state/0/0/3.delta").write_bytes(file_bytes("D", [(12, long_row(1), long_row(1))]))
    (broken,) = verify_checkpoint(Checkpoint.open(path)).broken
    assert "expected records of tables of the families default, total" in broken.error


def test_a_list_that_lacks_a_part_is_told(path: Path) -> None:
    lacking: list[Record] = [(2 * SEEN, long_row(1), part([long_row(1)], parts=2))]
    (path / "state/0/0/3.delta").write_bytes(file_bytes("D", lacking))
    (broken,) = verify_checkpoint(Checkpoint.open(path)).broken
    assert "expected a list of 2 parts, found only 0 of them" in broken.error
    assert broken.stops


def test_schemas_that_are_none_are_told(path: Path) -> None:
    for schemas in (("{", "{}"), (K_N[0], "}")):
        odd = file_bytes("D", [total(3, 30)], defined=[family(1, "total", schemas=schemas)])
        (path / "state/0/0/3.delta").write_bytes(odd)
        (broken,) = verify_checkpoint(Checkpoint.open(path)).broken
        assert "3.delta" in broken.error
        with pytest.raises(CheckpointError, match=r"3\.delta"):
            shown(path, state_var_name="total")


def test_types_that_only_newer_ones_know_are_no_damage(path: Path) -> None:
    newer = file_bytes("D", [total(3, 30)], defined=[family(1, "total", schemas=NEWER)])
    (path / "state/0/0/3.delta").write_bytes(newer)
    assert verify_checkpoint(Checkpoint.open(path)).sound
    with pytest.raises(UnknownFormatError, match=r"3\.delta has the type .*quaternion"):
        shown(path, state_var_name="total")


def test_rows_move_with_the_key_that_they_are_grouped_by(tmp_path: Path) -> None:
    path = transformed(tmp_path / "checkpoint", many(), batches=1)
    before = everything(path)
    for partitions in (5, 3):
        done = repartition(
            Checkpoint.open(path), partitions, apply=True, stopped=True, settled=AT_ONCE
        )
        (store,) = done.stores
        assert (done.applied, store.rows, store.partitions) == (True, 160, partitions)
        assert store.column_families == {"parts": 80, "seen": 40, "total": 40}
        assert verify_checkpoint(Checkpoint.open(path)).sound
        assert everything(path) == before
        places = {
            name: {each[1]["k"]: each[0] for each in shown(path, state_var_name=name)}
            for name in NAMES
        }
        assert places["total"] == places["seen"] == places["parts"]
        assert len({*places["total"].values()}) == partitions


def test_the_command_names_the_families_that_move(path: Path) -> None:
    result = CliRunner().invoke(main, ["repartition", str(path), "--partitions", "2"])
    assert " in one (parts 1, seen 2, total 2).\n" in result.stdout


@pytest.mark.parametrize("record", [total(7, 7), seen(7, 1), parts(7, 1, 1)])
def test_a_row_in_a_foreign_partition_is_found(tmp_path: Path, record: Record) -> None:
    path = transformed(tmp_path / "checkpoint", many(), batches=1)
    repartition(Checkpoint.open(path), 5, apply=True, settled=AT_ONCE)
    home = shown(path, state_var_name="total")
    foreign = (next(each[0] for each in home if each[1]["k"] == 7) + 1) % 5
    (path / f"state/0/{foreign}/1.snapshot").write_bytes(
        file_bytes("S", [record], defined=FAMILIES)
    )
    errors = [file.error for file in verify_checkpoint(Checkpoint.open(path)).broken]
    assert any(f"expected keys of partition {foreign} of 5" in error for error in errors)
    with pytest.raises(CheckpointError, match="not in the partition"):
        repartition(Checkpoint.open(path), 3, settled=AT_ONCE)


def with_checksums(file: Path) -> None:
    """Put what Hadoop's checksum file systems write beside a file, in blocks of 512 bytes."""
    content = file.read_bytes()
    sums = (zlib.crc32(content[at : at + 512]) for at in range(0, len(content), 512))
    head = b"crc\0" + (512).to_bytes(4, "big")
    file.with_name(f".{file.name}.crc").write_bytes(
        head + b"".join(each.to_bytes(4, "big") for each in sums)
    )


def test_a_savepoint_has_its_own_schemas(path: Path) -> None:
    with_checksums(path / "state/0/_metadata/v2/0")
    with_checksums(path / "state/0/_stateSchema/default/0_a")
    copy = path.parent / "copy"
    made = make_savepoint(Checkpoint.open(path), copy)
    assert made.batch_id == 2
    assert everything(copy) == everything(path)
    text = (copy / "state/0/_metadata/v2/0").read_text()
    assert f"file:{copy}/state/0/_stateSchema/default/0_a" in text
    assert str(path) not in text
    assert not [*(copy / "state/0").rglob(".*.crc")]
    assert verify_checkpoint(Checkpoint.open(copy)).sound


def test_a_checkpoint_that_was_copied_or_moved_names_the_schemas_of_its_former_place(
    path: Path,
) -> None:
    copy = path.parent / "copy"
    shutil.copytree(path, copy)
    found = verify_checkpoint(Checkpoint.open(copy))
    assert found.sound
    assert "which is of another place: the query needs it there" in found.notes[0]
    shutil.rmtree(path)
    verified = verify_checkpoint(Checkpoint.open(copy))
    assert not verified.goes_on
    assert "which is not there: expected " in verified.broken[0].error
    # As the error says, a savepoint has its own.
    again = path.parent / "again"
    make_savepoint(Checkpoint.open(copy), again)
    assert verify_checkpoint(Checkpoint.open(again)).sound
    (again / "state/0/_stateSchema/default/0_a").unlink()
    lost = verify_checkpoint(Checkpoint.open(again))
    assert not lost.goes_on
    assert any("is gone: expected a schema that" in file.error for file in lost.broken)


def test_sparks_default_provider_gets_none_of_it(path: Path) -> None:
    with pytest.raises(ConversionError, match="which Spark's default provider does not have"):
        migrate(Checkpoint.open(path), to="hdfs", apply=True, settled=AT_ONCE)
    assert not migrate(Checkpoint.open(path), to="holdfast", settled=AT_ONCE).applied


def test_a_history_tells_of_each_family(path: Path) -> None:
    (history,) = read_histories(Checkpoint.open(path))
    rows = {family.name: [v.rows for v in family.versions] for family in history.families}
    assert rows == {
        "$rowCounter_seen": [0, 0, 0],
        "default": [0, 0, 0],
        "parts": [1, 1, 1],
        "seen": [2, 2, 2],
        "total": [2, 1, 2],
    }
    changes = {f.name: [(v.puts, v.removals) for v in f.versions] for f in history.families}
    assert changes["total"] == [(2, 0), (1, 1), (1, 0)]
    assert changes["seen"] == [(2, 0), (1, 0), (0, 0)]
    types = {family.name: family.state_variable for family in history.families}
    assert types["seen"] == "ListState"
    assert types["default"] is None
    assert [version.rows for version in history.versions] == [5, 4, 5]
    hottest = {(key.column_family, json.dumps(key.key)) for key in history.hottest_keys[:3]}
    assert ("total", '{"k": 1}') in hottest


def test_a_history_goes_on_from_a_snapshot(path: Path) -> None:
    (path / "state/0/0/1.delta").unlink()
    (history,) = read_histories(Checkpoint.open(path))
    rows = {family.name: [v.rows for v in family.versions] for family in history.families}
    assert rows["total"] == [1, 2]
    assert history.not_read == ()


def test_a_plan_knows_the_families(path: Path) -> None:
    workload = observe(Checkpoint.open(path), 0)
    loads = {load.name: load for load in workload.loads}
    assert {*NAMES} < {*loads}
    assert (loads["total"].rows, loads["total"].key_bytes) == (2, 16)
    assert loads["parts"].prefixes == 1


def test_a_report_has_a_table_of_families(path: Path) -> None:
    page = path.parent / "report.html"
    result = CliRunner().invoke(main, ["report", str(path), "-o", str(page)])
    assert result.exit_code == 0, result.output
    text = page.read_text()
    line = text[text.index('<span class="key">seen</span>') :].split("</tr>")[0]
    assert "<td>ListState</td><td>2</td><td>160 B</td><td>3</td><td>0</td>" in line
    assert '<span class="key">total {&#34;k&#34;: 1}</span>' in text
