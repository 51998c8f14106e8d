"""Starts the app `go_on`, by the Spark of a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness import APPS, Spark, search_path

TESTS = APPS.parent


def go_on(spark: Spark, jobs: Iterable[dict[str, Any]], line: str | None = None) -> list[Any]:
    """Do the jobs by the Spark of a line, that under test for None; return its results."""
    plan = spark.folder / "plan.json"
    plan.write_text(json.dumps(list(jobs)))
    python = Path(sys.prefix).parent / f"spark-{line}" / "bin" / "python" if line else None
    app = TESTS / "lines" / "go_on.py"
    path = search_path(TESTS)
    done = spark.python(str(app), plan, python=python or sys.executable, PYTHONPATH=path)
    results = done.result()["results"]
    assert isinstance(results, list)
    return results
