"""The result of a demo run: when it is good, how it is printed, and the exit code."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from holdfast_spark.checkpoint.inspection import OperatorSummary, StoreSummary
from holdfast_spark.cli import main as cli
from holdfast_spark.demo import command
from holdfast_spark.demo.errors import first_sentence
from holdfast_spark.demo.kill_point import KillPoint
from holdfast_spark.demo.progress import milliseconds_text
from holdfast_spark.demo.report import print_report
from holdfast_spark.demo.result import PROVIDER_CLASS, Check, DemoResult
from holdfast_spark.demo.table import Table, as_cell, as_text
from holdfast_spark.metrics import OperatorMetrics

TABLE = Table(
    title="Delays [by carrier]",
    columns=("carrier", "flights", "mean"),
    rows=(("UA", 12345, 8.04), ("OO", 1, None)),
)
CHECK = Check(groups=65, events=336, different=0, samples=(), tables=(TABLE,))
SESSIONS = Check(groups=120, events=300, different=0, samples=(), tables=())
OPERATOR = OperatorMetrics(
    operator_name="dedupe",
    num_rows_total=55403,
    num_rows_updated=0,
    num_rows_removed=27492,
    num_rows_dropped_by_watermark=0,
    all_updates_time_ms=17,
    all_removals_time_ms=141,
    commit_time_ms=15,
    memory_used_bytes=20452352,
    num_shuffle_partitions=4,
    num_state_store_instances=4,
    custom_metrics={
        "holdfastDeltaBytes": 406931,
        "SnapshotLastUploaded.partition_3_default": -1,
    },
)
STORE = StoreSummary(
    name="default",
    partitions=4,
    versions="1-13",
    newest_version=13,
    deltas=52,
    delta_bytes=8808038,
    snapshots=4,
    snapshot_bytes=1258291,
    shared_files=0,
    shared_bytes=0,
    delta_bytes_per_version=677541,
    newest_snapshot_bytes=1258291,
    snapshot_lag=1,
    other_attempts=0,
)
FILES = OperatorSummary(operator_id=1, name="dedupe", stores=(STORE,))
RESULT = DemoResult(
    source="flights",
    rows=353,
    written_events=336,
    batches=13,
    last_batch=11,
    killed=KillPoint(batch=6, committed=False, stores_written=1, state_stores=8),
    resumed_at=6,
    provider=PROVIDER_CLASS,
    dropped_by_watermark=0,
    operators=(OPERATOR,),
    files=(FILES,),
    check=CHECK,
    sessions=SESSIONS,
    seconds=31.4,
    work="/somewhere",
)


def printed(result: DemoResult) -> str:
    console = Console(file=io.StringIO(), width=120)
    print_report(console, result)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_good_result_has_no_failures() -> None:
    assert RESULT.failures == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"check": dataclasses.replace(CHECK, different=3)},
            "the stream's result differs from batch in 3 of 65 groups",
        ),
        (
            {"sessions": dataclasses.replace(SESSIONS, different=2)},
            "the stream's sessions differ from batch in 2 of 120",
        ),
        ({"written_events": 337}, "batch counts 336 events and 337 were written"),
        ({"dropped_by_watermark": 2}, "the watermark dropped 2 rows of the stream"),
        ({"resumed_at": 0}, "began with batch 0 and not with batch 6"),
        ({"resumed_at": 7}, "began with batch 7 and not with batch 6"),
        (
            {"killed": dataclasses.replace(RESULT.killed, committed=True)},
            "began with batch 6 and not with batch 7",
        ),
        ({"provider": "org.example.Other"}, "names org.example.Other as its state store provider"),
    ],
)
def test_each_flaw_of_a_result_is_told(change: dict[str, Any], sentence: str) -> None:
    (failure,) = dataclasses.replace(RESULT, **change).failures
    assert sentence in failure


def test_events_of_a_users_own_files_are_not_known_beforehand() -> None:
    assert dataclasses.replace(RESULT, written_events=None).failures == []


def test_the_report_shows_tables_metrics_files_and_the_verdict() -> None:
    text = printed(RESULT)
    for shown in (
        "Delays [by carrier]",
        "12,345",
        "8.0",
        "batch 11",
        "27,492",
        "406,931",
        "8.4 MiB",
    ):
        assert shown in text
    assert "partition_3" not in text
    assert "duplicates left out: 17" in text
    assert "300 of them flown in 120 sessions of aircraft" in text
    assert "agree in every group" in text


def test_the_report_of_a_wrong_result_shows_samples_and_no_praise() -> None:
    check = dataclasses.replace(CHECK, different=1, samples=("carrier [UA]: batch has 1",))
    text = printed(dataclasses.replace(RESULT, check=check))
    assert "carrier [UA]: batch has 1" in text
    assert "agree" not in text


def run_command(result: DemoResult, monkeypatch: pytest.MonkeyPatch, *options: str) -> Result:
    monkeypatch.setattr(command, "run_in_work_folder", lambda *_, **__: result)
    return CliRunner().invoke(cli.main, ["demo", *options])


def test_the_exit_code_is_0_only_when_the_results_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_command(RESULT, monkeypatch).exit_code == 0
    wrong = dataclasses.replace(RESULT, check=dataclasses.replace(CHECK, different=3))
    failed = run_command(wrong, monkeypatch)
    assert failed.exit_code == 1
    assert "differs from batch in 3 of 65 groups; everything is in /somewhere" in failed.stderr


def test_json_has_the_verdict_and_every_number(monkeypatch: pytest.MonkeyPatch) -> None:
    printed_json = json.loads(run_command(RESULT, monkeypatch, "--json").stdout)
    assert printed_json["agree"] is True
    assert printed_json["failures"] == []
    assert printed_json["killed"]["stores_written"] == 1
    assert printed_json["operators"][0]["custom_metrics"]["holdfastDeltaBytes"] == 406931
    assert printed_json["check"]["tables"][0]["rows"] == [["UA", 12345, 8.04], ["OO", 1, None]]


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("[A.B] Cannot read a.csv. Try again.\n\tat java.lang.Thread", "[A.B] Cannot read a.csv."),
        ("\n  one line, 3.5 long \n two", "one line, 3.5 long"),
        ("x" * 400, "x" * 297 + "..."),
        ("[A.B] The window is no window.;\nAggregate [window#1]", "[A.B] The window is no window."),
        ("", "ValueError"),
    ],
)
def test_of_a_long_message_the_first_sentence_is_shown(message: str, sentence: str) -> None:
    assert first_sentence(ValueError(message)) == sentence


def test_a_check_survives_json() -> None:
    assert Check.from_json(json.loads(json.dumps(dataclasses.asdict(CHECK)))) == CHECK


@pytest.mark.parametrize(
    ("value", "cell"), [(float("nan"), "nan"), (1.5, 1.5), (3, 3), (None, None), ("a", "a")]
)
def test_cells_are_values_that_json_has(value: object, cell: object) -> None:
    assert as_cell(value) == cell


def test_numbers_are_printed_for_people() -> None:
    assert [as_text(cell) for cell in (1234567, 1234.56, None, "a", True)] == [
        "1,234,567",
        "1,234.6",
        "-",
        "a",
        "True",
    ]
    assert [milliseconds_text(time) for time in (999, 1000, 61500)] == ["999 ms", "1.0 s", "61.5 s"]
