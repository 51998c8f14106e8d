"""The page that says what each Spark line supports."""

from __future__ import annotations

import json

from devtools.lines import page
from harness import ROOT


def test_the_page_is_what_the_list_of_lines_and_the_folders_say() -> None:
    assert (ROOT / "docs" / "lines.md").read_text() == page(ROOT), (
        "write it anew, in python/: python -m devtools.lines > ../docs/lines.md"
    )


def test_every_line_has_its_jar_in_the_page() -> None:
    entries = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    for entry in entries:
        scala = entry["scala"].rpartition(".")[0]
        assert f"`holdfast-spark_{entry['line']}_{scala}`" in page(ROOT)
