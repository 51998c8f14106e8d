"""What a benchmark writes, and what it need not measure again."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from devtools.bench import command, evictions, families, results, summary
from devtools.bench.eviction_runs import EVICTING, IDLE_JOINS
from devtools.bench.eviction_runs import evictions as group_of_evictions
from devtools.bench.family_runs import KEYS, TRANSFORMS
from devtools.bench.family_runs import families as group_of_families
from devtools.bench.results import Machine, Result
from devtools.bench.run import Run
from devtools.bench.runs import LARGER_PAGES, SHORTEST_PAUSES, full_runs, short_runs
from devtools.errors import DevError
from devtools.main import parser
from harness import ROOT

MACHINE = Machine(
    cpu="a processor",
    cores=2,
    memory_gib=24,
    java="17",
    spark="4.2.0",
)
COMMIT = "abc1234"


def result(run: Run, numbers: dict[str, float]) -> Result:
    return Result(run, numbers, COMMIT, MACHINE, "2026-01-01")


OURS = result(Run("batches", "holdfast", {"rows": 1000, "changes": 10}), {"batchMedianMillis": 2.0})
THEIRS = result(Run("batches", "hdfs", {"rows": 1000, "changes": 10}), {"batchMedianMillis": 30.0})


def git(root: Path, *words: str) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *name, *words], check=True, cwd=root, capture_output=True)


def test_results_keep_where_they_were_measured(tmp_path: Path) -> None:
    assert results.read(tmp_path / "full.json") == []
    elsewhere = replace(THEIRS, machine=replace(MACHINE, cpu="another"), day="2026-02-02")
    twice = [OURS, replace(OURS, run=replace(OURS.run, provider="rocksdb")), elsewhere]
    results.write(tmp_path, "full", twice)
    assert results.read(tmp_path / "full.json") == twice
    assert (tmp_path / "full.txt").read_text().splitlines()[:2] == [
        "2026-01-01, a processor, 2 cores, 24 GiB, 17, Spark 4.2.0",
        "2026-02-02, another, 2 cores, 24 GiB, 17, Spark 4.2.0",
    ]


def test_results_are_of_the_code_and_the_machine_that_were_measured() -> None:
    assert OURS.is_of(COMMIT, MACHINE)
    assert not OURS.is_of("def5678", MACHINE)
    assert not OURS.is_of(COMMIT, replace(MACHINE, cores=4))
    dirty = f"{COMMIT}-dirty"
    assert not replace(OURS, commit=dirty).is_of(dirty, MACHINE)


def test_the_table_has_a_column_for_each_provider_and_says_how_many_times(tmp_path: Path) -> None:
    results.write(tmp_path, "full", [OURS, THEIRS])
    lines = (tmp_path / "full.txt").read_text().splitlines()
    assert lines[-3] == "batches: rows 1000, changes 10, -Xms6g (commit abc1234; a processor)"
    assert lines[-2].split() == ["holdfast", "hdfs"]
    assert lines[-1].split() == ["batchMedianMillis", "2", "30", "(15", "x)"]


def test_the_commit_is_that_of_the_measured_code(tmp_path: Path) -> None:
    git(tmp_path, "init")
    for name in ("build.sbt", "project/lines", "jvm/core/code", "README.md"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("before")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")

    def commit() -> str:
        return results.measured_commit(tmp_path)

    first = commit()
    (tmp_path / "README.md").write_text("after")
    assert commit() == first
    git(tmp_path, "commit", "-am", "words")
    assert commit() == first
    (tmp_path / "jvm" / "core" / "code").write_text("after")
    assert commit() == f"{first}-dirty"
    git(tmp_path, "commit", "-am", "code")
    assert commit() not in (first, f"{first}-dirty")


def test_the_summary_shows_the_least_number_bold() -> None:
    arguments: dict[str, str | int] = {"kind": "small", "rows": 1_000_000, "changes": 100_000}
    found = [
        result(Run("operations", provider, arguments), {"getHitNanos": get, "commitNanos": commit})
        for provider, get, commit in (("holdfast", 466.4, 1.23e7), ("hdfs", 1811.0, 8e5))
    ]
    lines = summary.markdown(found).splitlines()
    assert "| `get`, the key is there, 1 M rows | **466 ns** | 1,811 ns |  |  |  |" in lines
    assert "| `commit` of 100,000 changes | 12.3 ms | **0.8 ms** |  |  |  |" in lines


def test_what_differs_less_than_two_runs_of_the_same_wins_nothing() -> None:
    arguments: dict[str, str | int] = {"kind": "small", "rows": 1_000_000}
    found = [
        result(Run("operations", provider, arguments), {"getHitNanos": get, "putNewNanos": put})
        for provider, get, put in (("holdfast", 100.0, 100.0), ("hdfs", 119.0, 121.0))
    ]
    lines = summary.markdown(found).splitlines()
    assert "| `get`, the key is there, 1 M rows | 100 ns | 119 ns |  |  |  |" in lines
    assert "| `put`, a new key | **100 ns** | 121 ns |  |  |  |" in lines


def test_a_row_that_was_measured_elsewhere_than_most_says_where() -> None:
    arguments: dict[str, str | int] = {"kind": "small", "rows": 1_000_000}
    here = result(Run("operations", "holdfast", arguments), {"getHitNanos": 1.0, "removeNanos": 2})
    run = replace(here.run, measure="commits")
    there = replace(here, run=run, numbers={"putWithCommitNanos": 3.0})
    there = replace(there, machine=replace(MACHINE, cpu="another"))
    lines = summary.markdown([here, here, there]).splitlines()
    words = "| `put` with its share of a commit of 100,000, 1 M rows, on another | 3 ns |"
    assert [line for line in lines if " on another " in line] == [f"{words}  |  |  |  |"]


def test_several_measurements_of_a_run_become_their_medians(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text(
        f"#!/bin/sh\necho >> {tmp_path}/runs\n"
        f"echo 'measured {{\"getHitNanos\": '$(wc -l < {tmp_path}/runs)'}}'\n"
    )
    java.chmod(0o755)
    run = Run("operations", "holdfast", {}, repeats=3)
    assert command.measured(java, tmp_path / "arguments", run) == {"getHitNanos": 2.0}


def test_numbers_of_another_line_do_not_go_among_those_of_the_page() -> None:
    older, newest = MagicMock(line="4.2"), MagicMock(line="4.3")
    workshop = MagicMock(lines=[older, newest], line=lambda _: newest)
    arguments = parser().parse_args(["bench", "--spark", "4.3"])
    with pytest.raises(DevError, match=r"of Spark 4\.2: say with --out where those of Spark 4\.3"):
        arguments.run(workshop, arguments, [])


def test_a_measurement_that_fails_keeps_no_other_from_being_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [Run("querySizes", provider, {}) for provider in ("hdfs", "holdfast", "rocksdb")]
    found = {"floorMillis": 1.0}
    measured = MagicMock(side_effect=[DevError("The measurement of hdfs failed."), found, found])
    monkeypatch.setattr(command, "measured", measured)
    monkeypatch.setattr(command, "short_runs", MagicMock(return_value=runs))
    monkeypatch.setattr(command, "_plot", MagicMock())
    monkeypatch.setattr(Machine, "here", MagicMock(return_value=MACHINE))
    workshop = MagicMock(root=ROOT)
    with pytest.raises(DevError, match="measurement of hdfs failed"):
        command.bench(workshop, line=MagicMock(), full=False, measures=[], out=tmp_path)
    there = results.read(tmp_path / "short.json")
    assert [result.run.provider for result in there] == ["holdfast", "rocksdb"]


def test_what_a_batch_takes_without_state_wins_nothing() -> None:
    arguments: dict[str, str | int] = {"query": "join"}
    found = [
        result(
            Run("querySizes", provider, arguments, group="evictions"),
            {"batchMillisAt1000000": mean, "floorMillis": floor},
        )
        for provider, mean, floor in (("holdfast", 100.0, 98.0), ("hdfs", 900.0, 99.0))
    ]
    assert "| **100 ms** | 900 ms |  |  | 98 ms |" in summary.markdown(found)


def test_the_summary_needs_no_run_that_is_never_done() -> None:
    rows = list(summary.rows())
    numbers = {row.number: 1.0 for row in rows}
    found = [result(run, numbers) for run in full_runs()]
    assert len(summary.markdown(found).splitlines()[2:]) == len(rows)


def test_the_pages_have_the_tables_of_the_full_benchmark() -> None:
    found = results.read(ROOT / "docs" / "benchmarks" / "full.json")
    assert (ROOT / "docs" / "benchmarks" / "full.md").read_text() == summary.markdown(found)
    for name, expected in (
        ("full-evictions.md", evictions.markdown(found)),
        ("full-families.md", families.markdown(found)),
    ):
        page = ROOT / "docs" / "benchmarks" / name
        assert (page.read_text() if page.exists() else "") == expected
    table = summary.markdown(found, for_readme=True)
    assert f"\n\n{table}\n" in (ROOT / "README.md").read_text()
    assert 6 <= len(table.splitlines()[2:]) <= 10


def test_the_readme_tells_where_holdfast_is_not_the_best() -> None:
    found = results.read(ROOT / "docs" / "benchmarks" / "full.json")
    rows = summary.markdown(found, for_readme=True).splitlines()[2:]
    assert [row for row in rows if "**" in row and not row.split("|")[2].strip().startswith("**")]


def test_a_full_benchmark_puts_its_table_into_the_readme(tmp_path: Path) -> None:
    arguments: dict[str, str | int] = {"kind": "small", "rows": 1_000_000}
    found = [result(Run("operations", "holdfast", arguments), {"commitNanos": 7e6})]
    results.write(tmp_path / "docs" / "benchmarks", "full", found)
    head, *rest = summary.markdown([], for_readme=True).splitlines(keepends=True)
    readme = tmp_path / "README.md"
    readme.write_text("".join(("# A\n\n", head, *rest, "| old | 1 |\n", "\n", "After | it.\n")))
    command.update_readme(tmp_path)
    row = "| `commit` of 100,000 changes | 7 ms |  |  |  |  |\n"
    assert readme.read_text() == "".join(("# A\n\n", head, *rest, row, "\n", "After | it.\n"))


def test_a_measurement_of_several_sizes_has_a_curve() -> None:
    found = [
        result(Run("querySizes", "holdfast", {"sizes": sizes}), {f"storeMillisAt{rows}": millis})
        for sizes, rows, millis in (("a", 50_000, 4.0), ("b", 1_000, 2.0), ("c", 1_000, 3.0))
    ]
    assert results.by_size(found, "storeMillis") == {"holdfast": [(1_000, 2.0), (50_000, 4.0)]}
    assert results.by_size(found, "timesFloor") == {"holdfast": []}


def test_a_query_in_which_rows_expire_has_a_curve_and_rows_of_its_own() -> None:
    numbers = {"batchMillisAt1000000": 30.0, "storeMillisAt1000000": 4.0}
    other = result(Run("querySizes", "holdfast", {"query": "join"}, group="evictions"), numbers)
    assert results.by_size([other], "storeMillis") == {}
    assert "aggregation" not in summary.markdown([other])
    assert "join, 1,000 rows come and as many expire, 1 M rows | 30 ms" in summary.markdown([other])


def test_a_group_of_measurements_is_read_back(tmp_path: Path) -> None:
    run = next(iter(group_of_evictions()))
    results.write(tmp_path, "full", [result(run, {"floorMillis": 1.0})])
    (read,) = results.read(tmp_path / "full.json")
    assert read.run == run
    assert read.run.name == "evictions"


def test_the_page_of_evictions_has_a_row_for_each_size_and_join_that_was_measured() -> None:
    assert evictions.markdown([OURS]) == ""
    sizes = {"batchMillis": 40.0, "storeMillis": 3.5, "timesFloor": 1.25, "removedRows": 1000.0}
    at = {f"{name}At10000": value for name, value in sizes.items()}
    found = [
        result(Run("querySizes", "holdfast", {"query": "timeouts"}, group="evictions"), ours)
        for ours in ({**at, "floorMillis": 32.0},)
    ]
    at["batchMillisAt10000"] = 4e3
    found.append(result(Run("querySizes", "hdfs", {"query": "timeouts"}, group="evictions"), at))
    idle = Run("idleJoins", "rocksdb", {"query": "joinByKey"}, group="evictions")
    found.append(result(idle, {"sideMillis": 1234.5}))
    found.append(result(replace(idle, provider="rocksdb-join-4"), {"sideMillis": 40.0}))
    rows = [line for line in evictions.markdown(found).splitlines() if line.startswith("| ")]
    assert rows[1:2] == [
        "| flatMapGroupsWithState, event-time timeouts | 10,000 | 40 | 32 | 1.25 | 4,000 |  |  "
        "| 3.5 | 3.5 |  |  | 1,000 |  |"
    ]
    assert rows[3:] == ["| join by key |  |  | 1,234 | 40 |"]


def test_each_number_of_the_page_of_evictions_is_measured() -> None:
    runs = list(group_of_evictions())
    measured = {(run.provider, run.arguments["query"]) for run in runs}
    for query in EVICTING:
        assert {("holdfast", query), ("hdfs", query), ("rocksdb", query)} <= measured
    found = [result(run, {"sideMillis": 1.0, "batchMillisAt10000": 1.0}) for run in runs]
    rows = [line for line in evictions.markdown(found).splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(EVICTING) + len(IDLE_JOINS)


def test_the_page_of_families_says_how_many_times_as_long_rocksdb_takes() -> None:
    assert families.markdown([OURS]) == ""
    found = [
        result(
            Run("familyOperations", provider, {}, group="families"), {"listRead1000Nanos": nanos}
        )
        for provider, nanos in (("holdfast", 2_000.0), ("rocksdb", 9_000.0))
    ]
    for provider, millis in (("holdfast", 44.0), ("rocksdb", 66.0)):
        numbers = {
            "batchMillisAt10000": millis,
            "floorMillis": 40.0,
            "timesFloorAt10000": 1.1,
            "storeMillisAt10000": millis / 10,
        }
        query = Run("querySizes", provider, {"query": "mapState"}, group="families")
        found.append(result(query, numbers))
    rows = [line for line in families.markdown(found).splitlines() if line.startswith("| ")]
    assert rows[1:2] == ["| a list of 1,000 values read | 2 | 9 | 4.5 |"]
    assert rows[3:] == [
        "| map, a value read and updated | 10,000 | 44 | 40 | 1.1 | 66 | 1.5 | 4.4 | 6.6 |"
    ]


def test_each_number_of_the_page_of_families_is_measured() -> None:
    numbers = {f"batchMillisAt{keys}": 1.0 for keys in KEYS}
    found = []
    for run in group_of_families():
        sizes = str(run.arguments.get("sizes", "")).split(",")
        of_sizes = {name: 1.0 for name in numbers if name.partition("At")[2] in sizes}
        found.append(result(run, of_sizes or {"timerNanos": 1.0}))
    rows = [line for line in families.markdown(found).splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 1 + len(TRANSFORMS) * len(KEYS)
    assert all(row.count(" 1 ") >= 2 for row in rows[3:])


def test_no_run_is_there_twice() -> None:
    for runs in (short_runs(), full_runs()):
        assert len({str(run) for run in runs}) == len(runs)


def test_the_settings_template_names_the_options_that_are_measured() -> None:
    template = (ROOT / "conf" / "spark-defaults.conf.template").read_text()
    for options in (LARGER_PAGES, SHORTEST_PAUSES):
        assert f"spark.executor.extraJavaOptions              {options}\n" in template
