"""Gathers the pages of the repository for the site.

Every text is written once, where it reads well in the repository too; the site has it under another
name. Links follow: those to pages lead to where these are on the site, and what else is linked to
lies beside them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from devtools.errors import DevError

# Pages that do not lie in `docs`, by what they are on the site.
_ELSEWHERE: Mapping[str, str] = {
    "README.md": "index.md",
    "examples/README.md": "examples.md",
    "jvm/DESIGN.md": "engine.md",
    "jvm/FORMAT.md": "files.md",
    "jvm/sim/README.md": "simulator.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
_EXAMPLES = "examples.md"
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()([^()\s]+)(?=\))")
# Lists in lists: two blanks in the repository, four for the program that makes the site.
_NESTED = re.compile(r"^((?:  )+)(?=- )", re.MULTILINE)


class DeadLinkError(DevError):
    """A page links to what is not there."""

    def __init__(self, *, page: str, link: str) -> None:
        super().__init__(f"{page} links to {link}, and there is no such file in the repository.")


def gather(root: Path, folder: Path) -> list[Path]:
    """Write the pages of the site, and the files that they link to, into an empty folder.

    Args:
        root: the repository.
        folder: is made anew.

    Returns:
        The pages.

    Raises:
        DeadLinkError: a page links to a file that is not there.
    """
    shutil.rmtree(folder, ignore_errors=True)
    names = _names(root)
    files: dict[str, str] = {}
    for source, name in names.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (root / source).read_text()
        if name == _EXAMPLES:
            text = _with_programs(root, text)
        target.write_text(_on_site(root, source, text, names, files))
    for source, name in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / source, target)
    return [folder / name for name in names.values()]


def _names(root: Path) -> dict[str, str]:
    """Return the name on the site for each page of the repository."""
    docs = root / "docs"
    found = {
        str(path.relative_to(root)): str(path.relative_to(docs)).replace("README.md", "index.md")
        for path in sorted(docs.rglob("*.md"))
    }
    return {**_ELSEWHERE, **found}


def _with_programs(root: Path, text: str) -> str:
    """Return the page of the examples with the code of each."""
    programs = sorted((root / "examples").glob("*.py"))
    code = (f"## {path.name}\n\n```python\n{path.read_text()}```\n" for path in programs)
    return "\n".join((text, *code))


def _on_site(
    root: Path, source: str, text: str, names: Mapping[str, str], files: dict[str, str]
) -> str:
    """Return a page as the site has it; what it links to beside pages is added to the files."""

    def link(found: re.Match[str]) -> str:
        path, mark, anchor = found[1].partition("#")
        if not path or ":" in path:
            return found[1]
        target = os.path.normpath(PurePosixPath(source).parent / path)
        if target not in names:
            if not (root / target).is_file():
                raise DeadLinkError(page=source, link=path)
            files[target] = target.removeprefix("docs/")
        there = names.get(target) or files[target]
        here = PurePosixPath(names[source]).parent
        return os.path.relpath(there, here) + mark + anchor

    # Every other piece is code.
    pieces = _CODE.split(text)
    for index in range(0, len(pieces), 2):
        pieces[index] = _NESTED.sub(r"\1\1", _LINK.sub(link, pieces[index]))
    return "".join(pieces)
