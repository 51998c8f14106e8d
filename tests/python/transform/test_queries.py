"""Real queries with the pipelined client beside Spark's, on Holdfast."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import recorded, recording

from harness import APPS, SharedSpark

pytestmark = pytest.mark.spark

WRONG = {
    "two values for one",
    "a timer without times",
    "a timer for half a millisecond",
    "an error of its own",
}


def answers(spark: SharedSpark, client: str) -> dict[str, Any]:
    """What the queries return and how they fail, with a client."""
    return spark.python(APPS / "transform_states.py", client).result()


def recorded_answers(file: Path) -> dict[str, Any]:
    return {what: json.loads(answer) for what, answer in recorded(file).items()}


def test_queries_return_and_fail_as_with_sparks_client(shared_spark: SharedSpark) -> None:
    file = recording("transform_states")
    by_holdfast = answers(shared_spark, "holdfast")
    by_spark = recorded_answers(file) if file.exists() else answers(shared_spark, "spark")
    for each in (by_spark, by_holdfast):
        assert {what for what, answer in each.items() if "failed" in answer} == WRONG
    assert by_holdfast == by_spark
    # Rows that are late, two batches of rows, and then the timers of rows too.
    assert [len(batch) for batch in by_spark["rows"]] == [0, 40, 40, 80]
    # Each NaN finds what those before it left; all keys of a batch with a null are one to Spark.
    assert by_spark["nan"][1][-1] == [0, "nan 99 1"]
    assert by_spark["null in frames"][1][-1] == [0, "nan 99 1"]
    assert {seen.split()[-1] for _, seen in by_spark["large"][1]} == {"500000"}
    assert "STRUCT_ARRAY_LENGTH_MISMATCH" in by_spark["two values for one"]["failed"]
    assert "ZeroDivisionError" in by_spark["an error of its own"]["failed"]


@pytest.mark.long
def test_what_was_recorded_is_what_sparks_client_does(shared_spark: SharedSpark) -> None:
    file = recording("transform_states")
    if not file.exists():
        pytest.skip("nothing is recorded for this Spark, and the test above has run it")
    assert answers(shared_spark, "spark") == recorded_answers(file)
