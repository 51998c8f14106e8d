"""Rows of state variables and column families, shown and compared."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkpoint.checkpoints import counts, long_row, row
from checkpoint.families.made import (
    COUNTER,
    FAMILIES,
    family,
    file_bytes,
    parts,
    seen,
    total,
    transformed,
)
from holdfast_spark.capacity.observed import UnplannableError, grown, observe
from holdfast_spark.checkpoint import Checkpoint, diff, inspect_checkpoint, read_rows
from holdfast_spark.checkpoint.errors import CheckpointError, NoSuchStoreError
from holdfast_spark.cli.main import main
from holdfast_spark.errors import WrongArgumentError

FIRST = [total(1, 10), total(2, 20), seen(1, 1, 2), seen(2, 5), parts(1, 3, 4)]
VERSIONS = {
    "0/1.delta": file_bytes("D", FIRST, defined=FAMILIES),
    "0/2.delta": file_bytes("D", [total(1, 11), total(2, None), seen(1, 1, 2, 3)]),
    "0/2.snapshot": file_bytes(
        "S", [total(1, 11), seen(1, 1, 2, 3), seen(2, 5), parts(1, 3, 4)], defined=FAMILIES
    ),
    "0/3.delta": file_bytes("D", [total(3, 30)]),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return transformed(tmp_path / "checkpoint", VERSIONS, batches=3)


def shown(path: Path, **choice: Any) -> list[Any]:  # noqa: ANN401 - as read_rows has them
    pieces = read_rows(Checkpoint.open(path), **choice)
    rows = [tuple(each.values()) for piece in pieces for each in piece.to_pylist()]
    return sorted(rows, key=json.dumps)


def columns(path: Path, **choice: Any) -> list[str]:  # noqa: ANN401
    return list(next(read_rows(Checkpoint.open(path), **choice)).schema.names)


def test_a_value_state_is_shown(path: Path) -> None:
    assert shown(path, state_var_name="total") == [
        (0, {"k": 1}, {"n": 11}),
        (0, {"k": 3}, {"n": 30}),
    ]
    assert columns(path, state_var_name="total") == ["partition_id", "key", "value"]


def test_a_list_state_has_a_row_for_each_element_in_order(path: Path) -> None:
    pieces = read_rows(Checkpoint.open(path), state_var_name="seen", keys=["k=1"])
    rows = [each for piece in pieces for each in piece.to_pylist()]
    assert [each["list_element"]["n"] for each in rows] == [1, 2, 3]
    assert columns(path, state_var_name="seen") == ["partition_id", "key", "list_element"]


def test_a_map_state_has_the_keys_of_the_user(path: Path) -> None:
    assert shown(path, state_var_name="parts") == [(0, {"k": 1}, {"part": 3}, {"n": 4})]
    names = ["partition_id", "key", "user_map_key", "user_map_value"]
    assert columns(path, state_var_name="parts") == names


def test_a_column_family_is_shown_as_it_is(path: Path) -> None:
    ((_, key, value),) = shown(path, column_family="parts")
    assert key == {"key": {"k": 1}, "userKey": {"part": 3}}
    assert value == {"n": 4}
    assert shown(path, column_family="$rowCounter_seen") == []
    assert columns(path, column_family="$rowCounter_seen") == ["partition_id", "key", "value"]


def test_earlier_batches_and_the_empty_state_are_shown(path: Path) -> None:
    assert len(shown(path, state_var_name="seen", batch_id=0)) == 3
    assert shown(path, state_var_name="seen", batch_id=-1) == []
    assert columns(path, state_var_name="seen", batch_id=-1)[2] == "list_element"


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (
            {},
            "Choose a state variable with --state-var-name (state_var_name in Python), or one of "
            "these with --column-family (column_family in Python).",
        ),
        ({"state_var_name": "x"}, "no state variable x: it has total (ValueState), seen (List"),
        ({"column_family": "x"}, "no column family x: it has $rowCounter_seen, default, parts"),
        ({"read_registered_timers": True}, "no timers that are registered"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(
    path: Path, choice: dict[str, Any], said: str
) -> None:
    with pytest.raises(NoSuchStoreError) as error:
        shown(path, **choice)
    assert said in str(error.value)


def test_one_kind_of_rows_is_chosen_at_a_time(path: Path) -> None:
    with pytest.raises(WrongArgumentError, match="no column_family beside state_var_name"):
        shown(path, state_var_name="total", column_family="total")


def test_a_store_without_families_has_none(tmp_path: Path) -> None:
    plain = counts(tmp_path, {"1.delta": [row(1, 1)]}, batches=1)
    with pytest.raises(NoSuchStoreError) as raised:
        shown(plain, state_var_name="total")
    assert str(raised.value).endswith(
        "has no column families in the store default: it has none. Its rows are of one kind: leave "
        "--state-var-name (state_var_name in Python) out."
    )


def test_without_state_variables_families_are_to_be_chosen(path: Path) -> None:
    (path / "state/0/_metadata/v2/0").unlink()
    with pytest.raises(NoSuchStoreError, match="Only transformWithState has such: choose a column"):
        shown(path, state_var_name="total")


def test_without_metadata_the_files_tell_that_there_are_families(path: Path) -> None:
    (path / "state/0/_metadata/v2/0").unlink()
    assert len(shown(path, column_family="total")) == 2
    with pytest.raises(NoSuchStoreError, match="--column-family"):
        shown(path)


def test_differences_of_all_families_are_told_by_name(path: Path) -> None:
    found = diff(Checkpoint.open(path), from_batch=0)
    assert (found.added, found.changed, found.removed) == (1, 2, 1)
    changed = {
        (each["column_family"], json.dumps(each["before"]), json.dumps(each["after"]))
        for each in found.rows
    }
    assert changed == {
        ("total", "null", '{"n": 30}'),
        ("total", '{"n": 10}', '{"n": 11}'),
        ("total", '{"n": 20}', "null"),
        ("seen", '[{"n": 1}, {"n": 2}]', '[{"n": 1}, {"n": 2}, {"n": 3}]'),
    }


def test_one_family_is_compared(path: Path) -> None:
    found = diff(Checkpoint.open(path), from_batch=0, state_var_name="seen")
    assert (found.added, found.changed, found.removed) == (0, 1, 0)
    for option, name in (("--state-var-name", "state variable"), ("--column-family", "column")):
        shown = CliRunner().invoke(main, ["diff", str(path), "--from-batch", "0", option, "seen"])
        assert ", store default, " + name in shown.stdout.splitlines()[1]
        assert shown.stdout.splitlines()[2] == "  partition column-family key value"
    with pytest.raises(CheckpointError, match="no column family x"):
        diff(Checkpoint.open(path), from_batch=0, column_family="x")


def test_a_family_that_came_or_went_has_all_its_rows_different(path: Path) -> None:
    others = family(COUNTER, "others")
    changes = file_bytes(
        "D", [(2 * COUNTER, long_row(7), long_row(7))], removed=[COUNTER, 1], defined=[others]
    )
    (path / "state/0/0/3.delta").write_bytes(changes)
    found = diff(Checkpoint.open(path))
    assert {(each["column_family"], each["change"]) for each in found.rows} == {
        ("others", "added"),
        ("total", "removed"),
    }


def test_a_batch_that_changes_nothing_differs_in_nothing(path: Path) -> None:
    found = diff(Checkpoint.open(path), from_batch=2, to_batch=2)
    assert (found.added, found.changed, found.removed, found.rows) == (0, 0, 0, ())


def test_inspect_names_variables_and_families(path: Path) -> None:
    (operator,) = inspect_checkpoint(Checkpoint.open(path)).operators
    assert [str(variable) for variable in operator.state_variables] == [
        "total (ValueState)",
        "seen (ListState)",
        "parts (MapState)",
    ]
    assert operator.stores[0].column_families == ("$rowCounter_seen", "parts", "seen", "total")
    told = CliRunner().invoke(main, ["inspect", str(path)]).stdout
    assert "state variables: total (ValueState), seen (ListState), parts (MapState)" in told
    assert "column families: $rowCounter_seen, parts, seen, total" in told


def test_broken_properties_of_an_operator_are_odd(path: Path) -> None:
    metadata = path / "state/0/_metadata/v2/0"
    metadata.write_text(metadata.read_text().replace("stateName", "stateNote"))
    found = inspect_checkpoint(Checkpoint.open(path))
    assert any("expected stateVariables of the operator" in sentence for sentence in found.odd)


def test_the_command_shows_variables_in_every_format(path: Path) -> None:
    def run(*options: str) -> str:
        result = CliRunner().invoke(main, ["show", str(path), *options])
        assert result.exit_code == 0, result.output
        return result.stdout

    table = run("--state-var-name", "parts")
    assert table.split()[:4] == ["partition_id", "key", "user_map_key", "user_map_value"]
    line = run("--state-var-name", "parts", "--json")
    assert json.loads(line)["user_map_key"] == {"part": 3}
    csv = run("--state-var-name", "seen", "--format", "csv")
    assert csv.splitlines()[0] == "partition_id,key,list_element"
    both = CliRunner().invoke(
        main, ["show", str(path), "--state-var-name", "seen", "--column-family", "seen"]
    )
    assert both.exit_code == 2
    assert "--state-var-name and --column-family exclude each other" in both.output


def test_a_plan_grows_all_families_with_the_rows_of_the_largest(path: Path) -> None:
    workload = observe(Checkpoint.open(path), 0)
    largest = workload.loads[0]
    assert largest.rows == max(load.rows for load in workload.loads) > 0
    loads = grown(workload, keys=50_000_000).loads
    assert loads[0].rows == 50_000_000
    factor = 50_000_000 / largest.rows
    assert [load.rows for load in loads] == [load.rows * factor for load in workload.loads]


def test_what_has_no_rows_does_not_grow(path: Path) -> None:
    workload = observe(Checkpoint.open(path), 0)
    empty = dataclasses.replace(workload, loads=(workload.loads[0].times(0, changes=0),))
    with pytest.raises(UnplannableError, match="has no rows, so that nothing tells"):
        grown(empty, keys=1)
