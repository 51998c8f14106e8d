"""Counting test results."""

from pathlib import Path

from devtools.results import Results, read_reports


def test_reports_are_summed(tmp_path: Path) -> None:
    (tmp_path / "sbt.xml").write_text(
        '<testsuite tests="5" errors="1" failures="1" skipped="1"></testsuite>'
    )
    (tmp_path / "pytest.xml").write_text(
        '<testsuites><testsuite errors="0" failures="0" skipped="0" tests="4"/></testsuites>'
    )
    assert read_reports(tmp_path.glob("*.xml")) == Results(passed=6, failed=2, skipped=1)


def test_no_reports_are_no_tests() -> None:
    assert read_reports([]) == Results(0, 0, 0)
