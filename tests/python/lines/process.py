"""Runs the app `go_on`, by the Spark under test or by that of a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness import APPS, Finished, SharedSpark, Spark, search_path

TESTS = APPS.parent
APP = TESTS / "lines" / "go_on.py"


def go_on(spark: SharedSpark, jobs: Iterable[dict[str, Any]]) -> list[Any]:
    """Do the jobs by the Spark under test; return its results."""
    return _results(spark.python(APP, _plan(spark.folder, jobs)))


def go_on_by(line: str, spark: Spark, jobs: Iterable[dict[str, Any]]) -> list[Any]:
    """Do the jobs by the Spark of a line."""
    python = Path(sys.prefix).parent / f"spark-{line}" / "bin" / "python"
    plan = _plan(spark.folder, jobs)
    return _results(spark.python(str(APP), plan, python=python, PYTHONPATH=search_path(TESTS)))


def _plan(folder: Path, jobs: Iterable[dict[str, Any]]) -> Path:
    plan = folder / "plan.json"
    plan.write_text(json.dumps(list(jobs)))
    return plan


def _results(done: Finished) -> list[Any]:
    results = done.result()["results"]
    assert isinstance(results, list)
    return results
