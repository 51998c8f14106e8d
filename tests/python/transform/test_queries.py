"""Real queries with the pipelined client beside Spark's."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_queries_return_and_fail_as_with_sparks_client(spark: Spark) -> None:
    result = spark.python("transform_states.py").result()
    by_spark, by_holdfast = result["spark"], result["holdfast"]
    assert by_holdfast["rows"] == by_spark["rows"]
    assert by_holdfast["frames"] == by_spark["frames"]
    assert by_spark["rows"] == by_spark["frames"]
    assert kinds_of_failures(by_holdfast) == kinds_of_failures(by_spark)


def kinds_of_failures(returned: dict[str, Any]) -> dict[str, Any]:
    return {
        what: found["kind"] if "failed" in found else found
        for what, found in returned.items()
        if what not in ("rows", "frames")
    }
