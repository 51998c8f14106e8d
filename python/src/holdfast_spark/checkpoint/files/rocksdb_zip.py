"""What a snapshot of Spark's RocksDB provider says about itself.

`N.zip` has, beside files of RocksDB, a file `metadata`: a line `v1` and a line of JSON
(`RocksDBCheckpointMetadata`, 4.3).
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.boundary import TEXT_BYTES
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.state_files import StateFile

_METADATA = "metadata"
# What the module zipfile raises of files that are none, and KeyError where there is no metadata.
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError),
    *(ValueError, OverflowError, struct.error, lzma.LZMAError),
)


def count_rows(file: StateFile) -> int | None:
    """Return the number of rows of a zip, of all column families together.

    None where Spark does not count them (`rocksdb.trackTotalNumberOfRows`).

    Raises:
        MalformedFileError: it is no such zip.
        UnreadablePathError: the file system refuses it.
    """
    path = str(file.location)
    try:
        with file.location.open() as stream, zipfile.ZipFile(stream) as archive:
            with archive.open(_METADATA) as metadata:
                content = metadata.read(TEXT_BYTES + 1)
            if len(content) > TEXT_BYTES:
                raise EOFError(f"more than {TEXT_BYTES:,} bytes of {_METADATA}")
            text = content.decode("utf-8", errors="replace")
    except _DAMAGES as e:
        raise MalformedFileError(
            path=path, expected=f"a zip with a file {_METADATA}", found=cause_text(e)
        ) from e
    count = parse_json_object(text.partition("\n")[2], path=f"{path}/{_METADATA}").get("numKeys")
    if not isinstance(count, int):
        raise MalformedFileError(path=path, expected="a number in numKeys", found=repr(count))
    return count if count >= 0 else None
