"""Finding Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools.errors import DevError
from devtools.java import Java, find_java, java_in


def make_java(home: Path, *, version: str, compiler: bool = True) -> None:
    """Make a program that answers as `java -XshowSettings:properties -version` does."""
    programs = home / "bin"
    programs.mkdir(parents=True)
    java = programs / "java"
    java.write_text(
        "#!/bin/sh\n"
        f"echo '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
    )
    java.chmod(0o755)
    if compiler:
        (programs / "javac").touch()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a JDK that JAVA_HOME names."""
    folder = tmp_path / "jdk"
    monkeypatch.setenv("JAVA_HOME", str(folder))
    return folder


def test_java_home_is_taken(home: Path) -> None:
    make_java(home, version="21")
    assert find_java().home == home


def test_java_on_the_path_is_taken_without_java_home(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(home, version="17")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert find_java().home == home


@pytest.mark.parametrize(("said", "version"), [("1.8", 8), ("11", 11)])
def test_an_old_java_is_refused_but_runs_tests(home: Path, said: str, version: int) -> None:
    make_java(home, version=said, compiler=False)
    with pytest.raises(DevError, match=f"Java {version}, which is too old .*17 or newer"):
        find_java()
    assert java_in(home) == Java(home=home, version=version)


def test_a_folder_without_java_runs_no_tests(tmp_path: Path) -> None:
    with pytest.raises(DevError, match=f"--java is {tmp_path}.*has bin/java"):
        java_in(tmp_path)


def test_a_runtime_without_compiler_is_refused(home: Path) -> None:
    make_java(home, version="17", compiler=False)
    with pytest.raises(DevError, match="has no compiler"):
        find_java()


def test_a_java_home_without_java_is_named(home: Path) -> None:
    with pytest.raises(DevError, match=f"JAVA_HOME is {home}.*install a Java Development Kit 17"):
        find_java()


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DevError, match="the PATH is searched"):
        find_java()
