"""A query moved from line to line, with its checkpoint: up through all of them, and down again."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness import ROOT, Finished, Spark
from holdfast_spark import _jars

APP = Path(__file__).parent / "apps" / "count_on.py"

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.usefixtures("no_spark_settings"),
]


def lines() -> list[str]:
    entries = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    return [entry["line"] for entry in entries if "pyspark" in entry]


class Moved:
    """A query that counts words, in one folder, by whichever Spark."""

    def __init__(self, spark: Spark, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._expected: Counter[str] = Counter()
        (folder / "words").mkdir(parents=True)

    def batch(self, line: str, *options: str) -> Finished:
        """Let the query of a line take one more file."""
        words = ["to", "be", f"in {line}"]
        number = len(list((self._folder / "words").iterdir()))
        (self._folder / "words" / f"{number}.txt").write_text("\n".join(words) + "\n")
        self._expected.update(words)
        python = Path(sys.prefix).parent / f"spark-{line}" / "bin" / "python"
        return self._spark.python(str(APP), self._folder, *options, python=python)

    def check(self, result: dict[str, Any]) -> None:
        assert result["counted"] == self._expected


@pytest.fixture(autouse=True)
def _on_the_newest_line_alone() -> None:
    """The moves start the Spark of every line themselves."""
    if _jars.installed_spark_line() != lines()[-1]:
        pytest.skip("runs in the environment of the newest line")


def moved_on(query: Moved, through: Iterable[str], *options: str) -> list[str]:
    """Return the lines that went on with the query, to the first that does not."""
    went_on = []
    for line in through:
        done = query.batch(line, *options)
        if done.code != 0:
            break
        query.check(done.result())
        went_on.append(line)
    return went_on


def test_a_query_goes_on_at_each_line_on_the_way_up(spark: Spark, tmp_path: Path) -> None:
    query = Moved(spark, tmp_path / "up")
    assert moved_on(query, lines(), "--configure") == lines()


def test_a_query_goes_down_as_far_as_with_spark_s_own_provider(
    spark: Spark, tmp_path: Path
) -> None:
    down = lines()[::-1]
    by_spark = moved_on(Moved(spark, tmp_path / "spark"), down)
    by_holdfast = moved_on(Moved(spark, tmp_path / "holdfast"), down, "--configure")
    assert by_holdfast == by_spark
    assert by_spark[0] == down[0]
