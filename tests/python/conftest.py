"""Fixtures for all tests."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from harness import Served, SharedSpark, Spark, is_since
from holdfast_spark.errors import HoldfastError

# A full stop behind a full stop or before a comma, two blanks, a blank before a comma; but not
# `...`, `../` and `.delta`.
_BADLY_PUT = re.compile(
    r"(?<![./])\.\.(?![./])|(?<!\.\.)[.,:;] ?[,:;]|[,:;] ?\.(?![\w.])|\S  \S| [,:;](\s|$)"
)
# What is found in a file stands in quotes, whole or cut off, and is as it is; `Spark's` has none.
_QUOTED = re.compile(r"""(?<!\w)(['"])(\\.|(?!\1).)*(\1(?!\w)|(?=[.:]$))""")


if "mix_stderr" in inspect.signature(CliRunner).parameters:  # before click 8.2
    CliRunner.__init__ = functools.partialmethod(  # type: ignore[method-assign,assignment]
        CliRunner.__init__,
        mix_stderr=False,
    )


@pytest.fixture(scope="session", autouse=True)
def _sentences() -> Iterator[None]:
    """Look at the text of every error that any test meets: it is well put and has an end."""
    made = HoldfastError.__init__

    def looked_at(error: HoldfastError, *arguments: object) -> None:
        made(error, *arguments)
        text, *settings = str(error).split("\n")
        assert not _BADLY_PUT.search(_QUOTED.sub("''", text)), text
        assert text.endswith(":" if settings else "."), text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HoldfastError, "__init__", looked_at)
        yield


@pytest.fixture
def thing_repository(tmp_path: Path) -> Path:
    """A Maven repository with one artifact, org.example:thing:1.0, whose jar is empty."""
    repository = tmp_path / "repository"
    folder = repository / "org" / "example" / "thing" / "1.0"
    folder.mkdir(parents=True)
    with ZipFile(folder / "thing-1.0.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    (folder / "thing-1.0.pom").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>"
        "<artifactId>thing</artifactId><version>1.0</version></project>"
    )
    return repository


@pytest.fixture
def spark(tmp_path: Path) -> Spark:
    return Spark(tmp_path)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    process = Served(tmp_path_factory.mktemp("served"))
    yield process
    process.close()


@pytest.fixture
def shared_spark(served: Served, tmp_path: Path) -> SharedSpark:
    return SharedSpark(tmp_path, served)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what the Spark under test has not."""
    for mark in item.iter_markers("since"):
        line, what = mark.args
        if not is_since(line):
            pytest.skip(f"Spark has {what} from {line} on")


@pytest.fixture
def no_spark_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Settings of the machine out of the way; returns an empty conf folder in force."""
    for name in (
        *("PYSPARK_SUBMIT_ARGS", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"),
        *("SPARK_HOME", "SPARK_REMOTE", "SPARK_API_MODE", "MASTER"),
    ):
        monkeypatch.delenv(name, raising=False)
    # Code under test sets it; setting it here makes sure that it is unset afterwards.
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    folder = tmp_path / "spark-conf"
    folder.mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    return folder
