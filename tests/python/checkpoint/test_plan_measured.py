"""What `holdfast plan` says of memory, beside what Spark's heap has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import Spark
from holdfast.cli import main as cli

APP = Path(__file__).parent / "apps" / "fill_state.py"
# As the queries of the app have them: options of the plan, and the share of rows in a batch.
PLANS = {
    "counts": (["--key", "id bigint", "--value", "sum bigint, count bigint"], 0.1),
    "names": (["--operator", "dedupe", "--key", "name string", "--length", "name=20"], 0.25),
}
VERSIONS = {"counts": 2, "names": 1}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
@pytest.mark.parametrize("provider", ["holdfast", "hdfs"])
def test_memory_is_within_ten_percent_of_what_is_measured(spark: Spark, provider: str) -> None:
    measured = spark.python(str(APP), spark.folder, provider).result()
    rows, partitions = measured["rows"], measured["partitions"]
    for name, (options, share) in PLANS.items():
        planned = planned_heap(
            *options,
            *("--keys", f"{rows}", "--changes", f"{rows * share:.0f}"),
            *("--partitions", f"{partitions}", "--versions", f"{VERSIONS[name]}"),
        )
        assert planned[provider] == pytest.approx(measured["heap"][name], rel=0.1), name


def planned_heap(*options: str) -> dict[str, int]:
    """Heap bytes by provider."""
    result = CliRunner().invoke(cli.main, ["plan", *options, "--json"])
    assert result.exit_code == 0, result.stderr
    providers = json.loads(result.stdout)["providers"]
    return {provider["provider"]: provider["heap_bytes"] for provider in providers}
