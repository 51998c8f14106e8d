"""Wrong arguments of public functions: each ends in one sentence of the package's own."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from checkpoint.checkpoints import counts, row
from devtools.api import MODULES
from holdfast_spark import capacity, checkpoint, doctor, metrics, report
from holdfast_spark.capacity import Description, Surroundings, workload_of
from holdfast_spark.checkpoint import Checkpoint, Location, Side
from holdfast_spark.errors import HoldfastError, WrongArgumentError

# What none of each kind is.
NO_CHECKPOINT = (None, "path", 3)
NO_FLAG = (None, "yes", 1)
NO_TEXT = (None, 3, b"x", ["x"])
NO_WHOLE = ("3", 1.5, True, [1])
NO_COUNT = (*NO_WHOLE, -1)
NO_DURATION = (None, 60, "60", timedelta(seconds=-1))
NO_FUNCTION = (None, "print", 3)
NO_PLACE = (None, 3, b"x", "", ["x"])
NO_OPTIONS = ("key=value", ["key"], 3)
NO_NUMBER = (None, "3", -1, float("nan"), float("inf"), 1e300, 10**400, True)

CHANGE: Mapping[str, tuple[Any, ...]] = {
    "checkpoint": NO_CHECKPOINT,
    "apply": NO_FLAG,
    "stopped": NO_FLAG,
    "settled": NO_DURATION,
}
STORE: Mapping[str, tuple[Any, ...]] = {
    "operator_id": (*NO_COUNT, None, 7),
    "store_name": (*NO_TEXT, "", "other"),
}
FAMILY: Mapping[str, tuple[Any, ...]] = {
    "state_var_name": (*NO_TEXT[1:], "", "other"),
    "column_family": (*NO_TEXT[1:], "", "other"),
    "read_registered_timers": (*NO_FLAG, True),
}
ROWS: Mapping[str, tuple[Any, ...]] = {
    "operator_id": STORE["operator_id"],
    "batch_id": (*NO_WHOLE, -2, 99),
    "partition": (*NO_COUNT, 99),
}


def tried(call: Callable[..., object]) -> Callable[..., object]:
    """The function, with what it yields."""

    def all_of_it(*given: object, **more: object) -> object:
        found = call(*given, **more)
        return list(found) if inspect.isgenerator(found) else found

    return all_of_it


class Case:
    """A function, arguments that it takes, and those that it does not take, by their names."""

    def __init__(
        self,
        function: Callable[..., object],
        right: Mapping[str, Any],
        wrong: Mapping[str, tuple[Any, ...]],
    ) -> None:
        self.function, self.right, self.wrong = tried(function), right, wrong
        self.parameters = set(inspect.signature(function).parameters)


def cases(path: Path) -> dict[str, Case]:
    opened = Checkpoint.open(path)
    side = Side(checkpoint=opened, batch_id=0)
    store = opened.stores[0]
    schema = checkpoint.schema_from_ddl(key="k bigint", value="n bigint")
    described = Description(operator="aggregation", key="a int", value="b int", keys=9, changes=1)
    workload, around = workload_of(described), Surroundings(partitions=2)
    no_side = (
        *(None, "x", opened),
        Side(checkpoint=path, batch_id=0),  # type: ignore[arg-type]
        Side(checkpoint=opened, batch_id="0"),  # type: ignore[arg-type]
        Side(checkpoint=opened, batch_id=99),
    )
    no_workload = (None, "x", described, dataclasses.replace(workload, loads=()))
    no_surroundings = [None, "x", 200, *wrong_fields(around, SURROUNDINGS)]
    no_page = path / "nothing" / "\0"
    return {
        "checkpoint.Checkpoint.open": Case(
            Checkpoint.open,
            {"path": path},
            {"path": (*NO_PLACE, "/nowhere", "a\0b"), "storage_options": NO_OPTIONS},
        ),
        "checkpoint.Checkpoint.read": Case(
            opened.read, {}, {**ROWS, **STORE, "schema": ("k bigint", 3)}
        ),
        "checkpoint.Checkpoint.read_join_side": Case(
            opened.read_join_side, {"side": "left"}, {**ROWS, "side": (None, "middle", 3)}
        ),
        "checkpoint.Checkpoint.read_bytes": Case(
            opened.read_bytes,
            {"store": store, "version": 1},
            {"store": (None, "0/0", 3), "version": (*NO_COUNT, None, 99)},
        ),
        "checkpoint.Checkpoint.read_version": Case(
            opened.read_version,
            {"store": store, "version": 1, "schema": schema},
            {
                "store": (None, "0/0", 3),
                "version": (*NO_COUNT, None, 99),
                "schema": (None, "k bigint"),
            },
        ),
        "checkpoint.Checkpoint.require": Case(
            Checkpoint.require, {"found": opened, "by": "it"}, {"found": NO_CHECKPOINT, "by": ()}
        ),
        "checkpoint.Location.of": Case(
            Location.of,
            {"path": path},
            {"path": (*NO_PLACE, "sss://x"), "storage_options": NO_OPTIONS},
        ),
        "checkpoint.compare": Case(
            checkpoint.compare,
            {"first": side, "second": side},
            {"first": no_side, "second": no_side, **STORE},
        ),
        "checkpoint.diff": Case(
            checkpoint.diff,
            {"checkpoint": opened},
            {
                "checkpoint": NO_CHECKPOINT,
                "other": ("path", 3, ""),
                "from_batch": (*NO_WHOLE, -2, 99),
                "to_batch": (*NO_WHOLE, -2, 99),
                **STORE,
                **FAMILY,
                "limit": (*NO_COUNT, -1),
            },
        ),
        "checkpoint.inspect_checkpoint": Case(
            checkpoint.inspect_checkpoint, {"checkpoint": opened}, {"checkpoint": NO_CHECKPOINT}
        ),
        "checkpoint.make_savepoint": Case(
            checkpoint.make_savepoint,
            {"checkpoint": opened, "target": path.parent / "copy"},
            {
                "checkpoint": NO_CHECKPOINT,
                "target": (*NO_PLACE, path, path / "below"),
                "batch_id": (*NO_COUNT, 99),
                "on_file": NO_FUNCTION,
            },
        ),
        "checkpoint.migrate": Case(
            checkpoint.migrate,
            {"checkpoint": opened, "to": "holdfast"},
            {
                **CHANGE,
                "to": (*NO_TEXT, "", "leveldb"),
                "bound_to": (*NO_TEXT[1:], "", "Other"),
                "on_store": NO_FUNCTION,
            },
        ),
        "checkpoint.read_rows": Case(
            checkpoint.read_rows,
            {"checkpoint": opened},
            {
                "checkpoint": NO_CHECKPOINT,
                **ROWS,
                **STORE,
                **FAMILY,
                "join_side": ("middle", 3, "", "left"),
                "keys": (None, 3, [3], [None], "k", "", ["other=1"]),
                "limit": NO_COUNT,
                "schema": ("k bigint", 3),
            },
        ),
        "checkpoint.repair": Case(
            checkpoint.repair,
            {"checkpoint": opened},
            {**CHANGE, "shared_sources": NO_FLAG, "drop_tail": NO_FLAG},
        ),
        "checkpoint.repartition": Case(
            checkpoint.repartition,
            {"checkpoint": opened, "partitions": 3},
            {**CHANGE, "partitions": (*NO_COUNT, None, 0), "on_store": NO_FUNCTION},
        ),
        "checkpoint.schema_from_ddl": Case(
            checkpoint.schema_from_ddl,
            {"key": "k bigint", "value": "n bigint"},
            {"key": (*NO_TEXT, "k"), "value": (*NO_TEXT, "n")},
        ),
        "checkpoint.verify_checkpoint": Case(
            checkpoint.verify_checkpoint,
            {"checkpoint": opened},
            {"checkpoint": NO_CHECKPOINT, "shared_sources": NO_FLAG, "on_file": NO_FUNCTION},
        ),
        "capacity.grown": Case(
            capacity.grown,
            {"workload": workload},
            {"workload": no_workload, "keys": NO_COUNT, "changes": NO_COUNT},
        ),
        "capacity.make_plan": Case(
            capacity.make_plan,
            {"workload": workload, "surroundings": around},
            {"workload": no_workload, "surroundings": tuple(no_surroundings)},
        ),
        "capacity.observe": Case(
            capacity.observe,
            {"checkpoint": opened, "operator_id": 0},
            {
                "checkpoint": NO_CHECKPOINT,
                "operator_id": STORE["operator_id"],
                "on_file": NO_FUNCTION,
            },
        ),
        "capacity.workload_of": Case(
            capacity.workload_of,
            {"description": described},
            {"description": (None, "x", *wrong_fields(described, DESCRIPTION))},
        ),
        "doctor.examine": Case(doctor.examine, {}, {"spark": ("x", 3, False)}),
        "metrics.progress_metrics": Case(
            metrics.progress_metrics,
            {"progress": None},
            {
                "progress": (
                    *("x", 3, [], {}),
                    {"id": 1, "runId": 2, "durationMs": {}, "stateOperators": [{}]},
                    {"id": 1, "runId": 2, "durationMs": None, "stateOperators": None},
                )
            },
        ),
        "report.make_report": Case(
            report.make_report,
            {"checkpoint": opened},
            {"checkpoint": NO_CHECKPOINT, "on_file": NO_FUNCTION},
        ),
        "report.require_place": Case(
            report.require_place,
            {"file": Location.of(path / "page.html")},
            {"file": (None, "page.html", 3)},
        ),
        "report.write_page": Case(
            report.write_page,
            {"report": report.make_report(opened), "file": path.parent / "page.html"},
            {"report": (None, "x", opened), "file": (*NO_PLACE, path, no_page)},
        ),
    }


SURROUNDINGS: Mapping[str, tuple[Any, ...]] = {
    "partitions": (*NO_COUNT, None, 0),
    "versions": (*NO_COUNT, None, 0),
    "batches_to_retain": (*NO_COUNT, None, 0),
    "heap_bytes": (*NO_COUNT, 0),
    "state_share": (*NO_NUMBER, 0, 1.5),
    "compression": (*NO_NUMBER, 0),
}
DESCRIPTION: Mapping[str, tuple[Any, ...]] = {
    "operator": (*NO_TEXT, "", "sorting"),
    "key": (*NO_TEXT, "a"),
    "value": (*NO_TEXT, "", "b"),
    "right_value": (*NO_TEXT, "c int"),
    "keys": (*NO_COUNT, None),
    "changes": (*NO_COUNT, None),
    "removals": (*NO_COUNT, None),
    "rows_per_key": (*NO_NUMBER, 2),
    "lengths": (None, "a", {"a": "x"}, {"a": -1}, {"a": float("inf")}, {3: 3}, {"other": 3}),
}
# Without pyspark they say that; tests of sessions have their arguments.
NEED_SPARK = {"holdfast_spark.configure", "metrics.store_metrics"}
# They take nothing.
NO_ARGUMENTS = {"report.require_extra"}


def wrong_fields(right: Any, wrong: Mapping[str, tuple[Any, ...]]) -> Iterator[Any]:  # noqa: ANN401
    assert set(wrong) == {field.name for field in dataclasses.fields(right)}
    for name, values in wrong.items():
        for value in values:
            yield dataclasses.replace(right, **{name: value})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "c", {"1.delta": [row(1, 10)], "2.delta": [row(2, 2)]}, batches=2)


def test_every_function_is_among_them(path: Path) -> None:
    public = {
        f"{module.removeprefix('holdfast_spark.')}.{name}"
        for module in MODULES
        for name, thing in vars(importlib.import_module(module)).items()
        if inspect.isfunction(thing)
        and not name.startswith("_")
        and thing.__module__.startswith("holdfast_spark")
        and name in getattr(importlib.import_module(module), "__all__", [name])
    }
    assert public - NEED_SPARK - NO_ARGUMENTS - {"errors.as_lines"} <= set(cases(path))
    for name, case in cases(path).items():
        assert case.parameters - set(case.wrong) <= {"self"}, name


def test_a_wrong_argument_is_a_sentence(path: Path) -> None:
    others = []
    for function, case in cases(path).items():
        for name, values in case.wrong.items():
            for value in values:
                said = error_of(case.function, {**case.right, name: value})
                if not is_sentence(said, by=function):
                    others.append((function, name, value, said))
    assert others == []


def error_of(function: Callable[..., object], given: Mapping[str, Any]) -> object:
    """What is raised, or else returned."""
    try:
        return function(**given)
    except Exception as error:  # noqa: BLE001 - looked at by who asked
        return error


def is_sentence(said: object, *, by: str) -> bool:
    if not isinstance(said, HoldfastError):
        return False
    text = str(said)
    # It says who was called by what it is given.
    names = f"holdfast.{by} expects " in text or by == "checkpoint.Checkpoint.require"
    return (
        text.endswith(".")
        and "\n" not in text
        and (names or not isinstance(said, WrongArgumentError))
    )


def test_arguments_that_exclude_each_other_are_a_sentence(path: Path) -> None:
    opened = Checkpoint.open(path)
    schema = checkpoint.schema_from_ddl(key="k bigint", value="n bigint")
    for given, said in (
        (
            {"join_side": "left", "store_name": "x"},
            "expects no store_name beside join_side, found str 'x'.",
        ),
        ({"join_side": "left", "schema": schema}, "expects no schema beside join_side, found"),
        (
            {"state_var_name": "x", "schema": schema},
            "expects no schema beside state_var_name, found",
        ),
        ({"state_var_name": "x", "join_side": "left"}, "expects no join_side beside state_var"),
        (
            {"column_family": "x", "read_registered_timers": True},
            "expects no read_registered_timers beside column_family",
        ),
    ):
        found = error_of(tried(checkpoint.read_rows), {"checkpoint": opened, **given})
        assert isinstance(found, WrongArgumentError)
        assert f"holdfast.checkpoint.read_rows {said}" in str(found)


def test_the_empty_state_before_the_first_batch_may_be_asked_for(path: Path) -> None:
    opened = Checkpoint.open(path)
    assert [len(piece) for piece in checkpoint.read_rows(opened, batch_id=-1)] == [0]
    assert [len(piece) for piece in opened.read(batch_id=-1)] == [0]
    assert checkpoint.diff(opened, from_batch=-1, to_batch=0).added == 1
    sides = [Side(checkpoint=opened, batch_id=batch) for batch in (-1, 0)]
    assert [found.change for found in checkpoint.compare(*sides)] == ["added"]


def test_the_right_ones_are_taken(path: Path) -> None:
    for function, case in cases(path).items():
        if function != "checkpoint.Checkpoint.read_join_side":  # which needs a join
            case.function(**case.right)


def test_the_sentence_says_what_was_expected_and_what_was_found(path: Path) -> None:
    opened = Checkpoint.open(path)
    calls: Mapping[str, Callable[[], object]] = {
        "holdfast.checkpoint.migrate expects a str as to, found None.": lambda: checkpoint.migrate(
            opened,
            None,  # type: ignore[arg-type]
        ),
        "holdfast.checkpoint.repair expects a timedelta of 0 or more as settled, found 60.": (
            lambda: checkpoint.repair(opened, settled=60)  # type: ignore[arg-type]
        ),
        "holdfast.checkpoint.repair expects True or False as apply, found str 'yes'.": (
            lambda: checkpoint.repair(opened, apply="yes")  # type: ignore[arg-type]
        ),
        "holdfast.checkpoint.Checkpoint.open expects a path, a URL or a Location as path, found "
        "None.": lambda: Checkpoint.open(None),  # type: ignore[arg-type]
        "holdfast.capacity.make_plan expects a whole number of 1 or more as partitions, found 0.": (
            lambda: capacity.make_plan(
                workload_of(Description(operator="limit", key="", value="", keys=1, changes=1)),
                Surroundings(partitions=0),
            )
        ),
    }
    for sentence, call in calls.items():
        with pytest.raises(WrongArgumentError) as raised:
            call()
        assert str(raised.value) == sentence
