"""What tests start processes with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import ROOT, SharedSpark, search_path, spark_variables

_APP = """
import json, os, sys
from pyspark.sql import SparkSession
assert SparkSession.getActiveSession() is None
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("before")
assert sys.argv[1] == "goes well", "as it was told"
print(json.dumps({"rows": spark.range(3).count(), "in": os.getcwd()}))
"""


@pytest.mark.parametrize("how", ["for Spark", "with folders"])
def test_processes_have_the_package_of_this_tree(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever package an environment has, or a variable names."""
    (tmp_path / "holdfast_spark.py").touch()
    (tmp_path / "further.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    variables = spark_variables()
    if how == "with folders":
        variables["PYTHONPATH"] = search_path(tmp_path / "none")
    code = "import holdfast_spark, further; print(holdfast_spark.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=variables
    )
    assert Path(done.stdout.strip()).is_relative_to(ROOT / "python" / "src")


def test_so_do_the_tests_themselves() -> None:
    assert Path(str(sys.modules["holdfast_spark"].__file__)).is_relative_to(ROOT / "python")


@pytest.mark.spark
@pytest.mark.slow
def test_an_app_finds_nothing_of_those_that_shared_its_process_also_if_one_failed(
    shared_spark: SharedSpark, tmp_path: Path
) -> None:
    app = tmp_path / "app.py"
    app.write_text(_APP)
    failed = shared_spark.python(app, "fails")
    assert (failed.code, failed.out) == (1, "before\n")
    assert "AssertionError: as it was told" in failed.err
    assert shared_spark.python(app, "goes well").result() == {"rows": 3, "in": str(tmp_path)}
