"""The package as a whole."""

import subprocess
import sys


def test_importing_the_package_imports_neither_pyspark_nor_py4j() -> None:
    script = (
        "import sys, holdfast, holdfast.metrics, holdfast.cli.main\n"
        "print(sorted({'pyspark', 'py4j'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
