"""The Pythons that Spark starts, as the environment names them."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from holdfast_spark._jars import is_before
from holdfast_spark._programs import SECONDS_TO_ANSWER, answer_of
from holdfast_spark._text import cause_text
from holdfast_spark.doctor.diagnosis import Finding, warning

_OF_WORKERS = "PYSPARK_PYTHON"
_OF_DRIVERS = "PYSPARK_DRIVER_PYTHON"
_LOST = {
    _OF_WORKERS: "functions and transformWithState in Python fail with it",
    _OF_DRIVERS: "spark-submit and the command pyspark start drivers with it, and fail",
}
_OTHER = {
    _OF_WORKERS: "Spark refuses functions and transformWithState in Python where the two differ",
    _OF_DRIVERS: "drivers that spark-submit and the command pyspark start are of another Python",
}
# Before it `pyspark.sql.pandas.utils` compares versions by a module of Python's that is gone.
_WITHOUT_DISTUTILS = "4.0"
# What brings the programs that are often started in place of a Python, by how they begin.
_PACKAGES = {"jupyter": "jupyterlab", "ipython": "ipython"}
_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"
_ANSWER = re.compile(r"(?P<version>\d+\.\d+)\s*")


def python_findings(
    line: str, *, in_cluster: bool, seconds: float = SECONDS_TO_ANSWER
) -> Iterator[Finding]:
    """Yield what is wrong with this Python and those of PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON.

    Args:
        line: the Spark line.
        in_cluster: the session has executors, whose machines may have what this one has not.
        seconds: how long each may take to say its version.
    """
    if is_before(line, _WITHOUT_DISTUTILS) and importlib.util.find_spec("distutils") is None:
        yield warning(
            "Python",
            f"pyspark {line} needs distutils for functions in pandas, such as "
            "applyInPandasWithState, and Python has it no more from 3.12 on: run pip install "
            "setuptools, which brings it, here and where the workers run.",
        )
    if (named := os.environ.get(_OF_WORKERS)) is not None:
        # An archive that the executors unpack has it: `./environment/bin/python`.
        elsewhere = in_cluster and os.sep in named and not Path(named).is_absolute()
        if not elsewhere:
            yield from _findings(_OF_WORKERS, named, elsewhere=in_cluster, seconds=seconds)
    if named := os.environ.get(_OF_DRIVERS):
        yield from _findings(_OF_DRIVERS, named, elsewhere=False, seconds=seconds)


def _findings(variable: str, named: str, *, elsewhere: bool, seconds: float) -> Iterator[Finding]:
    here = f"Set it to {sys.executable}"
    name = Path(named).name
    if not shutil.which(named):
        unless = ", unless the machines of the executors have it" if elsewhere else ""
        package = next((its for begin, its in _PACKAGES.items() if name.startswith(begin)), None)
        install = f"Install it with pip install {package}. Otherwise: " if package else ""
        yield warning(
            "Python",
            f"{variable} is {named!r}, and there is no such program on this machine: "
            f"{_LOST[variable]}. {install}{here}{unless}.",
        )
        return
    if variable == _OF_DRIVERS and not name.startswith("python"):
        return  # such as jupyter, which is a program that takes other arguments
    version, failure = _version(named, seconds=seconds)
    this = "{}.{}".format(*sys.version_info)
    if failure:
        yield warning(
            "Python", f"{variable} is {named!r}, and {failure}: {_LOST[variable]}. {here}."
        )
    elif version != this:
        yield warning(
            "Python",
            f"{variable} is {named!r}, which is Python {version}, and this is Python {this}: "
            f"{_OTHER[variable]}. {here}, or use Python {version} here.",
        )


def _version(program: str, *, seconds: float) -> tuple[str | None, str | None]:
    """Return the minor version of a Python, or why it has told none."""
    try:
        said = answer_of([program, "-c", _ASK], seconds=seconds)
    except subprocess.TimeoutExpired:
        return None, f"it has not said its version in {seconds:g} seconds"
    except OSError as error:
        return None, f"it does not start ({cause_text(error)})"
    found = _ANSWER.fullmatch(said.stdout)
    return (found["version"], None) if found else (None, "it is no Python that says its version")
