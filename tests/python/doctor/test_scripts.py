"""spark-env.sh, which Spark's scripts read."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark.doctor.scripts import script_findings
from programs import hanging, program


def told(folder: Path) -> list[str]:
    findings = list(script_findings(folder))
    assert not any(finding.stops for finding in findings)
    return [finding.error for finding in findings]


def test_a_script_that_can_be_read_and_none_are_in_order(tmp_path: Path) -> None:
    assert told(tmp_path) == []
    (tmp_path / "spark-env.sh").write_text("if true; then export A=1; fi\nfalse\n")
    assert told(tmp_path) == []


def test_a_script_that_cannot_be_read_is_told_and_nothing_of_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "spark-env.sh"
    script.write_text(f"touch {ran}\n$(touch {ran})\nfi\n")
    start = tmp_path / "start.sh"
    start.write_text(f"touch {ran}\n")
    monkeypatch.setenv("BASH_ENV", str(start))
    monkeypatch.setenv("LC_ALL", "C")
    (error,) = told(tmp_path)
    assert f"bash cannot read {script} (line 3: syntax error near" in error
    assert "Spark starts without what stands there from that place on. Correct it; bash -n" in error
    assert not ran.exists()


def test_where_bash_is_missing_or_hangs_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-env.sh").write_text("fi\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    assert told(tmp_path) == []
    program(programs / "bash", hanging(tmp_path))
    assert list(script_findings(tmp_path, seconds=0.01)) == []
