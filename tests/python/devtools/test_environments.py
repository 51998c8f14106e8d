"""The environments of Spark lines, without what pip would put into them."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from devtools import environments
from devtools.steps import Log, Steps
from harness import ROOT

FILES = ("python/pyproject.toml", "python/requirements", "python/src/holdfast_spark/_version.py")


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    run = Log.run

    def without_pip(log: Log, *command: str | Path, env: Mapping[str, str] | None = None) -> None:
        if "pip" not in command:
            run(log, *command, "--without-pip", env=env)

    monkeypatch.setattr(Log, "run", without_pip)
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    return Steps(folder=tmp_path / ".dev", terminal=io.StringIO())


def test_a_line_sees_the_libraries_of_the_tools_behind_its_own(
    steps: Steps, tmp_path: Path
) -> None:
    tools = environments.tools_environment(tmp_path, steps)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "linked.py").touch()
    (tools.packages / "linked.pth").write_text(str(tmp_path / "linked"))
    for name in ("shared", "older"):
        (tools.packages / f"{name}.py").write_text("place = 'tools'")
    line = environments.spark_environment(tmp_path, steps, environments.spark_lines(ROOT)[0])
    (line.packages / "older.py").write_text("place = 'line'")
    shown = subprocess.run(
        [line.program("python"), "-c", "import linked, older, shared; print(older.place)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout == "line\n"


def test_the_oldest_libraries_are_those_of_the_package_and_no_others(
    steps: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(
        Log, "run", lambda _, *command, **__: installed.extend(w for w in command if "==" in str(w))
    )
    monkeypatch.setattr(steps, "do", lambda _name, make, **_: make(Log))
    environments.oldest_environment(tmp_path, steps)
    text = (tmp_path / "python" / "pyproject.toml").read_text()
    asked = text.partition("\ndependencies = [\n")[2].partition("\n]")[0]
    assert asked.replace(">=", "==").split() == [f'"{library}",' for library in installed]
