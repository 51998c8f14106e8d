"""Words and numbers in messages."""

from __future__ import annotations

import pytest

from holdfast_spark._text import counted


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 files are"), (1, "1 file is"), (2_000, "2,000 files are")]
)
def test_what_is_counted_agrees_with_its_number(count: int, text: str) -> None:
    assert counted(count, "file is", "files are") == text
    assert counted(count, "file") == text.rpartition(" ")[0]
