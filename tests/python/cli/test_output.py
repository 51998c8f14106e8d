"""What commands print where the terminal has not all characters, or other ends of lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from checkpoint.checkpoints import GOLDEN
from holdfast_spark.cli import main as cli

TYPED = GOLDEN / "spark-4.3" / "typed_keys" / "checkpoint"


def printed(
    monkeypatch: pytest.MonkeyPatch, *arguments: str | Path, encoding: str, newline: str | None
) -> str:
    """What a command writes to its standard output, as bytes that are read as they are."""
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding, newline=newline))
    cli.main([str(argument) for argument in arguments], standalone_mode=False)
    return written.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["cp1251", "ascii"])
def test_what_a_terminal_has_no_characters_for_is_escaped_as_in_json(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = printed(monkeypatch, "show", TYPED, "--json", encoding="utf-8", newline=None)
    assert not whole.isascii()
    found = printed(monkeypatch, "show", TYPED, "--json", encoding=encoding, newline=None)
    rows, expected = (
        sorted(map(json.dumps, map(json.loads, text.splitlines()))) for text in (found, whole)
    )
    assert rows == expected
    table = printed(monkeypatch, "show", TYPED, encoding=encoding, newline=None)
    assert "partition_id" in table


def test_csv_has_the_same_ends_of_lines_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on Windows, where what is written as a line feed becomes two characters.
    show = ("show", TYPED, "--format", "csv")
    found = printed(monkeypatch, *show, encoding="utf-8", newline="\r\n")
    assert found == printed(monkeypatch, *show, encoding="utf-8", newline="\n")
    assert "\r\r\n" not in found
    assert len(list(csv.reader(io.StringIO(found, newline="")))) > 17
