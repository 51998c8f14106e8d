"""What tests start processes with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness import ROOT, search_path, spark_variables


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
