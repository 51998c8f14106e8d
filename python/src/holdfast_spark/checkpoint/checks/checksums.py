"""Whether files have the checksums that were written beside them (`files.checksums`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, UnreadablePathError
from holdfast_spark.checkpoint.files.checksums import (
    HEADER,
    LARGEST_CHECKSUMS,
    LARGEST_CHUNK,
    MAGIC,
    SUFFIX,
    fits,
    pieces,
    spark_sum,
)
from holdfast_spark.checkpoint.files.json_values import json_or_none, parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.numbers import whole_number

_LOG_FILE = re.compile(r"(offsets|commits|sources/[^/]+)/(\d+)(?:\.compact)?")


def check_checksums(subject: Subject) -> Iterator[Problem]:
    """Yield files that differ from their checksums, lost ones, and checksums that are none."""
    for name in subject.entries:
        if not name.endswith(SUFFIX):
            continue
        folder, _, last = name.rpartition("/")
        checksums = subject.location / name
        base = last[: -len(SUFFIX)]
        is_hadoop = base.startswith(".")
        target = f"{folder}/{base.removeprefix('.')}".removeprefix("/")
        if not base.removeprefix(".") or (is_hadoop and not subject.location.is_local):
            continue
        # What a writer left behind that did not finish.
        if target.endswith(".tmp"):
            continue
        file = subject.location / target
        if target not in subject.entries and not _may_be_there(checksums):
            continue  # which a query that runs has removed after its file
        if target not in subject.entries:
            yield (
                _in_the_way(file, checksums)
                if is_hadoop and _is_to_come(subject, target)
                else Problem(location=file, kind="checksum", error=_gone(file, checksums))
            )
            continue
        try:
            yield from _hadoop(file, checksums) if is_hadoop else _spark(file, checksums)
        except UnreadablePathError as error:
            # Those that a query removes while it runs are not missed.
            if _may_be_there(file) and _may_be_there(checksums):
                yield Problem(location=file, kind="checksum", error=str(error))


def _may_be_there(file: Location) -> bool:
    """Tell whether a file is there, or a link that nobody follows."""
    try:
        return file.exists()
    except UnreadablePathError:
        return True


def _is_to_come(subject: Subject, name: str) -> bool:
    """Tell whether a name is that of a file of a log that the query will write."""
    found = _LOG_FILE.fullmatch(name)
    batch = whole_number(found[2]) if found else None
    if found is None or batch is None:
        return False
    named = subject.named
    if found[1] == "commits":
        return batch >= subject.next_batch
    if found[1] == "offsets":
        return batch > max((*named.planned[-1:], *named.committed[-1:]))
    there = (_LOG_FILE.fullmatch(other) for other in subject.entries)
    ours = (whole_number(other[2]) for other in there if other and other[1] == found[1])
    newest = max((number for number in ours if number is not None), default=-1)
    return batch > max(newest, _planned(subject, found[1].rpartition("/")[2]))


def _planned(subject: Subject, source: str) -> int:
    """Return the newest batch of a file source that the newest plan names; -1 for none."""
    entry = subject.readable_offsets.get(subject.named.planned[-1])
    offset = json_or_none(entry.sources.get(source, "")) if entry else None
    number = offset.get("logOffset") if isinstance(offset, dict) else None
    return number if type(number) is int else -1


def _in_the_way(file: Location, checksums: Location) -> Problem:
    return Problem(
        location=checksums,
        kind="checksum",
        error=f"{checksums} has the checksums of {file}, which is not there: expected none before "
        "the query writes that file. Beside them Hadoop does not put one in place, and Spark stops "
        'with "Multiple streaming queries are concurrently using". Delete the checksums, or '
        "restore the file from a copy.",
        stops=True,
    )


def _hadoop(file: Location, checksums: Location) -> Iterator[Problem]:
    sums = checksums.read_bytes(LARGEST_CHECKSUMS)
    magic, chunk = HEADER.unpack_from(sums.ljust(HEADER.size, b"\0"))
    header = sums[: HEADER.size].hex(" ") or "nothing"
    if magic != MAGIC or len(sums) < HEADER.size:
        yield _no_checksums(checksums, header)
        return
    if not 0 < chunk <= LARGEST_CHUNK:
        yield _differs(file, checksums, "pieces of some bytes each", header)
        return
    stored = sums[HEADER.size :]
    start = 0
    for piece in pieces(file, chunk):
        expected = stored[start // chunk * 4 :][:4]
        if not fits(piece, expected):
            what = f"bytes {start} to {start + len(piece)}"
            yield _differs(file, checksums, what, expected.hex() or "nothing")
            return
        start += len(piece)
    stray = len(stored) - -(-start // chunk) * 4
    if stray > 0:
        # Hadoop does not look behind the file's end, but refuses a part of a checksum there where
        # it reads several at once.
        stops = None if stray % 4 else False
        yield _differs(file, checksums, f"{start} bytes", "those of more", stops=stops)


def _spark(file: Location, checksums: Location) -> Iterator[Problem]:
    text = checksums.read_text()
    try:
        stored = parse_json_object(text, path=str(checksums))
    except CheckpointError as error:
        yield Problem(location=file, kind="checksum", error=str(error))
        return
    size, value = stored.get("mainFileSize"), stored.get("value")
    length, found = spark_sum(file)
    if size != length:
        yield _differs(file, checksums, f"{length} bytes", f"those of {short(size)}")
    elif not isinstance(value, int) or (value - found) % (1 << 32):
        yield _differs(file, checksums, "its content", short(value))


def _gone(file: Location, checksums: Location) -> str:
    return (
        f"{file} is gone: expected the file that {checksums} has the checksums of. Restore it from "
        "a copy."
    )


def _no_checksums(checksums: Location, found: str) -> Problem:
    error = (
        f"{checksums} is damaged: expected checksums, found {found}. Spark goes without them. "
        "Remove the file."
    )
    return Problem(location=checksums, kind="checksum", error=error, stops=False)


def _differs(
    file: Location, checksums: Location, what: str, found: str, *, stops: bool | None = None
) -> Problem:
    error = (
        f"{file} is damaged, or {checksums} is: expected the checksums of {what}, found {found}. "
        "Restore both from a copy; where only the checksums are damaged, remove them."
    )
    return Problem(location=file, kind="checksum", error=error, stops=stops)
