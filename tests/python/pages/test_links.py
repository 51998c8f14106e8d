"""No link of a page is dead."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import ROOT
from pages.markdown import anchors, links, name, pages


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_of_the_documentation_is_linked_to() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve() for page in pages() for link in links(page)
    }
    documents = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.svg")]
    assert documents
    assert [name(path) for path in documents if path not in linked] == []
