"""What spark-submit does not take of PYSPARK_SUBMIT_ARGS, so that Spark does not start."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from holdfast_spark._jars import is_before
from holdfast_spark._launch_settings import (
    OPTIONS_SINCE,
    SHELL,
    SUBMIT_ARGUMENTS,
    SUBMIT_OPTIONS,
    alone_options,
    named_files,
    read_options,
    submit_arguments,
)
from holdfast_spark.doctor.diagnosis import Finding, stop
from holdfast_spark.errors import SubmitArgumentsError


def submit_findings(line: str) -> Iterator[Finding]:
    """Yield what spark-submit stumbles over first, and files of settings that are not there.

    Arguments that cannot be split, or do not end with pyspark-shell, are among what `configure`
    refuses.

    Args:
        line: the Spark line.
    """
    try:
        arguments = submit_arguments()
    except SubmitArgumentsError:
        return
    yield from _lost_files()
    options, others = read_options(arguments)
    given = [*(name for name, _ in options), *alone_options(arguments)]
    for name, since in OPTIONS_SINCE.items():
        if name in given and is_before(line, since):
            yield stop(
                "settings",
                f"{SUBMIT_ARGUMENTS} has {name}, which spark-submit takes since Spark {since}, and "
                f"this is Spark {line}: Spark does not start. Give --properties-file with one file "
                "that has all settings, or --conf.",
            )
            return
    if arguments[-1:] != [SHELL] or others[:1] == [SHELL]:
        return
    if not others:
        error = (
            f"has no value for {options[-1][0]}, which takes {SHELL} in its place: Spark does not "
            "start. Give it a value, or leave it out."
        )
    elif others[0].startswith("-"):
        nearest = difflib.get_close_matches(others[0].partition("=")[0], SUBMIT_OPTIONS, n=1)
        correct = f"Write {nearest[0]}" if nearest else "Correct it"
        error = (
            f"has {others[0]}, which is no option of spark-submit: Spark does not start. "
            f"{correct}, or leave it out."
        )
    else:
        error = (
            f"has {others[0]!r} where an option or {SHELL} is expected, and spark-submit takes it "
            "for the program that it is to run: Spark does not start. Write lists without blanks, "
            "and a value that has some in quotes."
        )
    yield stop("settings", f"{SUBMIT_ARGUMENTS} {error}")


def _lost_files() -> Iterator[Finding]:
    named, extra = named_files()
    for file in (*named[-1:], *extra):
        if not file.is_file():
            yield stop(
                "settings",
                f"{SUBMIT_ARGUMENTS} names {file} as a file of settings, and there is no such "
                "file: Spark does not start. Correct the path, or leave it out.",
            )
