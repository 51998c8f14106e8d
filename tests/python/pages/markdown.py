"""Reads the pages that people read: their links, headings and code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from harness import ROOT

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
# Written by programs from signatures and docstrings; tests of their own hold them against these.
GENERATED = {"api.md", "commands.md"}


def pages() -> list[Path]:
    """Every page of the repository that is for people."""
    folders = (
        ROOT,
        ROOT / "docs",
        ROOT / "docs" / "benchmarks",
        ROOT / "examples",
        ROOT / "python",
    )
    found = [path for folder in folders for path in sorted(folder.glob("*.md"))]
    return [*found, ROOT / "jvm" / "DESIGN.md", ROOT / "jvm" / "FORMAT.md"]


def name(page: Path) -> str:
    """The name of a page, for the output of tests."""
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code in a language; an empty name is for those that name none."""
    return [code for found, code in _FENCE.findall(page.read_text()) if found == language]


def links(page: Path) -> list[str]:
    """What a page links to, pictures too."""
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text()))
    return _LINK.findall(text)


def anchors(page: Path) -> set[str]:
    """The places in a page that a link may name, as GitHub and the site make them of headings."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text())):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = 0
        while (numbered := f"{slug}-{count}" if count else slug) in found:
            count += 1
        found.add(numbered)
    return found


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each command in blocks without a language and in code that names a command."""
    text = page.read_text()
    for block in blocks(page, ""):
        for line in block.replace("\\\n", " ").splitlines():
            yield from _split(line.partition(" # ")[0])
    for code in re.findall(r"`((?:holdfast|\./dev|spark-submit) [^`\n]+)`", _FENCE.sub("", text)):
        yield from _split(code)


def _split(line: str) -> Iterator[list[str]]:
    for inner in re.findall(r"\$\(([^)]*)\)", line):
        yield shlex.split(inner)
    words = shlex.split(re.sub(r"\$\([^)]*\)", "FILE", line))
    if words:
        yield words
