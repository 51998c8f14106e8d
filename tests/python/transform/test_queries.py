"""Real queries with the pipelined client beside Spark's, on Holdfast."""

from __future__ import annotations

import pytest

from harness import APPS, SharedSpark

pytestmark = pytest.mark.spark

WRONG = {
    "two values for one",
    "a timer without times",
    "a timer for half a millisecond",
    "an error of its own",
}


def test_queries_return_and_fail_as_with_sparks_client(shared_spark: SharedSpark) -> None:
    result = shared_spark.python(APPS / "transform_states.py").result()
    by_spark, by_holdfast = result["spark"], result["holdfast"]
    for answers in (by_spark, by_holdfast):
        failed = {what: answer for what, answer in answers.items() if "failed" in answer}
        assert failed.keys() == WRONG
    assert by_holdfast == by_spark
    # Rows that are late, two batches of rows, and then the timers of rows too.
    assert [len(batch) for batch in by_spark["rows"]] == [0, 40, 40, 80]
    # Each NaN finds what those before it left; all keys of a batch with a null are one to Spark.
    assert by_spark["nan"][1][-1] == [0, "nan 99 1"]
    assert by_spark["null in frames"][1][-1] == [0, "nan 99 1"]
    assert {seen.split()[-1] for _, seen in by_spark["large"][1]} == {"500000"}
    assert "STRUCT_ARRAY_LENGTH_MISMATCH" in by_spark["two values for one"]["failed"]
    assert "ZeroDivisionError" in by_spark["an error of its own"]["failed"]
