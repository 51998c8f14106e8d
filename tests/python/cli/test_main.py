"""The command line."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from zipfile import ZipFile

import click
import pytest
from click.testing import CliRunner, Result

from harness import ROOT
from holdfast_spark import __version__, _jars
from holdfast_spark.cli import main as cli
from holdfast_spark.errors import PySparkNotInstalledError


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_jars, "JARS_FOLDER", tmp_path)
    path = tmp_path / f"holdfast-spark_4.2_2.13-{__version__}.jar"
    with ZipFile(path, "w") as archive:
        archive.writestr("io/holdfast/holdfast.properties", "sparkLine=4.2\noldestSpark=4.2.1\n")
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, arguments)


def test_the_version_is_printed() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"holdfast {__version__}\n"


def test_the_path_of_a_jar_is_printed(jar: Path) -> None:
    result = run("jar", "--spark", "4.2")
    assert result.exit_code == 0
    assert result.stdout == f"{jar}\n"
    for version in ("4.2.1", "4.2.3-amzn-0"):
        assert run("jar", "--spark", version).stdout == f"{jar}\n"
    result = run("jar", "--spark", "4.2", "--json")
    assert json.loads(result.stdout) == {"line": "4.2", "scala": "2.13", "path": str(jar)}


@pytest.mark.usefixtures("jar")
def test_without_a_line_the_jar_is_the_one_for_the_installed_pyspark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "installed_spark_version", lambda: "4.9.1")
    result = run("jar")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Holdfast has no jar for Spark 4.9; it has jars for")


@pytest.mark.usefixtures("jar")
def test_a_jar_that_does_not_fit_a_release_of_its_line_is_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = "Error: This is Spark 4.2.0, and the jar for its line needs 4.2.1 or newer"
    assert run("jar", "--spark", "4.2.0").stderr.startswith(refused)
    monkeypatch.setattr(cli, "installed_spark_version", lambda: "4.2.0")
    assert run("jar").stderr.startswith(refused)


@pytest.mark.usefixtures("jar")
def test_a_line_that_was_named_and_has_no_jar_is_to_be_named_otherwise() -> None:
    result = run("jar", "--spark", "x")
    assert result.exit_code == 1
    assert result.stderr.endswith("Spark x; it has jars for Spark 4.2: name one of these.\n")


@pytest.mark.spark
def test_the_line_of_the_installed_pyspark_has_a_jar() -> None:
    result = run("jar")
    assert result.exit_code == 0
    assert Path(result.stdout.strip()).is_file()


@pytest.mark.usefixtures("jar")
def test_an_error_is_one_line_on_standard_error_and_a_traceback_only_when_asked_for() -> None:
    result = run("jar", "--spark", "1.0")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    result = run("--verbose", "jar", "--spark", "1.0")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_an_unexpected_error_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr(cli, "installed_spark_version", fail)
    result = run("jar")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: ValueError: first line (holdfast --verbose shows where it comes from)\n"
    )


@pytest.mark.parametrize("arguments", [["--unknown"], ["unknown"], ["jar", "--spark"]])
def test_wrong_usage_has_its_own_exit_code(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error: " in result.stderr


@pytest.mark.parametrize("name", sorted(cli.main.commands))
def test_every_command_has_help_and_stands_in_the_readme(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert cli.main.commands[name].help
    assert f"`holdfast {name}" in (ROOT / "python" / "README.md").read_text()


def test_the_help_has_a_whole_line_for_each_command() -> None:
    lines = run("--help").stdout.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in lines] == list(cli.main.commands)
    assert not [line for line in lines if "..." in line]


@pytest.mark.parametrize("name", sorted(cli.main.commands))
def test_every_option_has_help(name: str) -> None:
    for parameter in cli.main.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"holdfast {name} {parameter.opts[0]}"


@pytest.mark.usefixtures("jar")
def test_without_pyspark_a_jar_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise PySparkNotInstalledError

    monkeypatch.setattr(cli, "installed_spark_version", fail)
    assert run("jar").stderr.endswith("or name the line with --spark, one of 4.2.\n")
    assert run("jar", "--spark", "4.2").exit_code == 0


def test_a_handler_of_sigterm_is_there_while_a_command_runs_and_no_longer() -> None:
    seen: list[object] = []

    @cli.main.command("look", hidden=True)
    def look() -> None:
        seen.append(signal.getsignal(signal.SIGTERM))

    def theirs(_signal: int, _frame: object) -> None:
        """Be of somebody else."""

    before = signal.getsignal(signal.SIGTERM)
    try:
        for handler in (signal.SIG_DFL, theirs):
            signal.signal(signal.SIGTERM, handler)
            assert run("look").exit_code == 0
            assert signal.getsignal(signal.SIGTERM) is handler
        thread = threading.Thread(target=lambda: seen.append(run("look").exit_code))
        thread.start()
        thread.join()
    finally:
        signal.signal(signal.SIGTERM, before)
        del cli.main.commands["look"]
    ours, *others = seen
    assert ours not in (signal.SIG_DFL, theirs)
    assert others == [theirs, theirs, 0]
