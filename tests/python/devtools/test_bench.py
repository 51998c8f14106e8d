"""What a benchmark writes, and what it need not measure again."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from devtools.bench import results
from devtools.bench.results import Machine, Result
from devtools.bench.runs import Run, full_runs, short_runs

MACHINE = Machine(
    cpu="a processor",
    cores=2,
    memory_gib=24,
    java="17",
    spark="4.2.0",
    commit="abc1234",
    time="2026-01-01T00:00+00:00",
)
OURS = Result(Run("batches", "holdfast", {"rows": 1000, "changes": 10}), {"batchMedianMillis": 2.0})
THEIRS = Result(Run("batches", "hdfs", {"rows": 1000, "changes": 10}), {"batchMedianMillis": 30.0})


def git(root: Path, *words: str) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *name, *words], check=True, cwd=root, capture_output=True)


def test_results_are_kept_for_the_same_code_on_the_same_machine(tmp_path: Path) -> None:
    path = tmp_path / "full.json"
    assert results.read_of(path, MACHINE) == []
    results.write(tmp_path, "full", MACHINE, [OURS, THEIRS])
    assert results.read_of(path, replace(MACHINE, time="later")) == [OURS, THEIRS]
    assert results.read_of(path, replace(MACHINE, commit="def5678")) == []
    assert results.read_of(path, replace(MACHINE, cores=4)) == []


def test_results_of_uncommitted_code_are_not_kept(tmp_path: Path) -> None:
    dirty = replace(MACHINE, commit="abc1234-dirty")
    results.write(tmp_path, "full", dirty, [OURS])
    assert results.read_of(tmp_path / "full.json", dirty) == []


def test_the_table_has_a_column_for_each_provider_and_says_how_many_times(tmp_path: Path) -> None:
    results.write(tmp_path, "full", MACHINE, [OURS, THEIRS])
    lines = (tmp_path / "full.txt").read_text().splitlines()
    assert "commit abc1234" in lines[0]
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
        return Machine.here(root=tmp_path, java=Path("echo"), spark="4.2.0").commit

    first = commit()
    (tmp_path / "README.md").write_text("after")
    assert commit() == first
    git(tmp_path, "commit", "-am", "words")
    assert commit() == first
    (tmp_path / "jvm" / "core" / "code").write_text("after")
    assert commit() == f"{first}-dirty"
    git(tmp_path, "commit", "-am", "code")
    assert commit() not in (first, f"{first}-dirty")


def test_no_run_is_there_twice() -> None:
    for runs in (short_runs(), full_runs()):
        assert len({str(run) for run in runs}) == len(runs)
