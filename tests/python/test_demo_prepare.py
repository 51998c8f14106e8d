"""A user's own files made ready by Spark: what is taken of them, what is refused and how."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness import ROOT
from holdfast_spark.demo.errors import DemoError, DemoUsageError
from holdfast_spark.demo.own_files import find_own_files
from holdfast_spark.demo.plan import ColumnsQuery, Layout, Plan

if TYPE_CHECKING:
    from concurrent.futures import Executor

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EVENTS = [
    {"at": "2024-05-01T10:00:00Z", "who": {"name": "x"}, "a.b": 1, "size": 2.5, "seen": True},
    {"at": "2024-05-01T09:00:00Z", "who": {"name": "y"}, "a.b": 2, "size": 3.5, "seen": False},
]


def prepare_in_worker(folder: Path, work: Path, options: dict[str, Any]) -> Plan:
    """Runs in the worker, where the JVM stays from one call to the next."""
    from holdfast_spark.demo.prepare import prepare
    from holdfast_spark.demo.session import builder

    layout = Layout(work)
    asked = {"time": "at", "keys": ("seen",), "window": "1 hour", "watermark": "1 day", **options}
    own = find_own_files(folder, **asked)
    return prepare(builder(layout, brief=True).getOrCreate(), own, layout, files=3)


@pytest.fixture(scope="module")
def worker() -> Iterator[Executor]:
    """A process of its own for the JVM, which ends with it; it has to find this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as executor:
            yield executor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "events"
    folder.mkdir()
    write(folder, "\n".join(json.dumps(event) for event in EVENTS))
    return folder


def write(folder: Path, text: str) -> None:
    (folder / "events.json").write_text(text)


def prepared(worker: Executor, folder: Path, **options: str | tuple[str, ...]) -> Plan:
    return worker.submit(prepare_in_worker, folder, folder.parent / "work", options).result()


def test_columns_are_chosen_and_rows_written_in_order_of_time(
    worker: Executor, folder: Path
) -> None:
    plan = prepared(worker, folder, keys=("who.name", "seen"))
    assert isinstance(plan.query, ColumnsQuery)
    assert [(value.name, value.kind) for value in plan.query.values] == [
        ("a.b", "integer"),
        ("size", "floating"),
    ]
    assert plan.schema == (
        "time timestamp, key0 string, key1 boolean, value0 bigint, value1 double"
    )
    assert (plan.rows, plan.events) == (2, None)
    parts = sorted((folder.parent / "work" / "input").glob("*.parquet"))
    assert len(parts) == plan.files == 2
    ages = [part.stat().st_mtime for part in parts]
    assert ages == sorted(set(ages))
    plan.write(folder / "plan.json")
    assert Plan.read(folder / "plan.json") == plan


def test_parquet_files_in_partition_folders_are_read(worker: Executor, folder: Path) -> None:
    parts = prepared(worker, folder)
    nested = folder.parent / "nested"
    (nested / "day=7").mkdir(parents=True)
    for part in (folder.parent / "work" / "input").glob("part-*.parquet"):
        part.rename(nested / "day=7" / part.name)
    plan = worker.submit(
        prepare_in_worker, nested, folder.parent / "work 2", {"time": "time", "keys": ("day",)}
    ).result()
    assert plan.rows == parts.rows == 2
    assert isinstance(plan.query, ColumnsQuery)
    assert plan.query.keys == ("day",)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"time": "when"}, r"no column 'when' .*/events: their columns are a\.b, at, seen, size"),
        ({"keys": ("who.age",)}, r"there is no column 'who\.age'"),
        ({"keys": ("who",)}, r"'who' .* cannot be a key .*: its type is struct<name:string>"),
        ({"time": "size"}, r"'size' .* cannot be a time .*: its type is double"),
        ({"window": "a while"}, r"--window 'a while' is no window of time such as '1 hour'"),
        ({"window": "-1 hour"}, r"--window '-1 hour' is no window"),
        ({"watermark": "later"}, r"--watermark 'later' is no delay such as '1 day'"),
    ],
)
def test_columns_and_intervals_that_do_not_fit_are_usage_errors(
    worker: Executor, folder: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DemoUsageError, match=sentence):
        prepared(worker, folder, **options)


def test_a_column_without_any_time_is_a_usage_error(worker: Executor, folder: Path) -> None:
    write(folder, json.dumps({"at": "noon", "seen": True}))
    with pytest.raises(DemoUsageError, match=r"of 1 row in .*, none has a time in column 'at'"):
        prepared(worker, folder)


def test_a_malformed_file_is_an_error_that_names_its_folder(worker: Executor, folder: Path) -> None:
    write(folder, '{"at": "2024-05-01T10:00:00Z", "seen": tr')
    with pytest.raises(DemoError, match=r"/events cannot be read as json: ") as raised:
        prepared(worker, folder)
    assert not isinstance(raised.value, DemoUsageError)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_no_parquet_is_an_error(worker: Executor, folder: Path) -> None:
    (folder / "events.json").rename(folder / "events.parquet")
    with pytest.raises(DemoError, match="/events cannot be read as parquet: "):
        prepared(worker, folder)
