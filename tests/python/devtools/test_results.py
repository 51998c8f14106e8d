"""Reading test results."""

from pathlib import Path

from devtools.results import Results, read_reports


def test_reports_are_summed_and_failures_named(tmp_path: Path) -> None:
    (tmp_path / "sbt.xml").write_text(
        """<testsuite tests="4" errors="1" failures="1" skipped="1">
        <testcase classname="ASuite" name="adds"/>
        <testcase classname="ASuite" name="breaks"><failure message="1 is not 2"/></testcase>
        <testcase classname="ASuite" name="dies"><error message="gone&#10;at"/></testcase>
        <testcase classname="ASuite" name="waits"><skipped/></testcase>
        </testsuite>"""
    )
    (tmp_path / "pytest.xml").write_text(
        """<testsuites><testsuite errors="0" failures="0" skipped="0" tests="1">
        <testcase classname="test_a" name="test_b"/>
        </testsuite></testsuites>"""
    )
    assert read_reports(tmp_path.glob("*.xml")) == Results(
        passed=2, failures=("ASuite: breaks: 1 is not 2", "ASuite: dies: gone"), skipped=1
    )


def test_no_reports_are_no_tests() -> None:
    assert read_reports([]) == Results()
