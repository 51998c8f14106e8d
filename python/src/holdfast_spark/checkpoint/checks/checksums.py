"""Whether files have the checksums that were written beside them (`files.checksums`)."""

from __future__ import annotations

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
from holdfast_spark.checkpoint.files.json_values import parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location


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
        if target not in subject.entries:
            yield Problem(location=file, kind="checksum", error=_gone(file, checksums))
            continue
        try:
            yield from _hadoop(file, checksums) if is_hadoop else _spark(file, checksums)
        except UnreadablePathError as error:
            # Those that a query removes while it runs are not missed.
            if file.exists() and checksums.exists():
                yield Problem(location=file, kind="checksum", error=str(error))


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
    if len(stored) > -(-start // chunk) * 4:
        # Hadoop does not look behind the file's end.
        yield _differs(file, checksums, f"{start} bytes", "those of more", stops=False)


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
