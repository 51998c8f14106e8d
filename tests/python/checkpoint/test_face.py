"""What the commands about checkpoints do, called from Python."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import (
    AT_ONCE,
    GOLDEN,
    HDFS,
    counts,
    long_row,
    row,
    schema_file,
    schema_json,
)
from holdfast_spark import capacity, checkpoint, report
from holdfast_spark.capacity import (
    Description,
    DescriptionError,
    Surroundings,
    grown,
    make_plan,
    observe,
    workload_of,
)
from holdfast_spark.checkpoint import (
    Checkpoint,
    CheckpointError,
    Location,
    Side,
    compare,
    diff,
    inspect_checkpoint,
    make_savepoint,
    migrate,
    read_rows,
    repair,
    repartition,
    schema_from_ddl,
    verify_checkpoint,
)
from holdfast_spark.checkpoint.files.providers import HOLDFAST
from holdfast_spark.cli.main import main
from holdfast_spark.errors import DamagedRowError, WrongArgumentError
from holdfast_spark.report import make_report, write_page

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "3.delta": [row(3, 31), row(4, 40)],
}
AFTER_2 = {2: 20, 3: 31, 4: 40}
FACES = (checkpoint, capacity, report)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=3)


@pytest.fixture
def opened(path: Path) -> Checkpoint:
    return Checkpoint.open(str(path))


def rows(found: Checkpoint, **chosen: Any) -> dict[int, int]:  # noqa: ANN401 - arguments of `read_rows`
    return {
        each["key"]["k"]: each["value"]["n"]
        for piece in read_rows(found, **chosen)
        for each in piece.to_pylist()
    }


def test_a_checkpoint_is_inspected(opened: Checkpoint) -> None:
    found = inspect_checkpoint(opened)
    assert (found.provider_class, found.newest_committed_batch) == (HDFS, 2)
    assert [store.name for store in found.operators[0].stores] == ["default"]


def test_rows_are_read_by_batch_key_and_number(opened: Checkpoint) -> None:
    assert rows(opened) == AFTER_2
    assert rows(opened, batch_id=0) == {1: 10, 2: 20}
    assert rows(opened, keys=["k=3"]) == {3: 31}
    assert len(rows(opened, limit=2)) == 2
    assert rows(opened, partition=0) == AFTER_2


def test_rows_without_a_schema_file_are_read_by_the_schema_that_is_given(path: Path) -> None:
    (path / "state/0/0/_metadata/schema").unlink()
    schema = schema_from_ddl(key="k bigint", value="n bigint")
    assert rows(Checkpoint.open(str(path)), schema=schema) == AFTER_2
    with pytest.raises(CheckpointError, match="The schema 'k big' is not as DDL has it"):
        schema_from_ddl(key="k big", value="n bigint")


def test_rows_that_do_not_fit_are_told_with_where_their_schema_is_from(
    path: Path, tmp_path: Path
) -> None:
    wide = schema_from_ddl(key="k bigint, more bigint", value="n bigint")
    with pytest.raises(DamagedRowError, match=r"the schema that was given .*is of other rows"):
        rows(Checkpoint.open(str(path)), schema=wide)
    (path / "state/0/0/_metadata/schema").write_bytes(
        schema_file(schema_json(k="long", more="long"), schema_json(n="long"))
    )
    with pytest.raises(DamagedRowError, match="the schema file belongs to another query"):
        rows(Checkpoint.open(str(path)))
    pairs = [(long_row(key), long_row(1, 2)) for key in range(5_000)]
    odd = counts(tmp_path / "odd", {"1.delta": [*pairs, row(-1, 1)]}, batches=1)
    (odd / "state/0/0/_metadata/schema").unlink()
    with pytest.raises(DamagedRowError, match="which has no file and was guessed from some rows"):
        rows(Checkpoint.open(str(odd)))


def test_rows_of_a_join_are_read_by_side() -> None:
    join = Checkpoint.open(str(GOLDEN / "spark-4.3" / "join" / "checkpoint"))
    (named,) = read_rows(join, join_side="left", limit=1, partition=0)
    assert named.schema.names == ["partition_id", "key", "value"]


def test_two_states_are_compared(opened: Checkpoint, tmp_path: Path) -> None:
    found = diff(opened, limit=1)
    assert (found.added, found.changed, found.removed, len(found.rows)) == (1, 1, 0, 1)
    assert len(diff(opened, limit=None).rows) == 2
    since_the_first = diff(opened, from_batch=0)
    assert (since_the_first.added, since_the_first.removed) == (2, 1)
    other = Checkpoint.open(str(counts(tmp_path / "other", VERSIONS, batches=2)))
    assert diff(other, opened) == replace(diff(opened), path=str(tmp_path / "other"))
    sides = [Side(checkpoint=opened, batch_id=batch) for batch in (1, 2)]
    assert sorted(each.change for each in compare(*sides)) == ["added", "changed"]


def test_a_checkpoint_is_verified(opened: Checkpoint, path: Path) -> None:
    assert verify_checkpoint(opened).sound
    (path / "state/0/0/2.delta").write_bytes(b"damage")
    assert not verify_checkpoint(Checkpoint.open(str(path))).sound


def test_a_checkpoint_is_repaired(path: Path) -> None:
    (path / "state/0/0/3.delta").write_bytes(b"damage")
    looked = repair(Checkpoint.open(str(path)), drop_tail=True, settled=AT_ONCE)
    assert (looked.complete, looked.applied, looked.last_batch) == (True, False, 1)
    assert repair(Checkpoint.open(str(path)), drop_tail=True, apply=True, settled=AT_ONCE).applied
    assert rows(Checkpoint.open(str(path))) == {2: 20, 3: 30}


def test_a_checkpoint_is_migrated(opened: Checkpoint, path: Path) -> None:
    assert not migrate(opened, "holdfast", settled=AT_ONCE).applied
    assert migrate(opened, "holdfast", apply=True, settled=AT_ONCE).applied
    assert Checkpoint.open(str(path)).settings.provider_class == HOLDFAST


def test_a_provider_that_is_not_known_is_a_sentence(opened: Checkpoint) -> None:
    with pytest.raises(CheckpointError, match="expected holdfast, hdfs or rocksdb, found leveldb"):
        migrate(opened, "leveldb", settled=AT_ONCE)


def test_a_checkpoint_is_repartitioned(opened: Checkpoint, path: Path) -> None:
    assert repartition(opened, 4, settled=AT_ONCE).stores[0].rows == len(AFTER_2)
    assert repartition(opened, 4, apply=True, settled=AT_ONCE).applied
    changed = Checkpoint.open(str(path))
    assert rows(changed) == AFTER_2
    assert changed.settings.shuffle_partitions == 4


@pytest.mark.parametrize("partitions", [0, -1, 200_001])
def test_a_number_of_partitions_that_cannot_be_is_a_sentence(
    opened: Checkpoint, partitions: int
) -> None:
    with pytest.raises(CheckpointError, match="expected 1 to 200,000 partitions, each"):
        repartition(opened, partitions, settled=AT_ONCE)


def test_a_savepoint_is_made(opened: Checkpoint, tmp_path: Path) -> None:
    made = make_savepoint(opened, Location.of(str(tmp_path / "copy")), batch_id=1)
    assert made.batch_id == 1
    assert rows(Checkpoint.open(made.path)) == {2: 20, 3: 30}


def test_a_report_is_made_and_written(opened: Checkpoint, tmp_path: Path) -> None:
    made, page = make_report(opened), tmp_path / "page.html"
    assert [store.name for store in made.stores] == ["default"]
    write_page(made, Location.of(str(page)))
    assert "aggregation (stateStoreSave)" in page.read_text()


def test_a_plan_is_made_of_a_schema_and_of_a_checkpoint(opened: Checkpoint) -> None:
    described = Description(
        operator="aggregation",
        key="user bigint",
        value="clicks bigint",
        keys=1_000_000,
        changes=10_000,
    )
    assert make_plan(workload_of(described), Surroundings(partitions=10)).stores[0].rows == 10**6
    observed = grown(observe(opened, 0), keys=3_000)
    assert make_plan(observed, Surroundings(partitions=1)).stores[0].rows == 3_000


def test_an_operator_that_is_not_known_is_a_sentence() -> None:
    described = Description(operator="sorting", key="a int", value="b int", keys=1, changes=1)
    with pytest.raises(DescriptionError, match="sorting is no stateful operator that is known"):
        workload_of(described)


def public(face: types.ModuleType) -> list[tuple[str, Any]]:
    return [(f"{face.__name__}.{name}", getattr(face, name)) for name in face.__all__]


@pytest.mark.parametrize(
    ("name", "thing"), [pytest.param(*each, id=each[0]) for face in FACES for each in public(face)]
)
def test_all_of_it_is_documented_and_typed(
    name: str,
    thing: Callable[..., object],
) -> None:
    assert inspect.getdoc(thing), name
    if inspect.isfunction(thing):
        assert "return" in inspect.get_annotations(thing), name
        for parameter in inspect.signature(thing).parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, (name, parameter)


def test_each_command_about_checkpoints_has_a_function_that_is_named_in_the_documentation() -> None:
    about = "\n".join(face.__doc__ or "" for face in FACES)
    for command in set(main.commands) - {"jar", "demo", "doctor"}:
        assert f"`holdfast {command}`" in about, command


@pytest.mark.parametrize(
    "call",
    [
        inspect_checkpoint,
        verify_checkpoint,
        read_rows,
        diff,
        repair,
        lambda path: migrate(path, "holdfast", settled=AT_ONCE),
        lambda path: repartition(path, 3, settled=AT_ONCE),
        lambda path: make_savepoint(path, "copy"),
        make_report,
    ],
)
def test_a_path_is_no_checkpoint(call: Callable[[Any], object]) -> None:
    with pytest.raises(WrongArgumentError, match=r"expects a Checkpoint, as Checkpoint\.open\("):
        call("path")


def test_numbers_and_names_that_cannot_be_are_named(path: Path) -> None:
    checkpoint = Checkpoint.open(path)
    assert repr(checkpoint) == f"Checkpoint('{path}')"
    for call, words in (
        (lambda: read_rows(checkpoint, limit=-5), "read_rows expects a limit of 0 rows or more"),
        (lambda: diff(checkpoint, limit=-1), "diff expects a limit of 0 rows or more, found -1."),
        (
            lambda: list(read_rows(checkpoint, join_side="middle")),  # type: ignore[arg-type]
            "the join side left or right, or None, as join_side, found str 'middle'.",
        ),
    ):
        with pytest.raises(WrongArgumentError) as raised:
            call()
        assert words in str(raised.value)
    with pytest.raises(CheckpointError, match="has no batch -5"):
        list(read_rows(checkpoint, batch_id=-5))


def test_the_earlier_state_of_a_changed_checkpoint_is_told_where_it_is(path: Path) -> None:
    done = repartition(Checkpoint.open(path), 4, apply=True, settled=AT_ONCE)
    changed = Checkpoint.open(path)
    for read in (
        lambda: diff(changed),
        lambda: rows(changed, batch_id=1),
        lambda: make_savepoint(changed, path.parent / "copy", batch_id=1),
    ):
        with pytest.raises(CheckpointError) as raised:
            read()
        assert str(raised.value) == (
            "Version 2 of the store 0/0 cannot be read: it is the state after batch 1, and a "
            "change of the checkpoint has put the files of earlier batches than 2 into "
            f"{done.backup}. Readable versions: 3."
        )


def test_one_condition_on_keys_needs_no_list(path: Path) -> None:
    checkpoint = Checkpoint.open(path)
    (rows,) = read_rows(checkpoint, keys="k=3")
    assert [row["key"] for row in rows.to_pylist()] == [{"k": 3}]


def test_what_is_written_goes_to_a_path_or_a_location(path: Path, tmp_path: Path) -> None:
    checkpoint = Checkpoint.open(path)
    for name, place in (("a", tmp_path / "a"), ("b", Location.of(tmp_path / "b"))):
        assert make_savepoint(checkpoint, place).path == str(tmp_path / name)
