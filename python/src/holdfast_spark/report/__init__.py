"""A checkpoint and how it came to be what it is, as figures and as a page with plots.

    from holdfast_spark.checkpoint import Checkpoint
    from holdfast_spark.report import make_report, write_page

    found = make_report(Checkpoint.open("/data/checkpoints/clicks"))
    write_page(found, "clicks.html")

`make_report` needs nothing more than the checkpoint; the page needs the extra `report`, that is
`pip install 'holdfast-spark[report]'`.
"""

import importlib
import os

from holdfast_spark._arguments import instance, require_arguments
from holdfast_spark.checkpoint import Location
from holdfast_spark.checkpoint.files.location import PLACE
from holdfast_spark.errors import HoldfastError
from holdfast_spark.report.place import require_place
from holdfast_spark.report.report import Report, make_report

__all__ = [
    "Location",
    "MissingExtraError",
    "Report",
    "make_report",
    "require_extra",
    "require_place",
    "write_page",
]


class MissingExtraError(HoldfastError):
    """What the page of a report is made with is not installed."""


def write_page(report: Report, file: Location | str | os.PathLike[str]) -> None:
    """Write a report as an HTML page, in one step: the file is there as a whole or as it was.

    Args:
        report: the report.
        file: where the page goes, in any file system that fsspec knows: a path or URL, or a
            `Location` where its file system needs options.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
        UnreadablePathError: the file system refuses the file.
    """
    require_arguments(
        "report.write_page",
        report=(report, instance("a Report, as make_report returns it", Report)),
        file=(file, PLACE),
    )
    require_extra()
    from holdfast_spark.report.page import page

    Location.of(file).replace(page(report).encode())


def require_extra() -> None:
    """Check that what the page is made with is installed.

    Raises:
        MissingExtraError: it is not.
    """
    missing = [name for name in ("jinja2", "matplotlib") if not _is_there(name)]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise MissingExtraError(
            f"The page of holdfast report needs {' and '.join(missing)}, which {are} not "
            f"installed: run pip install {' '.join(missing)}, or use --json without --output."
        )


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
