"""The demo on Spark: killed in the midst, resumed, right; and found wrong where it is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast_spark import _jars
from holdfast_spark.cli import main as cli
from holdfast_spark.demo.result import PROVIDER_CLASS, Check
from holdfast_spark.demo.runner import Run

pytestmark = pytest.mark.spark

# Out of order, with a duplicate, a zero in two forms, and a row without a time.
READINGS = """\
sensor,at,heat,count,site id
a,2024-05-02T00:00:00Z,,7,
a,2024-05-01T10:01:00Z,2.0,9,1
b,2024-05-01T10:05:00Z,NaN,1,1
a,2024-05-01T10:09:00Z,0.0,0,1
a,2024-05-01T10:09:00Z,-0.0,0,1
a,2024-05-01T10:20:00Z,0.5,,1
a,,100.0,100,1
"""


def run_demo(*options: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["demo", *(str(option) for option in options)])


@pytest.mark.main_job
def test_a_killed_and_resumed_stream_agrees_with_batch(tmp_path: Path) -> None:
    work = tmp_path / "a folder of the user's"
    run = run_demo("--rows", "3000", "--batches", "4", "--work", work, "--json")
    assert run.exit_code == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["agree"] is True
    check_resumption(result, batch=2)
    check_counts(result)
    check_state(result)
    assert {path.name for path in work.iterdir()} == {
        *("input", "weather", "plan.json", "checkpoint", "output"),
        *("stream.log", "resume.log", "check.log"),
    }


def check_resumption(result: dict[str, Any], *, batch: int) -> None:
    killed = result["killed"]
    assert killed["batch"] >= batch
    # The driver dies after a store of `batch` has written: then, or when the next one is planned.
    assert killed["stores_written"] > 0 or killed["batch"] > batch
    assert killed["state_stores"] == 8
    assert result["resumed_at"] == killed["batch"] + killed["committed"]


def check_counts(result: dict[str, Any]) -> None:
    assert result["check"]["events"] == 3000 < result["rows"]
    assert result["check"]["groups"] > 100
    by_carrier = result["check"]["tables"][0]
    flights = by_carrier["columns"].index("flights")
    assert sum(row[flights] for row in by_carrier["rows"]) == 3000
    sessions = result["sessions"]
    assert 0 < sessions["groups"] < sessions["events"] < 3000
    assert sessions["different"] == 0
    assert sessions["tables"][0]["rows"][0][3] > 1


def check_state(result: dict[str, Any]) -> None:
    assert result["provider"] == PROVIDER_CLASS
    operators = {operator["operator_name"]: operator for operator in result["operators"]}
    assert operators["dedupe"]["num_rows_total"] == 3000
    assert operators["stateStoreSave"]["num_rows_total"] == result["check"]["groups"]
    assert all(operator["holdfast_live_bytes"] > 0 for operator in operators.values())
    files = [(found["name"], found["stores"]) for found in result["files"]]
    # Before Spark 4.0 a checkpoint does not tell what its operators are.
    told = _jars.installed_spark_line() != "3.5"
    names = sorted(name for name, _ in files)
    assert names == (sorted(operators) if told else ["unknown"] * len(operators))
    for _, (store,) in files:
        assert store["versions"] == f"1-{result['batches']}"
        assert store["deltas"] == 4 * result["batches"]


@pytest.mark.slow
def test_a_users_own_files_are_streamed_and_a_tampered_result_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, work, real_check = tmp_path / "readings", tmp_path / "work", Run.check
    folder.mkdir()
    (folder / "a.csv").write_text(READINGS)

    def check_twice(run: Run) -> dict[str, Check]:
        check_readings(real_check(run)["statistics"])
        shutil.rmtree(work / "output" / "statistics" / "batch=0")
        return real_check(run)

    monkeypatch.setattr(Run, "check", check_twice)
    run = run_demo(
        *("--input", folder, "--key", "sensor,site id", "--time", "at", "--window", "10 minutes"),
        *("--batches", "3", "--work", work, "--json"),
    )
    assert run.exit_code == 1, run.stderr
    assert "the stream's result differs from batch in" in run.stderr
    result = json.loads(run.stdout)
    assert result["agree"] is False
    assert result["sessions"] is None
    assert result["rows"] == 6
    assert 0 < result["check"]["different"] <= result["check"]["groups"] == 4
    assert "the stream nothing" in result["check"]["samples"][0]
    check_resumption(result, batch=1)


def check_readings(check: Check) -> None:
    assert (check.different, check.groups, check.events) == (0, 4, 5)
    (table,) = check.tables
    assert table.columns == (
        *("at from", "sensor", "site id", "events"),
        *("heat mean", "heat max", "count mean", "count max"),
    )
    assert table.rows == (
        ("2024-05-01 10:00:00", "a", 1, 2, 1.0, 2.0, 4.5, 9),
        ("2024-05-01 10:00:00", "b", 1, 1, "nan", "nan", 1.0, 1),
        ("2024-05-01 10:20:00", "a", 1, 1, 0.5, 0.5, None, None),
        ("2024-05-02 00:00:00", "a", None, 1, None, None, 7.0, 7),
    )
