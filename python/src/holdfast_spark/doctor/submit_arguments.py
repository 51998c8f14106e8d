"""What spark-submit does not take of PYSPARK_SUBMIT_ARGS, so that Spark does not start."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from holdfast_spark._launch_settings import (
    SHELL,
    SUBMIT_ARGUMENTS,
    SUBMIT_OPTIONS,
    read_options,
    submit_arguments,
)
from holdfast_spark.doctor.diagnosis import Finding, stop
from holdfast_spark.errors import SubmitArgumentsError


def submit_findings() -> Iterator[Finding]:
    """Yield what spark-submit stumbles over first.

    Arguments that cannot be split, or do not end with pyspark-shell, are among what `configure`
    refuses.
    """
    try:
        arguments = submit_arguments()
    except SubmitArgumentsError:
        return
    options, others = read_options(arguments)
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
