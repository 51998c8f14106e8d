"""holdfast_spark.errors, which has every error that the package raises on purpose."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import holdfast_spark
from devtools.api import reference
from harness import search_path
from holdfast_spark import errors
from holdfast_spark.errors import HoldfastError

RAISED = re.compile(r"^- `(\w+)`: ", re.MULTILINE)


def defined() -> Iterator[type[HoldfastError]]:
    """The errors of the package but those of its demonstration, which is no function."""
    for module in pkgutil.walk_packages(holdfast_spark.__path__, "holdfast_spark."):
        if module.name.startswith(("holdfast_spark.demo", "holdfast_spark.__main__")):
            continue
        if module.name.startswith("holdfast_spark.transform"):  # needs pyspark; raises Spark's
            continue
        for thing in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(thing) and issubclass(thing, HoldfastError):
                yield thing


def test_every_error_is_there() -> None:
    for error in defined():
        assert getattr(errors, error.__name__) is error
        assert error.__name__ in errors.__all__


def test_what_a_function_is_said_to_raise_is_there() -> None:
    sections = re.findall(r"^\*\*Raises:\*\*\n\n((?:- .*\n)+)", reference(), re.MULTILINE)
    names = {name for section in sections for name in RAISED.findall(section)}
    assert len(names) > 40
    assert names <= set(errors.__all__)


def test_each_name_is_an_error_with_a_sentence_on_it() -> None:
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, HoldfastError), name
        assert (inspect.getdoc(error) or "").partition("\n")[0].endswith("."), name
    assert set(errors.__all__) <= set(dir(errors))
    with pytest.raises(AttributeError, match="has no attribute 'NoSuchError'"):
        errors.NoSuchError  # type: ignore[attr-defined]  # noqa: B018


def test_they_are_imported_without_what_raises_them() -> None:
    script = (
        "import sys\n"
        "from holdfast_spark.errors import HoldfastError\n"
        "assert 'pyarrow' not in sys.modules\n"
        "from holdfast_spark.errors import *\n"
        "print(*(issubclass(each, HoldfastError) for each in (RunningQueryError, DdlError)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": search_path()},
    )
    assert done.stdout == "True True\n"
