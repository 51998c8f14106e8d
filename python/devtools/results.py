"""Reads test results from the JUnit XML reports that sbt and pytest write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Results:
    """The results of tests.

    Attributes:
        passed: how many passed.
        failures: the names of those that failed, with the reason.
        skipped: how many were not run, or are pending.
    """

    passed: int = 0
    failures: tuple[str, ...] = ()
    skipped: int = 0

    def __add__(self, other: Results) -> Results:
        return Results(
            self.passed + other.passed, self.failures + other.failures, self.skipped + other.skipped
        )


def read_reports(paths: Iterable[Path]) -> Results:
    """Return the sum of the test results in JUnit XML files."""
    total = Results()
    for path in sorted(paths):
        for test in ElementTree.parse(path).iter("testcase"):  # noqa: S314 - our own tools' files
            total += _result(test)
    return total


def _result(test: ElementTree.Element) -> Results:
    for failure in (*test.iter("failure"), *test.iter("error")):
        reason = (failure.get("message") or "").partition("\n")[0]
        return Results(failures=(f"{test.get('classname')}: {test.get('name')}: {reason}",))
    if test.find("skipped") is not None:
        return Results(skipped=1)
    return Results(passed=1)
