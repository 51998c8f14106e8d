"""Counts test results in the JUnit XML reports that sbt and pytest write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Results:
    """How many tests passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Results) -> Results:
        return Results(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )


def read_reports(paths: Iterable[Path]) -> Results:
    """Return the sum of the test results in JUnit XML files."""
    total = Results()
    for path in paths:
        for suite in ElementTree.parse(path).iter("testsuite"):  # noqa: S314 - our own tools' files
            tests, failures, errors, skipped = (
                int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")
            )
            failed = failures + errors
            total += Results(tests - failed - skipped, failed, skipped)
    return total
