"""docs/troubleshooting.md: every sentence that Holdfast ends or warns with has its entry."""

from __future__ import annotations

import re

import pytest

from harness import ROOT
from pages.messages import Message, of_jvm, of_python

PAGE = ROOT / "docs" / "troubleshooting.md"
# What is no error and no warning: what is logged at lower levels, and what stands in a sentence.
LOGGED = (
    "Committed version … of …: changes=",
    "Loaded version … of …: ms=",
    "Loads version … of … by other files",
    "Looks into other files for the families of version … of …",
    "Version … of … is not in memory, and is loaded from files",
    "Deleted … files older than version",
    "Gave up the snapshot of version … of …: there is another attempt",
    "Spark asks for a snapshot of … with version",
    "Spark's coordinator was not told of the snapshot of version",
    "the last one was of version …, … versions and … s ago",
    "What … removes is not known; its stores are looked through",
    "Closing … failed, and it is not wanted",
    "Cancelling a state file failed",
    "Closing a cancelled state file failed",
    "The delta of version … was not begun early",
    "The newest offsets of … say nothing of a state store provider",
    "Wrote …: rows=",
    "Read … records of … for …",
    "holdfast migrate …… --to holdfast --apply",
    "time of commits …, us",
)


def entries() -> list[str]:
    """What the entries of the page quote, one for each message."""
    quoted = re.findall(r"^(?:>.*\n)+", PAGE.read_text(), re.MULTILINE)
    joined = [" ".join(line.lstrip("> ") for line in block.splitlines()) for block in quoted]
    return [text.strip() for text in joined]


def pattern(entry: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in entry.split("…")), re.DOTALL)


def written_elsewhere(message: Message) -> bool:
    """Whether it stands in a page that is written from the sources: settings and metrics."""
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("settings.md", "metrics.md"))
    flat = " ".join(pages.split())
    return all(part.strip() in flat for part in message.text.split("…"))


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    found = [*of_python(), *of_jvm()]
    assert len(found) > 150
    logged = [pattern(text) for text in LOGGED]
    return [
        message
        for message in found
        if not any(each.search(message.text) for each in logged) and not written_elsewhere(message)
    ]


def test_every_message_has_its_entry(messages: list[Message]) -> None:
    patterns = [pattern(entry) for entry in entries()]
    lacking = [
        str(message)
        for message in messages
        if not any(each.search(message.text) for each in patterns)
    ]
    assert not lacking, "\n".join(["without an entry in docs/troubleshooting.md:", *lacking])


def test_every_entry_is_of_a_message_that_there_is(messages: list[Message]) -> None:
    gone = [
        entry
        for entry in entries()
        if not any(pattern(entry).search(message.text) for message in messages)
    ]
    assert not gone


def test_every_entry_says_what_is_behind_it() -> None:
    # Entries may follow each other: then the text behind the last one is for all of them.
    paragraphs = PAGE.read_text().split("\n\n")
    for paragraph, following in zip(paragraphs, [*paragraphs[1:], "#"], strict=True):
        if paragraph.startswith(">"):
            assert not following.startswith("#"), paragraph
