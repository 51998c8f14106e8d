"""A wheel is not built without the jars."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import ROOT
from holdfast_spark import __version__


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of the repository as a wheel is built from, without jars."""
    for name in ("python/pyproject.toml", "python/hatch_build.py", "python/README.md", "LICENSE"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "LICENSE", tmp_path / "python" / "LICENSE")
    package = tmp_path / "python/src/holdfast_spark"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "python/src/holdfast_spark/_version.py", package)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "spark-lines.json").write_text('[{"line": "4.2"}, {"line": "4.3"}]')
    return tmp_path


def built(checkout: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "wheels"]
    return subprocess.run(
        words, check=False, cwd=checkout / "python", capture_output=True, text=True
    )


def add_jar(checkout: Path, line: str, version: str = __version__) -> None:
    folder = checkout / "python/src/holdfast_spark/jars"
    folder.mkdir(exist_ok=True)
    (folder / f"holdfast-spark_{line}_2.13-{version}.jar").touch()


def test_a_wheel_needs_the_jars_of_all_lines(checkout: Path) -> None:
    add_jar(checkout, "4.2", version="0.0.1")
    for missing in ("4.2, 4.3", "4.3"):
        done = built(checkout)
        assert done.returncode != 0
        said = done.stdout + done.stderr
        assert f"for Spark {missing}: run ./dev build in the repository first." in said
        assert "Traceback" not in said
        add_jar(checkout, missing[:3])
    done = built(checkout)
    assert done.returncode == 0, done.stderr
    assert len(list((checkout / "python/wheels").iterdir())) == 1
