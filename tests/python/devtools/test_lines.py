"""The page that says what each Spark line supports."""

from __future__ import annotations

import json
import re
from pathlib import Path

from packaging.specifiers import SpecifierSet

from devtools.lines import Feature, first_line, page
from harness import ROOT
from holdfast_spark.transform._lines import LINES as OF_STATE_CLIENT


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


def test_the_extra_that_brings_pyspark_takes_the_lines_and_no_others() -> None:
    entries = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    pyproject = (ROOT / "python" / "pyproject.toml").read_text()
    (wanted,) = re.findall(r'^spark = \["pyspark(.+)"\]$', pyproject, re.MULTILINE)
    taken = SpecifierSet(wanted)
    for entry in entries:
        minor = [int(number) for number in entry["oldest"].split(".")]
        assert all(
            (f"{entry['line']}.{patch}" in taken) == (patch >= minor[2]) for patch in range(10)
        ), f"{wanted} and {entry['line']} from {entry['oldest']} on"
    major, newest = (int(number) for number in entries[-1]["line"].split("."))
    assert f"{major}.{newest + 1}.0" not in taken
    assert "3.4.9" not in taken


def test_the_python_state_client_is_for_every_line_that_lets_holdfast_keep_its_state() -> None:
    entries = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    lines = {
        entry["line"]: [int(number) for number in entry["line"].split(".")] for entry in entries
    }
    assert {line for line, numbers in lines.items() if numbers >= [4, 2]} == OF_STATE_CLIENT, (
        "hold Spark's client of a new line against it, as docs/new-line.md says"
    )
