"""The pages of the site, as `./dev docs` gathers them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from devtools.site.command import fetched
from devtools.site.pages import DeadLinkError, gather
from harness import ROOT
from pages.markdown import anchors, links

NAVIGATION = (ROOT / "docs" / "mkdocs.yml").read_text().partition("\nnav:\n")[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    gather(ROOT, made)
    return made


def repository(root: Path, readme: str) -> Path:
    """A repository with the pages that the site looks for, of which only the README says much."""
    for page in ("examples", "jvm", "jvm/sim", "docs"):
        (root / page).mkdir()
    programs = ("examples/README", "jvm/DESIGN", "jvm/FORMAT", "jvm/sim/README")
    for page in (*programs, "CONTRIBUTING", "CHANGELOG", "SECURITY"):
        (root / f"{page}.md").write_text(f"# {page}\n")
    (root / "README.md").write_text(readme)
    return root


def test_links_of_gathered_pages_lead_to_what_lies_beside_them(folder: Path) -> None:
    pages = sorted(folder.rglob("*.md"))
    assert len(pages) > 20
    for page in pages:
        for link in links(page):
            path, _, anchor = link.partition("#")
            if ":" not in path:
                target = (page.parent / path).resolve() if path else page
                assert target.is_file(), f"{page}: {link}"
                assert not anchor or anchor in anchors(target), f"{page}: {link}"


def test_every_gathered_page_is_in_the_navigation(folder: Path) -> None:
    named = re.findall(r": (\S+\.md)$", NAVIGATION, re.MULTILINE)
    assert len(named) == len(set(named))
    there = {str(page.relative_to(folder)) for page in folder.rglob("*.md")}
    assert there == set(named)


def test_the_page_of_the_examples_has_their_code(folder: Path) -> None:
    page = (folder / "examples.md").read_text()
    for program in (ROOT / "examples").glob("*.py"):
        assert program.read_text() in page


def test_code_stays_as_it_is_and_lists_in_lists_are_moved_in(tmp_path: Path) -> None:
    text = "`[a](b.md)` and\n\n```\n[c](d.md)\n  - e\n```\n\n- [f](jvm/FORMAT.md#g)\n  - h\n"
    gather(repository(tmp_path, text), tmp_path / "site")
    expected = text.replace("jvm/FORMAT.md", "files.md").replace("  - h", "    - h")
    assert (tmp_path / "site" / "index.md").read_text() == expected


def test_a_dead_link_is_told_with_its_page(tmp_path: Path) -> None:
    root = repository(tmp_path, "See [this](docs/gone.md).\n")
    with pytest.raises(DeadLinkError, match=r"README\.md links to docs/gone\.md"):
        gather(root, tmp_path / "site")


def test_what_a_browser_would_fetch_from_other_hosts_is_found() -> None:
    for html in (
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img alt="" src=https://example.org/a.png>',
    ):
        assert list(fetched(html))
    kept = '<a href="https://example.org/">there</a><link href="a.css" rel="stylesheet">'
    assert list(fetched(kept)) == []
