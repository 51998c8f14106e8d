"""Files as a file system lists them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

# What the file systems call the time of a file's last change.
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modificationTime", "created")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file.

    Attributes:
        path: path in its file system.
        size_bytes: its size.
        modified: time of its last change in UTC; None where the file system does not tell.
    """

    path: str
    size_bytes: int
    modified: datetime | None

    @classmethod
    def of(cls, path: str, info: Mapping[str, Any]) -> Entry:
        """Return what fsspec tells of a path."""
        return cls(path=path, size_bytes=int(info["size"] or 0), modified=_modified(info))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


def is_marker(path: str) -> bool:
    """Tell whether a path is that of an empty object that stands for a folder.

    Hadoop's `s3a` leaves one for each folder that it makes (`fs.s3a.directory.marker.retention`).
    """
    return path.endswith("/")


def _modified(info: Mapping[str, Any]) -> datetime | None:
    for name in _TIMES:
        value = info.get(name)
        if isinstance(value, (int, float)):
            # Hadoop counts milliseconds, everybody else seconds.
            seconds = value / 1000 if name == "modificationTime" else value
            with contextlib.suppress(OverflowError, ValueError):  # no year of a calendar
                return datetime.fromtimestamp(seconds, tz=timezone.utc)
            return None
        if isinstance(value, str):
            return datetime.fromisoformat(value.replace("Z", "+00:00"))
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return None
