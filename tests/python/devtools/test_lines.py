"""The page that says what each Spark line supports."""

from __future__ import annotations

import json
from pathlib import Path

from devtools.lines import Feature, first_line, page
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


def test_a_line_has_what_an_older_one_has_in_another_form(tmp_path: Path) -> None:
    made = Feature(what="snapshots", file="Snapshots.scala")
    for lines in ("until-4.1", "4.2-to-4.3", "4.10", "since-4.11"):
        folder = tmp_path / "jvm/spark/src/main" / f"scala-{lines}"
        folder.mkdir(parents=True)
        (folder / made.file).touch()
    assert first_line(tmp_path, made) == "4.2"
