"""Reads what a sink has been written, as somebody does who has no Spark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

from pyarrow import parquet

from soak.expected import Row
from soak.sinks import DELTA, FILES, LOG_OF_FILES


def read(sink: str, out: Path) -> Counter[Row]:
    """Return the rows in a sink, and how often each of them is there."""
    reader = {FILES: _in_files, DELTA: _in_delta}.get(sink, _by_batch)
    return Counter(reader(out))


def _by_batch(out: Path) -> Iterator[Row]:
    for file in out.glob("*.json"):
        yield from ((*row,) for row in json.loads(file.read_text()))


def _in_files(out: Path) -> Iterator[Row]:
    log = sorted((out / LOG_OF_FILES).glob("[0-9]*"), key=lambda file: int(file.stem))
    newest = max((n for n, file in enumerate(log) if file.suffix == ".compact"), default=0)
    for batch in log[newest:]:
        for entry in batch.read_text().splitlines()[1:]:
            yield from _in_file(Path(unquote(urlparse(json.loads(entry)["path"]).path)))


def _in_file(file: Path) -> Iterator[Row]:
    for line in file.read_text().splitlines():
        row = json.loads(line)
        yield row["second"], row["word"], row["times"], row["total"]


def _in_delta(out: Path) -> Iterator[Row]:
    files: dict[str, None] = {}
    for commit in sorted((out / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            action = json.loads(line)
            if "add" in action:
                files[action["add"]["path"]] = None
            if "remove" in action:
                files.pop(action["remove"]["path"], None)
    for name in files:
        for row in parquet.read_table(out / unquote(name)).to_pylist():
            yield row["second"], row["word"], row["times"], row["total"]
