"""Whether files have the checksums that were written beside them.

Hadoop keeps those of a local file in `.<name>.crc`: `crc` and a zero byte, an int32 number of bytes
B, and a CRC-32 for every B bytes, big-endian (`ChecksumFileSystem`, 3.5). Spark keeps those of a
file in `<name>.crc` as JSON (`ChecksumCheckpointFileManager`, 4.1 and later). Both refuse a file
that differs from its checksums, and take one without. What Hadoop cannot read as checksums it
ignores.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import google_crc32c

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.json_values import parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location, reported

_SUFFIX = ".crc"
_HEADER = struct.Struct(">4si")
_MAGIC = b"crc\0"
_LARGEST_CHUNK = 1 << 26
_READ_BYTES = 1 << 20
# Those of a file of 32 GiB.
_LARGEST_CHECKSUMS = 1 << 28


def check_checksums(subject: Subject) -> Iterator[Problem]:
    """Yield files that differ from their checksums, lost ones, and checksums that are none."""
    for name in subject.entries:
        if not name.endswith(_SUFFIX):
            continue
        folder, _, last = name.rpartition("/")
        checksums = subject.location / name
        base = last[: -len(_SUFFIX)]
        is_hadoop = base.startswith(".")
        target = f"{folder}/{base.removeprefix('.')}".removeprefix("/")
        if not base.removeprefix(".") or (is_hadoop and not subject.location.is_local):
            continue
        file = subject.location / target
        if target not in subject.entries:
            # What a writer left behind that did not finish.
            if not target.endswith(".tmp"):
                yield Problem(location=file, kind="checksum", error=_gone(file, checksums))
            continue
        yield from _hadoop(file, checksums) if is_hadoop else _spark(file, checksums)


def _hadoop(file: Location, checksums: Location) -> Iterator[Problem]:
    sums = checksums.read_bytes(_LARGEST_CHECKSUMS)
    magic, chunk = _HEADER.unpack_from(sums.ljust(_HEADER.size, b"\0"))
    header = sums[: _HEADER.size].hex(" ") or "nothing"
    if magic != _MAGIC or len(sums) < _HEADER.size:
        yield _no_checksums(checksums, header)
        return
    if not 0 < chunk <= _LARGEST_CHUNK:
        yield _differs(file, checksums, "pieces of some bytes each", header)
        return
    stored = sums[_HEADER.size :]
    start = 0
    for piece in _pieces(file, chunk):
        expected = stored[start // chunk * 4 :][:4]
        if not _fits(piece, expected):
            what = f"bytes {start} to {start + len(piece)}"
            yield _differs(file, checksums, what, expected.hex() or "nothing")
            return
        start += len(piece)
    if len(stored) > -(-start // chunk) * 4:
        # Hadoop does not look behind the file's end.
        yield _differs(file, checksums, f"{start} bytes", "those of more", stops=False)


def _fits(piece: bytes, expected: bytes) -> bool:
    wanted = int.from_bytes(expected, "big")
    known = zlib.crc32(piece) == wanted or google_crc32c.value(piece) == wanted
    return known and len(expected) == 4  # noqa: PLR2004 - an int32


def _spark(file: Location, checksums: Location) -> Iterator[Problem]:
    try:
        stored = parse_json_object(checksums.read_text(), path=str(checksums))
    except CheckpointError as error:
        yield Problem(location=file, kind="checksum", error=str(error))
        return
    size, value = stored.get("mainFileSize"), stored.get("value")
    length = found = 0
    for piece in _pieces(file, _READ_BYTES):
        length += len(piece)
        found = google_crc32c.extend(found, piece)
    if size != length:
        yield _differs(file, checksums, f"{length} bytes", f"those of {short(size)}")
    elif not isinstance(value, int) or (value - found) % (1 << 32):
        yield _differs(file, checksums, "its content", short(value))


def _pieces(file: Location, size: int) -> Iterator[bytes]:
    """Yield the content of a file in pieces of that many bytes, but for the last one."""
    with reported(file, "read"), file.open() as stream:
        rest = b""
        while more := stream.read(max(size, _READ_BYTES)):
            rest += more
            whole = len(rest) - len(rest) % size
            for start in range(0, whole, size):
                yield rest[start : start + size]
            rest = rest[whole:]
        if rest:
            yield rest


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
