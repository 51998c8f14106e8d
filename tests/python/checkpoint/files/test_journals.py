"""Journals of changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.journals import (
    BACKUPS,
    FENCE_TEXT,
    JOURNAL,
    Journal,
    journal_text,
    read_journal,
    standing_fences,
)
from holdfast_spark.checkpoint.files.location import Location

# Such as 200 partitions of a join have, with the checksums of each.
MANY = [
    f"state/0/{partition}/left-keyToNumValues/{version}_{'a' * 32}-{'b' * 32}.delta{end}"
    for partition in range(200)
    for version in range(500)
    for end in ("", ".crc")
]


def written(folder: Path, journal: Journal) -> Location:
    file = folder / BACKUPS / "1" / JOURNAL
    file.parent.mkdir(parents=True)
    file.write_bytes(journal_text(journal))
    return Location.of(str(file))


def test_a_journal_of_very_many_files_is_read(tmp_path: Path) -> None:
    journal = Journal(fence="offsets/5", fence_stays=True, leaves=MANY, query_wrote="2026-01-01")
    assert read_journal(written(tmp_path, journal)) == journal
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets/5").write_text(FENCE_TEXT)
    assert standing_fences(Location.of(str(tmp_path))) == {"offsets/5"}


def test_a_journal_that_has_lost_lines_is_damaged(tmp_path: Path) -> None:
    file = written(tmp_path, Journal(comes=["offsets/4", "offsets/5"]))
    content = file.read_bytes()
    file.replace(content[: content.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(MalformedFileError, match="the names of 2 files, found those of 1"):
        read_journal(file)
