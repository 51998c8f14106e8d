"""The numbers that commands of `./dev` are told."""

from __future__ import annotations

import argparse

import pytest

from devtools.limits import at_least, duration
from devtools.main import parser


@pytest.mark.parametrize("text", ["1", "7"])
def test_a_number_that_is_not_less_is_taken(text: str) -> None:
    assert at_least(1)(text) == int(text)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", ""])
def test_another_number_is_named(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"at least 1, found {text}$"):
        at_least(1)(text)


@pytest.mark.parametrize("text", ["0.1", "30"])
def test_some_time_is_taken(text: str) -> None:
    assert duration(text) == float(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "long"])
def test_no_time_is_named(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"above 0, found {text}$"):
        duration(text)


@pytest.mark.parametrize(
    "words",
    [
        ["sim", "--threads", "0"],
        ["sim", "--histories", "0"],
        ["sim", "--seed", "-1"],
        ["kills", "--count", "0"],
        ["races", "--minutes", "-1"],
    ],
)
def test_it_is_refused_before_anything_is_made(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        parser().parse_known_args(words)
    assert refused.value.code == 2
    assert words[1] in capsys.readouterr().err
