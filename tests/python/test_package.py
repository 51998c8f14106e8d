"""The package as a whole."""

import re
import subprocess
import sys
from importlib.metadata import distribution

import holdfast_spark as holdfast
from harness import ROOT
from holdfast_spark import __version__


def test_importing_the_package_imports_neither_pyspark_nor_py4j() -> None:
    script = (
        "import sys, holdfast_spark, holdfast_spark.metrics, holdfast_spark.cli.main\n"
        "print(sorted({'pyspark', 'py4j'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"


def test_what_messages_name_is_in_the_package() -> None:
    assert callable(holdfast.configure)
    assert callable(holdfast.metrics.progress_metrics)


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast_spark", "--version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"holdfast {__version__}\n"
    (command,) = distribution("holdfast-spark").entry_points.select(group="console_scripts")
    assert command.name == "holdfast"


def test_nothing_that_people_read_tells_them_to_install_another_project_of_that_name() -> None:
    # Below jvm/ there are also folders of tests that run at the same time.
    sources = ("*.md", "core/src/**/*", "spark/src/**/*", "bench/src/**/*")
    jvm = [path for pattern in sources for path in (ROOT / "jvm").glob(pattern)]
    folders = (ROOT / "python" / "src", ROOT / "docs", ROOT / "conf")
    texts = [
        path
        for path in (*jvm, *(path for folder in folders for path in folder.rglob("*")))
        if path.suffix in {".py", ".md", ".template", ".jinja", ".scala"}
    ]
    others = [
        f"{path}: {line}"
        for path in (ROOT / "README.md", ROOT / "python" / "README.md", *texts)
        for line in path.read_text().splitlines()
        if re.search(r"\binstall\b[^`]*\bholdfast\b(?![-_]spark)", line)
        or re.search(r"\bholdfast\[[a-z]", line)
    ]
    assert others == []
