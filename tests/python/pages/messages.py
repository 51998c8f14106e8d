"""The sentences that Holdfast ends or warns with, read from its sources.

What changes from case to case in a sentence is `…` here, as it is in docs/troubleshooting.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import ROOT

PACKAGE = ROOT / "python" / "src" / "holdfast_spark"
SPARK = ROOT / "jvm" / "spark" / "src" / "main"
CORE = ROOT / "jvm" / "core" / "src" / "main"

_BASE = "HoldfastError"
_USAGE = "UsageError"  # of click, for wrong usage of the command line
_LITERAL = re.compile(
    r's?"""(?P<long>.*?)"""'
    r'|s"(?P<filled>(?:\$\{(?:[^{}]|\{[^{}]*\})*\}|[^"\\\n]|\\.)*)"'
    r'|"(?P<plain>(?:[^"\\\n]|\\.)*)"',
    re.DOTALL,
)
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*$", re.DOTALL | re.MULTILINE)
_FILLED = re.compile(r"\$\{(?:[^{}]|\{[^}]*\})*\}|\$\w+|%s")
# Shorter ones are parts of a sentence that another literal begins, or no sentence.
_FEWEST_WORDS = 5


@dataclass(frozen=True)
class Message:
    """A sentence, and where it is written."""

    file: Path
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}: {self.text}"


def of_python() -> Iterator[Message]:
    """Yield what errors of the package say, those of wrong usage too."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
    names = _errors(trees.values()) | {_USAGE}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) in names | {"__init__"}:
                for text in _texts(node):
                    yield Message(path, text)


def of_jvm() -> Iterator[Message]:
    """Yield what errors and warnings of the jar say; what only is logged as told is none."""
    for folder in (SPARK, CORE):
        for path in sorted((*folder.rglob("*.scala"), *folder.rglob("*.java"))):
            for text in _literals(_COMMENT.sub("", path.read_text())):
                if len(text.replace("…", "").split()) >= _FEWEST_WORDS:
                    yield Message(path, text)


def _errors(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names of the classes below the base of all errors."""
    bases = {
        node.name: {ast.unparse(base) for base in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {_BASE}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _texts(node: ast.Call) -> Iterator[str]:
    """Yield the sentence that an error is made with, and its variants."""
    for argument in node.args:
        for text in _variants(argument):
            if len(text.replace("…", "").split()) >= _FEWEST_WORDS:
                yield text


def _variants(node: ast.expr) -> list[str]:
    """Return what a string may be, with `…` for what is filled in."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else ["…"]
    if isinstance(node, ast.JoinedStr):
        parts = (each.value if isinstance(each, ast.Constant) else "…" for each in node.values)
        return ["".join(str(part) for part in parts)]
    if isinstance(node, ast.IfExp):
        return [*_variants(node.body), *_variants(node.orelse)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in _variants(node.left) for b in _variants(node.right)]
    return ["…"]


def _literals(source: str) -> Iterator[str]:
    """Yield the string literals of a source in Scala or Java; those that + joins are one."""
    joined, end = "", None
    for found in _LITERAL.finditer(source):
        text = _FILLED.sub("…", found["long"] or found["filled"] or found["plain"] or "")
        if end is not None and re.fullmatch(r"\s*\+\s*", source[end : found.start()]):
            joined += text
        else:
            yield joined
            joined = text
        end = found.end()
    yield joined
