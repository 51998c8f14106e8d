"""The wheel: what is in it, and a session from it alone."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from harness import ROOT, Spark, check_word_counts
from holdfast_spark import __version__

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder],
        check=True,
        cwd=ROOT / "python",
        capture_output=True,
    )
    return next(folder.iterdir())


def test_the_wheel_has_the_jars_of_all_lines_all_modules_the_licence_and_nothing_else(
    wheel: Path,
) -> None:
    lines = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    artifacts = [f"{entry['line']}_{entry['scala'].rpartition('.')[0]}" for entry in lines]
    jars = {f"holdfast_spark/jars/holdfast-spark_{name}-{__version__}.jar" for name in artifacts}
    source = ROOT / "python" / "src"
    modules = {
        str(path.relative_to(source))
        for path in (source / "holdfast_spark").rglob("*")
        if path.is_file() and not {"jars", "__pycache__"} & {*path.relative_to(source).parts}
    }
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert f"holdfast_spark-{__version__}.dist-info/licenses/LICENSE" in names
    assert {name for name in names if not name.startswith("holdfast_spark-")} == jars | modules


def test_classes_are_for_the_oldest_java_that_their_spark_runs_on(wheel: Path) -> None:
    lines = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    needed = {f"{e['line']}_{e['scala'].rpartition('.')[0]}": int(e["java"]) for e in lines}
    found: dict[str, set[int]] = {}
    with ZipFile(wheel) as archive:
        for path in archive.namelist():
            if path.endswith(".jar"):
                artifact = path.rpartition("holdfast-spark_")[2].removesuffix(f"-{__version__}.jar")
                found[artifact] = javas(ZipFile(archive.open(path)))
    assert found == {artifact: {java} for artifact, java in needed.items()}


def javas(jar: ZipFile) -> set[int]:
    """Return the Javas that the class files of a jar are for."""
    classes = [jar.read(name) for name in jar.namelist() if name.endswith(".class")]
    # Major version 52, in the bytes 6 and 7, is Java 8's.
    return {int.from_bytes(content[6:8], "big") - 44 for content in classes}


@pytest.mark.slow
@pytest.mark.usefixtures("no_spark_settings")
def test_a_session_starts_from_the_wheel_in_an_empty_environment(wheel: Path, spark: Spark) -> None:
    """Only pyspark and the libraries that the package needs come from this environment."""
    folder = spark.folder / "venv"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel],
        check=True,
        capture_output=True,
    )
    packages = next(folder.glob("lib/python*/site-packages"))
    # A folder named in a .pth file has its own .pth files ignored: the checkout stays out of it.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(libraries))
    result = spark.python(
        *("count_words.py", spark.folder / "run", "--configure"), python=python, PYTHONPATH=""
    ).result()
    check_word_counts(result)
    assert Path(result["package"]).is_relative_to(packages)
    version = subprocess.run(
        [folder / "bin" / "holdfast", "--version"], check=True, capture_output=True, text=True
    )
    assert version.stdout == f"holdfast {__version__}\n"
