"""The command `holdfast report` and its page."""

from __future__ import annotations

import base64
import errno
import json
import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import fsspec
import pytest
from click.testing import CliRunner, Result

from checkpoint.checkpoints import counts, lz4, offsets, records, row
from checkpoint.skewed import skewed, string_row
from holdfast_spark.checkpoint.files.providers import ROCKSDB
from holdfast_spark.cli import main as cli

VERSIONS = {
    "1.delta": [row(1, 10), row(2, 20)],
    "2.delta": [row(1, None), row(3, 30)],
    "2.snapshot": [row(2, 20), row(3, 30)],
}
SVG = "data:image/svg+xml;base64,"
VOID = {"meta", "img"}


class Page(HTMLParser):
    """What is in a page; fails if an element is not closed where it has to be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counts(tmp_path / "checkpoint", VERSIONS, batches=2)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["report", *map(str, arguments)])


def page(path: Path, file: Path) -> Page:
    result = run(path, "-o", file)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"Wrote {file}.\n"
    return Page(file.read_text())


def sentence(*arguments: str | Path, code: int = 1) -> str:
    result = run(*arguments)
    assert result.exit_code == code
    assert "Traceback" not in result.stderr
    return result.stderr


def document(*arguments: str | Path) -> Any:  # noqa: ANN401 - it is JSON
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_every_plot_has_words_and_a_table(tmp_path: Path) -> None:
    found = page(skewed(tmp_path / "checkpoint"), tmp_path / "report.html")
    images = found.all("img")
    assert len(images) == len(found.all("figure")) == len(found.all("details")) == 6
    for image in images:
        source, text = image["src"], image["alt"]
        assert source
        assert text
        assert len(text) > 30
        drawing = ET.fromstring(base64.b64decode(source.removeprefix(SVG)))  # noqa: S314
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    # One below each plot, and the keys.
    assert len(found.all("table")) == 7
    text = "\n".join(found.texts)
    for part in (
        "io.holdfast.HoldfastStateStoreProvider",
        "0 to 29; the newest was planned at ",
        "versions 1-30",
        "partition 3, has",
        '"user": "user-0000001"',
        "Operator 0: aggregation (stateStoreSave), store default",
    ):
        assert part in text


def test_the_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    found = page(skewed(tmp_path / "checkpoint", batches=3), tmp_path / "report.html")
    (policy,) = (m["content"] for m in found.all("meta") if "http-equiv" in m)
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in found.elements}
    for _, attributes in found.elements:
        assert "href" not in attributes
        assert (attributes.get("src") or SVG).startswith(SVG)
    assert "url(" not in (tmp_path / "report.html").read_text()


def test_what_keys_and_paths_say_stays_text(tmp_path: Path) -> None:
    script = "<script>alert('$x$')</script>"
    path = skewed(tmp_path / "<b>&amp;", batches=2)
    evil = records([(string_row(script, "&lt;"), string_row("1"))] * 99)
    (path / "state/0/0/2.delta").write_bytes(lz4(evil))
    found = page(path, tmp_path / "report.html")
    assert any(json.dumps({"user": script, "country": "&lt;"}) == text for text in found.texts)
    assert found.all("script") == found.all("b") == []
    assert f"State of {path}" in found.texts


def test_what_is_odd_stands_on_the_page(path: Path, tmp_path: Path) -> None:
    (path / "commits/1").unlink()
    (path / "state/0/0/1.delta").write_bytes(b"")
    found = page(path, tmp_path / "report.html")
    text = "\n".join(found.texts)
    assert "Batch 1 is planned and not committed" in text
    assert "Store 0/0 has empty files, of the versions 1." in text
    assert "1.delta (version 1) is damaged" in text


def test_a_checkpoint_that_cannot_be_counted_has_a_page(path: Path, tmp_path: Path) -> None:
    for file in (path / "state/0/0").glob("*.*"):
        file.rename(file.with_suffix({".delta": ".changelog"}.get(file.suffix, ".zip")))
    for batch in (path / "offsets").iterdir():
        batch.write_bytes(offsets(providerClass=ROCKSDB))
    found = page(path, tmp_path / "report.html")
    assert found.texts.count("Unknown for every version.") == 3
    assert len(found.all("img")) == 3
    assert "No delta file could be read." in found.texts
    assert any("N.zip is a snapshot of version N" in text for text in found.texts)


def test_a_query_without_state_has_a_page(path: Path, tmp_path: Path) -> None:
    (path / "state").rename(tmp_path / "elsewhere")
    assert "The query has no state." in page(path, tmp_path / "report.html").texts


def test_a_long_table_leaves_rows_out(tmp_path: Path) -> None:
    versions = {f"{version}.delta": [row(version, 1)] for version in range(1, 301)}
    path = counts(tmp_path / "checkpoint", versions, batches=300)
    found = page(path, tmp_path / "report.html")
    assert any(text.startswith("260 rows in between are left out") for text in found.texts)
    assert {"1", "300"} <= set(found.texts)


def test_json_has_the_same_figures(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    found = document(path)
    assert not file.exists()
    assert document(path, "-o", file) == found
    assert file.exists()
    (store,) = found["stores"]
    assert store["operator"] == "stateStoreSave"
    assert [version["rows"] for version in store["versions"]] == [2, 2]
    assert store["hottest_keys"][0] == {
        "partition_id": 0,
        "key": {"k": 1},
        "changes": 2,
        "changes_at_most": 2,
        "column_family": None,
    }
    assert found["inspection"]["path"] == str(path)


def test_a_page_is_replaced_as_a_whole(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("the old one")
    page(path, file)
    assert file.read_text().startswith("<!doctype html>")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint", "report.html"]


def test_a_full_disk_leaves_the_old_page(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    file.write_text("the old one")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert sentence(path, "-o", file) == f"Error: Cannot write {file}: No space left on device.\n"
    assert file.read_text() == "the old one"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint", "report.html"]


def test_urls_are_written_as_paths_are(path: Path) -> None:
    fs = fsspec.filesystem("memory")
    assert run(path, "-o", "memory://pages/report.html").exit_code == 0
    assert fs.cat_file("/pages/report.html").startswith(b"<!doctype html>")
    fs.rm("/pages", recursive=True)


def test_places_that_cannot_be_written_are_refused_first(path: Path, tmp_path: Path) -> None:
    for state in (path / "state/0/0").glob("*.*"):
        state.write_bytes(b"")
    folder, missing = tmp_path / "folder", tmp_path / "missing" / "report.html"
    folder.mkdir()
    assert sentence(path, "-o", folder) == f"Error: Cannot write {folder}: it is a folder.\n"
    assert f"there is no folder {missing.parent}" in sentence(path, "-o", missing)
    assert "Error: Cannot open ftps://x/y" in sentence(path, "-o", "ftps://x/y")


def test_the_page_needs_an_extra(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "needs jinja2, which is not installed" in sentence(path, "-o", file)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "needs jinja2 and matplotlib, which are not" in sentence(path, "-o", file)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert sentence(path, "-o", file) == (
        "Error: The page of holdfast report needs matplotlib, which is not installed: run pip "
        "install matplotlib, or use --json without --output.\n"
    )
    assert not file.exists()
    assert document(path)["stores"]


def test_bad_input_is_one_sentence(path: Path, tmp_path: Path) -> None:
    assert "is not the checkpoint of a streaming query" in sentence(tmp_path, "--json")
    assert "report needs --output FILE, or --json" in sentence(path, code=2)
    figures = tmp_path / "figures.json"
    for more in ([], ["--json"]):
        said = sentence(path, "-o", figures, *more, code=2)
        assert "takes a page of HTML" in said
        assert "have the figures printed with --json alone" in said
    assert not figures.exists()
