"""The checksums that are written beside files, and where a file differs from them.

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

from holdfast_spark.checkpoint.errors import DamagedStateFileError, MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StateFile

SUFFIX = ".crc"
HEADER = struct.Struct(">4si")
MAGIC = b"crc\0"
LARGEST_CHUNK = 1 << 26
READ_BYTES = 1 << 20
# Those of a file of 32 GiB.
LARGEST_CHECKSUMS = 1 << 28


def require_checksums(file: StateFile) -> None:
    """Check that a state file has the checksums that lie beside it, as Spark does.

    Raises:
        DamagedStateFileError: it has others.
        CheckpointError: one of the files cannot be read.
    """
    for checksums in file.checksums:
        at = first_difference(file.location, checksums)
        if at is not None:
            raise DamagedStateFileError(
                path=str(file.location),
                version=file.version,
                offset=at,
                of="the file",
                expected=f"bytes with the checksums in {checksums}",
                found="others, here or in what follows",
            )


def has_checksums(file: StateFile) -> bool:
    """Tell whether a state file has the checksums that lie beside it, if there are any.

    Raises:
        CheckpointError: one of the files cannot be read.
    """
    try:
        require_checksums(file)
    except DamagedStateFileError:
        return False
    return True


def require_checksums_beside(file: Location, beside: tuple[Location, ...]) -> None:
    """Check that a log, metadata or schema file has the checksums that lie beside it, if any.

    Raises:
        MalformedFileError: it has others.
        CheckpointError: one of the files cannot be read.
    """
    for checksums in beside:
        if checksums.is_file() and first_difference(file, checksums) is not None:
            raise MalformedFileError(
                path=str(file),
                expected=f"bytes with the checksums in {checksums}",
                found="others",
            )


def first_difference(file: Location, checksums: Location) -> int | None:
    """Return where the piece begins that has another checksum; None where the file has its own."""
    if not checksums.path.rpartition("/")[2].startswith("."):
        return _spark_difference(file, checksums)
    sums = checksums.read_bytes(LARGEST_CHECKSUMS)
    magic, chunk = HEADER.unpack_from(sums.ljust(HEADER.size, b"\0"))
    if magic != MAGIC or len(sums) < HEADER.size:
        return None
    if not 0 < chunk <= LARGEST_CHUNK:
        return 0
    stored, start = sums[HEADER.size :], 0
    for piece in pieces(file, chunk):
        if not fits(piece, stored[start // chunk * 4 :][:4]):
            return start
        start += len(piece)
    return None


def _spark_difference(file: Location, checksums: Location) -> int | None:
    stored = parse_json_object(checksums.read_text(), path=str(checksums))
    length, found = spark_sum(file)
    value = stored.get("value")
    if stored.get("mainFileSize") != length or not isinstance(value, int):
        return 0
    return 0 if (value - found) % (1 << 32) else None


def spark_sum(file: Location) -> tuple[int, int]:
    """Return the length and the CRC-32C of a file."""
    length = found = 0
    for piece in pieces(file, READ_BYTES):
        length += len(piece)
        found = google_crc32c.extend(found, piece)
    return length, found


def fits(piece: bytes, expected: bytes) -> bool:
    """Tell whether a piece has a checksum of either kind that Hadoop has."""
    if len(expected) < 4:  # noqa: PLR2004 - an int32
        return False
    wanted = int.from_bytes(expected, "big")
    return zlib.crc32(piece) == wanted or google_crc32c.value(piece) == wanted


def pieces(file: Location, size: int) -> Iterator[bytes]:
    """Yield the content of a file in pieces of that many bytes, but for the last one."""
    with file.open() as stream:
        rest = b""
        while more := stream.read(max(size, READ_BYTES)):
            rest += more
            whole = len(rest) - len(rest) % size
            for start in range(0, whole, size):
                yield rest[start : start + size]
            rest = rest[whole:]
        if rest:
            yield rest
