"""The folder that a run of the demo works in: the user's, or a temporary one."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from holdfast_spark.demo.errors import DemoUsageError
from holdfast_spark.demo.plan import Layout


def open_work_folder(given: Path | None) -> Layout:
    """Return an empty folder to work in: `given`, made if it does not exist, or a temporary one.

    Raises:
        DemoUsageError: the folder is not empty, or cannot be made.
    """
    if given is None:
        return Layout(Path(tempfile.mkdtemp(prefix="holdfast-demo-")).resolve())
    try:
        given.mkdir(parents=True, exist_ok=True)
        empty = not any(given.iterdir())
    except OSError as error:
        raise DemoUsageError(f"--work {given} cannot be a folder: {error.strerror}") from error
    if not empty:
        raise DemoUsageError(
            f"--work {given} is not empty: give a new folder, for the demo overwrites nothing"
        )
    return Layout(given.resolve())


def close_work_folder(layout: Layout, *, keep: bool) -> None:
    """Delete the whole folder, or only Spark's temporary files in it."""
    shutil.rmtree(layout.scratch if keep else layout.work, ignore_errors=True)
