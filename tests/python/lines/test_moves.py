"""Queries moved from line to line with their checkpoints, up through all of them and down again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from harness import Spark
from holdfast_spark import _jars
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from lines.cases import OWN_STATE, QUERIES
from lines.golden import HDFS, HOLDFAST, ROCKSDB, job, lines
from lines.process import go_on_by

LINES = lines()
NAMES = {HDFS: "spark", ROCKSDB: "spark", HOLDFAST: "holdfast"}

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.usefixtures("no_spark_settings"),
]


@pytest.fixture(autouse=True)
def _on_the_newest_line_alone() -> None:
    """The moves start the Spark of every line themselves."""
    if _jars.installed_spark_line() != LINES[-1]:
        pytest.skip("runs in the environment of the newest line")


class Moved:
    """Every query twice, on Holdfast and on a provider of Spark's, moved side by side."""

    def __init__(self, spark: Spark, folder: Path, of_spark: str = HDFS) -> None:
        self._spark = spark
        self._folder = folder
        self._of_spark = of_spark

    def batches(self, line: str, queries: Iterable[str]) -> set[str]:
        """Let queries take some batches by a line, and return those that went on.

        Both write the same rows in each batch and leave a sound checkpoint, or both are refused.
        """
        places = [(query, provider) for query in queries for provider in (self._of_spark, HOLDFAST)]
        jobs = [job(self._folder / NAMES[by] / query, by) for query, by in places]
        results = dict(zip(places, go_on_by(line, self._spark, jobs), strict=True))
        for query, provider in places:
            result = results[query, provider]
            other = results[query, self._of_spark]
            assert result["rows"] == other["rows"], (line, query)
            assert (result["error"] is None) == (other["error"] is None), (line, query, result)
            if result["error"] is None:
                assert result["provider"] == provider
                assert verify_checkpoint(self._checkpoint(query, provider)).sound
        return {query for query, by in places if by == HOLDFAST and not results[query, by]["error"]}

    def _checkpoint(self, query: str, provider: str) -> Checkpoint:
        return Checkpoint.open(str(self._folder / NAMES[provider] / query / "checkpoint"))


def test_queries_go_on_at_each_line_on_the_way_up_and_down_where_spark_s_own_does(
    spark: Spark, tmp_path: Path
) -> None:
    query = Moved(spark, tmp_path / "moved")
    for line in LINES:
        assert query.batches(line, QUERIES) == set(QUERIES), line
    went_down: dict[str, set[str]] = {LINES[-1]: set(QUERIES)}
    for above, line in zip(LINES[::-1], LINES[-2::-1], strict=False):
        went_down[line] = query.batches(line, went_down[above])
    assert went_down == {line: set(QUERIES) for line in LINES}


def test_state_of_a_query_s_own_goes_where_it_goes_on_rocksdb(spark: Spark, tmp_path: Path) -> None:
    query = Moved(spark, tmp_path / "moved", ROCKSDB)
    own = [line for line in LINES if line >= "4.0"]
    for line in own:
        assert query.batches(line, OWN_STATE) == set(OWN_STATE), line
    for line in own[-2::-1]:
        if not query.batches(line, OWN_STATE):
            break
