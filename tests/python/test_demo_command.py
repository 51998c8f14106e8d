"""The command line of the demo: what it refuses, what it makes of its options, what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast_spark.demo import runner
from holdfast_spark.demo.command import demo, run_in_work_folder
from holdfast_spark.demo.errors import DemoError, DemoUsageError
from holdfast_spark.demo.plan import Layout
from holdfast_spark.demo.work_folder import close_work_folder, open_work_folder

OWN = ("--key", "id", "--time", "at")


class Outcome:
    """As much of a result as decides about the work folder."""

    def __init__(self, *failures: str) -> None:
        self.failures = failures


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(demo, [str(argument) for argument in arguments])


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, and an environment in which nothing is missing."""
    monkeypatch.setattr(runner, "check_environment", lambda _: None)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def stand_in(monkeypatch: pytest.MonkeyPatch, ends: Callable[[Layout], Outcome]) -> None:
    """Let a run be nothing but a file of output, a temporary one of Spark's, and `ends`."""

    def run_demo(layout: Layout, *_: object, **__: object) -> Outcome:
        for folder in (layout.output_of("statistics"), layout.scratch):
            folder.mkdir(parents=True)
            (folder / "file").touch()
        return ends(layout)

    monkeypatch.setattr(runner, "run_demo", run_demo)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--key", "id"), "--key and --time are for files of your own: add --input DIR"),
        (("--input", ".", "--key", "id"), "needs --key COLUMN[,...], to count by, and --time"),
        (("--input", ".", "--key", " , ", "--time", "at"), "needs --key COLUMN[,...]"),
        (("--input", ".", "--rows", "5", *OWN), "--rows is for the flights"),
        (("--input", "/no/such/folder", *OWN), "/no/such/folder does not exist"),
        (("--rows", "0"), "0 is not in the range x>=1"),
        (("--batches", "many"), "'many' is not a valid integer"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(
    options: tuple[str, ...], sentence: str
) -> None:
    result = run(*options)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_a_system_that_cannot_kill_a_group_of_processes_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("os.killpg")  # as on Windows
    with pytest.raises(DemoError, match="which takes Linux or macOS: run it there, or in WSL"):
        runner.check_environment(None)


@pytest.mark.usefixtures("temporary")
def test_a_work_folder_in_use_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("--work", tmp_path)
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
    result = run("--work", tmp_path / "file")
    assert result.exit_code == 2
    assert "cannot be a folder" in result.stderr


def test_a_given_work_folder_is_made_and_kept(tmp_path: Path) -> None:
    layout = open_work_folder(tmp_path / "new" / "work")
    layout.scratch.mkdir()
    close_work_folder(layout, keep=True)
    assert list((tmp_path / "new").iterdir()) == [layout.work]
    assert list(layout.work.iterdir()) == []


def raise_error(error: BaseException) -> Callable[[Layout], Outcome]:
    def raise_it(_: Layout) -> Outcome:
        raise error

    return raise_it


def run_in(work: Path | None) -> None:
    run_in_work_folder(work, None, rows=None, batches=12, plain=True)


def test_a_temporary_folder_is_deleted_when_all_is_well(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, lambda _: Outcome())
    run_in(None)
    assert list(temporary.iterdir()) == []


def test_a_temporary_folder_is_left_when_the_result_is_wrong(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, lambda _: Outcome("it differs"))
    run_in(None)
    assert [path.name for path in temporary.glob("*/*")] == ["output"]


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (DemoError("a step failed"), ["output"]),
        (DemoUsageError("no such column"), []),
        (KeyboardInterrupt(), []),
    ],
)
def test_a_temporary_folder_is_left_when_its_logs_are_of_use(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, left: list[str]
) -> None:
    stand_in(monkeypatch, raise_error(error))
    with pytest.raises(type(error)):
        run_in(None)
    assert [path.name for path in temporary.glob("*/*")] == left


@pytest.mark.usefixtures("temporary")
def test_a_given_folder_stays_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, raise_error(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run_in(tmp_path / "work")
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["output"]


def test_the_command_can_be_listed_without_spark_or_a_terminal() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "kill the query" in result.output
