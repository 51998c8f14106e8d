"""Where the sources are: stated once, and then in all that is published."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devtools.release import command
from devtools.release.command import ReleaseError, release
from devtools.release.publishing import REPOSITORY, repository_url
from devtools.release.python_package import wheel_problems
from devtools.site.command import with_sources
from devtools.workshop import Workshop
from harness import ROOT
from holdfast_spark import __version__

ADDRESS = "https://example.org/holdfast"
URLS = f'[project.urls]\nDocs = "https://example.org"\nRepository = "{ADDRESS}" # the sources\n\n'
JAR = f"holdfast-spark_4.2_2.13-{__version__}.jar"
UNKNOWN = "python/pyproject.toml does not say where the sources are"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with the package as it is, of one jar and little else."""
    made = tmp_path / "made"
    package = made / "python"
    jars = package / "src" / "holdfast_spark" / "jars"
    jars.mkdir(parents=True)
    (jars / JAR).touch()
    for name in ("pyproject.toml", "hatch_build.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / "python" / name, package)
    for name in ("__init__.py", "_version.py"):
        shutil.copy(ROOT / "python" / "src" / "holdfast_spark" / name, jars.parent)
    shutil.copy(ROOT / "CHANGELOG.md", made)
    (made / "project").mkdir()
    (made / "project" / "spark-lines.json").write_text(
        '[{"line": "4.2", "scala": "2.13.18", "java": "17", "jars": "maven", "pyspark": "4.2.0"}]'
    )
    return made


def state_it(root: Path) -> None:
    pyproject = root / "python" / "pyproject.toml"
    before, table, after = pyproject.read_text().partition("[project.scripts]")
    assert table
    pyproject.write_text(before + URLS + table + after)


def nothing(_: Path) -> None:
    pass


@pytest.mark.parametrize(("state", "address"), [(nothing, None), (state_it, ADDRESS)])
def test_the_wheel_has_the_address(
    root: Path, state: Callable[[Path], None], address: str | None
) -> None:
    state(root)
    assert repository_url(root) == address
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", root / "wheel"],
        check=True,
        cwd=root / "python",
        capture_output=True,
    )
    (wheel,) = (root / "wheel").iterdir()
    licence = (ROOT / "LICENSE").read_bytes()
    assert list(wheel_problems(wheel, jars=[JAR], licence=licence, address=address)) == []
    (problem,) = wheel_problems(wheel, jars=[JAR], licence=licence, address="https://other.org")
    assert f"the sources at {address} and not at https://other.org" in problem


def test_the_pom_has_it_from_the_same_place() -> None:
    assert f'"""{REPOSITORY.pattern}""".r' in (ROOT / "project" / "Publishing.scala").read_text()


@pytest.mark.parametrize(
    "text",
    [
        '[project.urls]\nRepository = "git@example.org:holdfast"\n',
        '[project.urls]\n[tool.x]\nRepository = "https://example.org"\n',
        '[tool.x]\nRepository = "https://example.org"\n',
    ],
)
def test_what_is_no_address_of_sources_is_not_taken_for_one(root: Path, text: str) -> None:
    (root / "python" / "pyproject.toml").write_text(text)
    assert repository_url(root) is None


def test_the_site_has_it_in_its_navigation() -> None:
    settings = (ROOT / "docs" / "mkdocs.yml").read_text()
    assert with_sources(settings, None) == settings
    *before, last = settings.splitlines()
    *same, page, link = with_sources(settings, ADDRESS).splitlines()
    assert (same, page) == (before, last)
    # Beside the last page, which every page of the navigation is like.
    assert link.partition("-")[0] == last.partition("-")[0]
    assert link.strip() == f"- Sources: {ADDRESS}"


def test_without_it_nothing_is_published_and_a_release_is_made(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Made:
        folder = root / "release"

        def __init__(self, workshop: Workshop) -> None:
            print(f"made {workshop.version}")

        def make(self) -> None:
            pass

        check = make

        def files(self) -> list[Path]:
            return []

    monkeypatch.setattr(command, "_Release", Made)
    monkeypatch.setenv("HOME", str(root))
    with pytest.raises(ReleaseError, match=f"Nothing was published.*\n  {UNKNOWN}"):
        release(Workshop(root), publish=True)
    assert capsys.readouterr().out == ""
    assert release(Workshop(root), publish=False) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"made {__version__}")
    assert f"It is not published, and before it can be:\n  {UNKNOWN}" in told
    state_it(root)
    assert release(Workshop(root), publish=False) == 0
    assert UNKNOWN not in capsys.readouterr().out
