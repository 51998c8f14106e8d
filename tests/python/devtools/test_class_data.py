"""The options that JVMs of tests are started with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from devtools.class_data import java_options


def java(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["java", "-XshowSettings:properties", "-version"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
    )


@pytest.mark.spark
def test_options_of_the_machine_stay_and_an_archive_that_is_not_there_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dtheir.own=kept")
    options = java_options(tmp_path / "a folder" / "none.jsa")
    started = java(JAVA_TOOL_OPTIONS=options)
    assert started.stdout == ""
    assert "their.own = kept" in started.stderr
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")
    assert not java_options(tmp_path).startswith(" ")
