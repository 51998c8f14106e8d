"""The code in pages: it compiles, and what it names is there."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from pathlib import Path

import click
import pytest

from devtools.main import parser
from harness import ROOT
from holdfast_spark import __version__
from holdfast_spark.cli.main import main
from pages.markdown import GENERATED, blocks, commands, name, pages

CODE = [page for page in pages() if page.name not in GENERATED]
LINES = json.loads((ROOT / "project" / "spark-lines.json").read_text())
OWN = "spark.sql.streaming.stateStore.holdfast."


def names_in(page: str) -> set[str]:
    """What the first column of a table has as code."""
    text = (ROOT / "docs" / page).read_text()
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


@pytest.mark.parametrize("page", CODE, ids=name)
def test_python_compiles_and_what_it_imports_is_there(page: Path) -> None:
    for block in blocks(page, "python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast"):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    if not hasattr(module, alias.name):
                        importlib.import_module(f"{node.module}.{alias.name}")


@pytest.mark.parametrize("page", CODE, ids=name)
def test_scala_imports_what_it_names_of_spark(page: Path) -> None:
    for block in blocks(page, "scala"):
        imports = re.findall(r"^import org\.apache\.spark\..*$", block, re.MULTILINE)
        for used in set(re.findall(r"\b(SparkSession|functions|Trigger|OutputMode)\.", block)):
            assert any(re.search(rf"\b{used}\b", line) for line in imports), used


def test_extras_are_named_where_people_start() -> None:
    project = (ROOT / "python" / "pyproject.toml").read_text()
    table = project.partition("[project.optional-dependencies]\n")[2].partition("\n\n")[0]
    text = (ROOT / "docs" / "getting-started.md").read_text()
    for extra in (line.partition(" = ")[0] for line in table.splitlines()):
        assert re.search(rf"\[(\w+,)*{extra}\]|extra `{extra}`", text), extra
    assert "`holdfast demo`" in text


@pytest.mark.parametrize("page", CODE, ids=name)
def test_python_calls_functions_with_arguments_that_they_have(page: Path) -> None:
    holdfast: dict[str, object] = {}
    for block in blocks(page, "python"):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast"):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    holdfast[alias.name] = getattr(module, alias.name, None)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                function = holdfast.get(node.func.id)
                if inspect.isfunction(function):
                    named = {keyword.arg or "": None for keyword in node.keywords}
                    inspect.signature(function).bind(*node.args, **named)


@pytest.mark.parametrize("page", CODE, ids=name)
def test_commands_are_there_with_their_options(page: Path) -> None:
    for words in commands(page):
        program, *arguments = words
        if program == "holdfast":
            parses(arguments)
        elif program == "./dev" and "--help" not in arguments:
            # Those of commands that pass the others on are not the parser's.
            parser().parse_known_args([word for word in arguments if word != "--"])
        elif program.startswith(("./", ".ci/")) and program != "./dev":
            assert (ROOT / program).exists(), words


def parses(arguments: list[str]) -> None:
    """Let click read a command as far as its options; what files are there is not looked at."""
    if arguments[0].startswith("--") or arguments[0].isupper():
        return
    command = main.commands[arguments[0]]
    context = click.Context(command, info_name=arguments[0])
    command.make_parser(context).parse_args(list(arguments[1:]))


@pytest.mark.parametrize("page", pages(), ids=name)
def test_settings_and_metrics_of_holdfast_are_there(page: Path) -> None:
    settings = names_in("settings.md")
    metrics = names_in("metrics.md")
    assert settings
    assert metrics
    text = page.read_text()
    assert {found.rstrip(".") for found in re.findall(rf"{re.escape(OWN)}\w+", text)} <= settings
    written = set(re.findall(r"`(holdfast[A-Z]\w+)`", text))
    assert written <= metrics, written - metrics


@pytest.mark.parametrize("page", pages(), ids=name)
def test_classes_of_settings_are_in_the_jar(page: Path) -> None:
    sources = ROOT / "jvm" / "spark" / "src" / "main"
    there = {path.stem for path in sources.glob("*/io/holdfast/*.*")}
    text = page.read_text()
    assert set(re.findall(r"\bio\.holdfast\.([A-Z]\w+)", text)) - {"X"} <= there


@pytest.mark.parametrize("page", pages(), ids=name)
def test_jars_are_of_this_version_and_of_a_line_that_there_is(page: Path) -> None:
    lines = {(line["line"], line["scala"].rpartition(".")[0]) for line in LINES}
    text = page.read_text()
    for line, scala, version in re.findall(
        r"holdfast-spark_(\d[\d.]*)_(\d[\d.]*)[-:](\d+\.\d+\.\d+)", text
    ):
        assert (line, scala) in lines
        assert version == __version__


def test_the_readme_begins_with_the_installation_and_a_session() -> None:
    project = (ROOT / "python" / "pyproject.toml").read_text()
    assert '\nname = "holdfast-spark"\n' in project
    for page in (ROOT / "README.md", ROOT / "python" / "README.md"):
        text = page.read_text()
        installed = re.search(r"pip install './python\[(\w+)\]'", text)
        assert installed is not None
        assert f"\n{installed[1]} = [" in project
        first = blocks(page, "python")[0]
        assert "holdfast.configure(SparkSession.builder" in first
        assert text.index(installed[0]) < text.index(first)
