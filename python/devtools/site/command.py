"""The command `./dev docs`."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from devtools.errors import DevError
from devtools.site.pages import gather
from devtools.steps import Log
from devtools.workshop import Workshop

# What a browser fetches by itself, from another host.
_FETCHED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"?(?:https?:)?//[^\s\">]*")
_STYLES = re.compile(r"<link\b[^>]*\brel=\"?(?:stylesheet|preconnect|preload)\b[^>]*//[^>]*>")


class OtherHostError(DevError):
    """A page of the site would fetch something from another host."""

    def __init__(self, *, page: Path, found: str) -> None:
        super().__init__(f"{page} would fetch something from another host: {found}.")


def docs(workshop: Workshop) -> int:
    """Make the documentation site in `.dev/site`; return the exit code.

    Raises:
        DeadLinkError: a page links to a file that is not there.
        StepFailedError: a link, a place in a page or a name in the navigation leads nowhere.
        OtherHostError: a page of the site would fetch something from another host.
    """
    folder = workshop.steps.folder / "docs"
    site = workshop.steps.folder / "site"
    mkdocs = workshop.writer().program("mkdocs")

    def make(log: Log) -> None:
        gather(workshop.root, folder / "docs")
        shutil.copy(workshop.root / "docs" / "mkdocs.yml", folder)
        log.run(
            *(mkdocs, "build", "--strict", "--clean"),
            *("--config-file", folder / "mkdocs.yml", "--site-dir", site),
            cwd=folder,
        )

    workshop.steps.do("documentation", make)
    for page in sorted(site.rglob("*.html")):
        for found in fetched(page.read_text()):
            raise OtherHostError(page=page, found=found)
    print(os.path.relpath(site / "index.html"))
    return 0


def fetched(html: str) -> Iterator[str]:
    """Yield what a browser would fetch from other hosts to show a page."""
    for pattern in (_FETCHED, _STYLES):
        yield from (found[0] for found in pattern.finditer(html))
