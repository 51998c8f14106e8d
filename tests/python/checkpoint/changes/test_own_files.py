"""The marks by which what a change has written is told from what the query writes."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from holdfast_spark.checkpoint.changes.own_files import last_write_of_query, mark_own_files
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.location import Location

AT = datetime(2026, 1, 1, tzinfo=timezone.utc)
# Such as `migrate` writes where a join has 500 partitions that retain 100 versions.
MANY = [
    f"state/0/{partition}/left-keyToNumValues/{version}_{'a' * 32}-{'b' * 32}.delta"
    for partition in range(500)
    for version in range(240)
]


def entry(checkpoint: Location, name: str, modified: datetime | None = AT) -> Entry:
    return Entry(path=(checkpoint / name).path, size_bytes=9, modified=modified)


def marked(folder: Path, names: list[str], query_wrote: str | None = None) -> Location:
    checkpoint = Location.of(str(folder)).as_tree()
    backup = checkpoint / "holdfast-backup" / "1"
    Path(backup.path).mkdir(parents=True)
    found = [entry(checkpoint, name) for name in names]
    mark_own_files(checkpoint, backup, names, found, query_wrote)
    return checkpoint


def test_a_mark_of_very_many_files_is_read(tmp_path: Path) -> None:
    checkpoint = marked(tmp_path, MANY)
    ours = [entry(checkpoint, name) for name in MANY]
    assert last_write_of_query(checkpoint, ours) is None
    later = AT + timedelta(seconds=1)
    theirs = entry(checkpoint, MANY[7], later)
    assert last_write_of_query(checkpoint, [*ours, theirs]) == (later, theirs.path)


def test_what_the_query_had_written_before_is_told(tmp_path: Path) -> None:
    checkpoint = marked(tmp_path, ["offsets/4"], AT.isoformat())
    found = last_write_of_query(checkpoint, [entry(checkpoint, "offsets/4")])
    assert found is not None
    assert found[0] == AT
    assert found[1].startswith("a file that an earlier change has put into ")


@pytest.mark.parametrize("line", ["[", "[1, 2, 3]", '["offsets/4", 9]', "{}", '["a", "9", null]'])
def test_a_damaged_line_of_a_mark_is_told(line: str, tmp_path: Path) -> None:
    checkpoint = marked(tmp_path, ["offsets/4"])
    (mark,) = (tmp_path / "holdfast-backup/1").iterdir()
    mark.write_text(f"{json.dumps({'files': 1, 'query': None})}\n{line}\n")
    with pytest.raises(MalformedFileError, match="expected a name, a size and a time on each line"):
        last_write_of_query(checkpoint, [])


def test_a_mark_that_has_lost_lines_is_damaged(tmp_path: Path) -> None:
    checkpoint = marked(tmp_path, ["offsets/4", "offsets/5"])
    (mark,) = (tmp_path / "holdfast-backup/1").iterdir()
    mark.write_text("".join(mark.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(MalformedFileError, match="the facts of 2 files, found those of 1"):
        last_write_of_query(checkpoint, [])
