"""What `holdfast plan` says of memory, beside what Spark's heap has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import Spark, search_path
from holdfast_spark._operator_names import (
    AGGREGATION,
    DEDUPE,
    DEDUPE_WITHIN_WATERMARK,
    JOIN,
    SESSIONS,
)
from holdfast_spark.cli import main as cli

TESTS = Path(__file__).parents[1]
APP = TESTS / "checkpoint" / "apps" / "fill_state.py"
KEYS, PARTITIONS = 150_000, 2
SUMS = ["--key", "id bigint", "--value", "sum bigint, count bigint"]
# The queries of the app as they would be described, and the rows that they should have.
PLANS = {
    "counts": ["--operator", AGGREGATION, *SUMS, "--changes", f"{KEYS // 10}"],
    "names": [
        *("--operator", DEDUPE, "--key", "name string", "--length", "name=20"),
        *("--changes", f"{KEYS // 4}", "--versions", "1"),
    ],
    "sessions": ["--operator", SESSIONS, *SUMS, "--changes", f"{KEYS // 10}"],
    "joined": [
        *("--operator", JOIN, "--key", "id bigint", "--value", "id bigint, amount bigint"),
        *("--rows-per-key", "2.2", "--changes", f"{KEYS // 10}"),
    ],
    "expiring": [
        *("--operator", DEDUPE_WITHIN_WATERMARK, "--key", "id bigint"),
        *("--changes", f"{KEYS // 5}", "--removals", f"{KEYS // 5}"),
    ],
}
ROWS = {"joined": 2 * 2.2 * KEYS}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
@pytest.mark.parametrize("provider", ["holdfast", pytest.param("hdfs", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "names",
    [("counts", "sessions"), pytest.param(("names", "joined", "expiring"), marks=pytest.mark.long)],
)
def test_memory_is_within_ten_percent_of_what_is_measured(
    spark: Spark, provider: str, names: tuple[str, ...]
) -> None:
    path = search_path(TESTS)
    measured = spark.python(str(APP), spark.folder, provider, *names, PYTHONPATH=path).result()
    assert tuple(measured) == names
    for name in names:
        assert measured[name]["rows"] == pytest.approx(ROWS.get(name, KEYS), rel=0.005), name
        planned = planned_heap(*PLANS[name])[provider]
        assert planned == pytest.approx(measured[name]["heap"], rel=0.1), name


def planned_heap(*options: str) -> dict[str, int]:
    """Heap bytes by provider."""
    size = ["--keys", f"{KEYS}", "--partitions", f"{PARTITIONS}"]
    result = CliRunner().invoke(cli.main, ["plan", *options, *size, "--json"])
    assert result.exit_code == 0, result.stderr
    providers = json.loads(result.stdout)["providers"]
    return {provider["provider"]: provider["heap_bytes"] for provider in providers}
