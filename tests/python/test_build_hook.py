"""A wheel and an sdist are not built without the jars, and have what belongs there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from devtools.release.python_package import sdist_problems, wheel_problems
from harness import ROOT
from holdfast_spark import __version__

LICENCE = (ROOT / "LICENSE").read_bytes()
JARS = [f"holdfast-spark_3.5_{scala}-{__version__}.jar" for scala in ("2.12", "2.13")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of the repository as a wheel is built from, without jars."""
    package_files = ("pyproject.toml", "hatch_build.py", "README.md")
    for name in (*(f"python/{file}" for file in package_files), "LICENSE", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "python" / "LICENSE", tmp_path / "python", follow_symlinks=False)
    package = tmp_path / "python/src/holdfast_spark"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "python/src/holdfast_spark/_version.py", package)
    (tmp_path / "project").mkdir()
    lines = '[{"line": "3.5", "scala": "2.12.18"}, {"line": "3.5", "scala": "2.13.8"}]'
    (tmp_path / "project" / "spark-lines.json").write_text(lines)
    return tmp_path


def built(checkout: Path, kind: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "build", kind, "--no-isolation", "--outdir", "built"]
    return subprocess.run(
        words, check=False, cwd=checkout / "python", capture_output=True, text=True
    )


def add_jar(checkout: Path, scala: str, version: str = __version__) -> None:
    folder = checkout / "python/src/holdfast_spark/jars"
    folder.mkdir(exist_ok=True)
    (folder / f"holdfast-spark_3.5_{scala}-{version}.jar").touch()


def test_a_wheel_and_an_sdist_need_the_jars_of_all_lines_and_scalas(checkout: Path) -> None:
    add_jar(checkout, "2.12", version="0.0.1")
    for missing in ("3.5 with Scala 2.12, 3.5 with Scala 2.13", "3.5 with Scala 2.13"):
        for kind in ("--wheel", "--sdist"):
            done = built(checkout, kind)
            assert done.returncode != 0
            said = done.stdout + done.stderr
            assert f"for Spark {missing}: run ./dev build in the repository first." in said
            assert "Traceback" not in said
        add_jar(checkout, missing.removeprefix("3.5 with Scala ")[:4])
    done = built(checkout, "--wheel")
    assert "has holdfast-spark_3.5_2.12-0.0.1.jar of another version: run" in done.stderr
    (checkout / "python/src/holdfast_spark/jars/holdfast-spark_3.5_2.12-0.0.1.jar").unlink()
    # What can be installed from the index is made from the sdist, outside of the repository.
    done = built(checkout, "--sdist")
    assert done.returncode == 0, done.stderr
    (sdist,) = (checkout / "python/built").iterdir()
    assert list(sdist_problems(sdist, jars=JARS, licence=LICENCE)) == []
    with tarfile.open(sdist) as archive:
        archive.extractall(checkout / "elsewhere", filter="data")
    (checkout / "python").rename(checkout / "gone")
    (checkout / "elsewhere" / sdist.name.removesuffix(".tar.gz")).rename(checkout / "python")
    shutil.rmtree(checkout / "project")
    done = built(checkout, "--wheel")
    assert done.returncode == 0, done.stderr
    (wheel,) = (checkout / "python/built").iterdir()
    assert list(wheel_problems(wheel, jars=JARS, licence=LICENCE)) == []
