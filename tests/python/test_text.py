"""Words and numbers in messages."""

from __future__ import annotations

import pytest

from holdfast_spark._text import counted, named, without_advice


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 files are"), (1, "1 file is"), (2_000, "2,000 files are")]
)
def test_what_is_counted_agrees_with_its_number(count: int, text: str) -> None:
    assert counted(count, "file is", "files are") == text
    assert counted(count, "file") == text.rpartition(" ")[0]


def test_what_is_wrong_is_told_from_what_to_do() -> None:
    found = "/a. b/1.delta is damaged: expected x, found y."
    assert without_advice(f"{found} Restore it. Then go on.", path="/a. b/1.delta") == (
        *(found, "Restore it. Then go on."),
    )
    assert without_advice(found, path="/a. b/1.delta") == (found, "")


def test_a_name_is_as_it_is_and_what_is_none_in_quotes_and_short() -> None:
    assert named("lz4") == "lz4"
    assert named("org.example.My$Codec-2") == "org.example.My$Codec-2"
    assert (named(""), named(" , "), named("a\nb")) == ("''", "' , '", r"'a\nb'")
    assert len(named("v1" * 1000)) < 40
