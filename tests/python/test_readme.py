"""What the READMEs tell people to type."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from harness import ROOT

READMES = [ROOT / "README.md", ROOT / "python" / "README.md"]
PROJECT = (ROOT / "python" / "pyproject.toml").read_text()


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", READMES, ids=["repository", "package"])
def test_it_begins_with_the_installation_and_a_session(path: Path) -> None:
    installed = re.search(r"pip install './python\[(\w+)\]'", path.read_text())
    assert installed is not None
    assert '\nname = "holdfast-spark"\n' in PROJECT
    assert f"\n{installed[1]} = [" in PROJECT
    first = blocks(path, "python")[0]
    assert "holdfast.configure(SparkSession.builder" in first
    assert path.read_text().index(installed[0]) < path.read_text().index(first)


@pytest.mark.parametrize("path", READMES, ids=["repository", "package"])
def test_what_its_examples_import_is_there(path: Path) -> None:
    imported = [
        (node.module, alias.name)
        for block in blocks(path, "python")
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and node.module and "holdfast" in node.module
        for alias in node.names
    ]
    assert imported
    for module, name in imported:
        if not hasattr(importlib.import_module(module), name):
            importlib.import_module(f"{module}.{name}")
