"""The command `./dev docs`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from devtools.errors import DevError
from devtools.release.publishing import repository_url
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
        settings = (workshop.root / "docs" / "mkdocs.yml").read_text()
        address = repository_url(workshop.root)
        (folder / "mkdocs.yml").write_text(with_sources(settings, address))
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


def with_sources(settings: str, address: str | None) -> str:
    """Return the site's settings, the address of the sources being the last of its navigation.

    A link and no more: what the theme makes of an address of sources asks its host for numbers.

    Args:
        settings: the text of mkdocs.yml, which ends with the navigation.
        address: of the sources, None where there is none yet.
    """
    return f"{settings}      - Sources: {address}\n" if address else settings


def fetched(html: str) -> Iterator[str]:
    """Yield what a browser would fetch from other hosts to show a page."""
    for pattern in (_FETCHED, _STYLES):
        yield from (found[0] for found in pattern.finditer(html))
