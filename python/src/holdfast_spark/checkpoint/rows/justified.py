"""How much memory the content of a state file may take: so much as the file's size bears out.

A few kilobytes of Zstandard can stand for gigabytes. Where content passes by in pieces, nobody has
to know; but a record is held whole, and so are the changes of deltas.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast_spark.checkpoint.errors import DamagedStateFileError
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.records import Records
from holdfast_spark.checkpoint.rows.scan import RATIO

# The changes of deltas that any file may have.
HELD_BYTES = 256 << 20


class Held:
    """Counts what is held of files; for one thread.

    Args:
        files: the files, which may be held together.
    """

    def __init__(self, files: Iterable[StateFile]) -> None:
        self._most = HELD_BYTES + RATIO * sum(file.size_bytes for file in files)
        self._bytes = 0

    def add(self, records: Records, file: StateFile) -> None:
        """Count records, which are held from here on.

        Raises:
            DamagedStateFileError: they are more than the files bear out.
        """
        self._bytes += records.held_bytes
        if self._bytes > self._most:
            raise DamagedStateFileError(
                path=str(file.location),
                version=file.version,
                offset=0,
                of="its decompressed content",
                expected=f"changes of at most {self._most:,} bytes, which is {RATIO:,} times what "
                "the deltas are compressed, and some megabytes",
                found="more",
            )
