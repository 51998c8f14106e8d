"""Whether the input files that a file source has read bear the names that its log has.

A name that is damaged is one that Spark does not know the file by: it reads the file a second time.
Input files may be removed once they have been read, the oldest first, so that one that is not there
says nothing by itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

_LOCAL = re.compile(r"file:(//)?/")
_LOOKED_FOR = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """An input file as the log has it.

    Attributes:
        path: its URI.
        modified_ms: when it was last changed, in milliseconds since 1970, as the log says.
        batch: the batch of the source that has read it.
    """

    path: str
    modified_ms: Any
    batch: int

    @property
    def folder(self) -> str:
        """The URI of the folder that it is in."""
        return self.path.rpartition("/")[0]

    @property
    def scheme(self) -> str:
        """What its URI begins with: the file system that it is in."""
        return self.path.partition(":")[0]

    @property
    def local(self) -> Path | None:
        """Where it is on this machine; None where it is elsewhere."""
        found = _LOCAL.match(self.path)
        return Path(unquote(self.path[found.end() - 1 :])) if found else None


def lost_inputs(inputs: Mapping[int, Sequence[InputFile]]) -> Iterator[tuple[int, str]]:
    """Yield the batches with a local input file that is not there, and what tells of damage.

    That is an older one which is there; or just one that no batch names, of the same name or in the
    same folder, and of the time that the log has.

    Args:
        inputs: the input files of each batch that Spark reads the log of.

    Yields:
        The batch, and what is wrong with its file, from the second word of the sentence on.
    """
    newest_first = (
        (batch, file, place)
        for batch in sorted(inputs, reverse=True)
        for file in reversed(inputs[batch])
        if (place := file.local)
    )
    older = False
    unnamed: list[tuple[Path, int]] | None = None
    for batch, file, place in [*islice(newest_first, _LOOKED_FOR)][::-1]:
        if not _is_gone(place):
            older = True
        elif older:
            yield (
                batch,
                f"names the input file {file.path}, which is not there: expected it as older ones "
                "are. If it has not been removed on purpose, the name is damaged, and Spark reads "
                "the file a second time. Restore the log from a copy.",
            )
        else:
            if unnamed is None:
                files = (each for of_batch in inputs.values() for each in of_batch)
                unnamed = list(_unnamed({place for each in files if (place := each.local)}))
            alike = [
                other
                for other, modified_ms in unnamed
                if modified_ms == file.modified_ms
                and (other.name == place.name or other.parent == place.parent)
            ]
            if len(alike) == 1:
                yield (
                    batch,
                    f"names the input file {file.path}, which is not there: expected {alike[0]}, "
                    "which is of the time that the log has, and which no batch names. Spark reads "
                    "that a second time. Restore the log from a copy.",
                )


def _is_gone(place: Path) -> bool:
    """Tell whether a file is not there, as one whose name is too long; not if nobody can tell."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError as e:
        return e.errno == errno.ENAMETOOLONG
    return False


def _unnamed(named: set[Path]) -> Iterator[tuple[Path, int]]:
    """Yield the files beside these that no batch names, and when each was changed."""
    for folder in {place.parent for place in named}:
        with contextlib.suppress(OSError, ValueError), os.scandir(folder) as found:
            for entry in found:
                if entry.is_file() and Path(entry.path) not in named:
                    yield Path(entry.path), entry.stat().st_mtime_ns // 1_000_000
