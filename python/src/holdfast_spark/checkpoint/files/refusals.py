"""What a file system raises, as errors of this package that name the path and what was done."""

from __future__ import annotations

import contextlib
import errno
import io
from collections.abc import Iterator
from typing import IO, Protocol

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import (
    ForbiddenPathError,
    UnansweredError,
    UnreadablePathError,
)

# An answer of the file system: something else is there, or nothing.
_OTHER_THINGS = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
_ANSWERS = (errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL)


class Bounded(Protocol):
    """A path that has to lie in a folder."""

    def require_inside(self, doing: str = "use") -> None:
        """Check that it does."""


@contextlib.contextmanager
def reported(path: object, doing: str) -> Iterator[None]:
    """Turn what a file system raises into an `UnreadablePathError`."""
    try:
        yield
    except OSError as e:
        raise UnreadablePathError(path=str(path), doing=doing, reason=cause_text(e)) from e


@contextlib.contextmanager
def asked(path: Bounded | str, doing: str) -> Iterator[None]:
    """As `answered`, of a path that leads where it may."""
    with answered(path, doing):
        if not isinstance(path, str):
            path.require_inside(doing)
        yield


@contextlib.contextmanager
def answered(path: object, doing: str) -> Iterator[None]:
    """As `reported`, but for what tells nothing of the path.

    A file system that fails to read a file may have lost it, and may as well have it: a mount is a
    network too. The library of one may raise errors of its own, such as botocore's where there are
    no credentials.

    Raises:
        ForbiddenPathError: the user may not ask.
        UnansweredError: the file system gave no answer.
        UnreadablePathError: the path is not what was expected.
    """
    with reported(path, doing):
        try:
            yield
        except PermissionError as e:
            raise ForbiddenPathError(path=str(path), doing=doing, reason=cause_text(e)) from e
        except _OTHER_THINGS:
            raise
        except OSError as e:
            if e.errno in _ANSWERS:
                raise
            raise UnansweredError(path=str(path), doing=doing, reason=cause_text(e)) from e
        except Exception as e:
            if type(e).__module__.partition(".")[0] in ("builtins", "holdfast_spark"):
                raise
            raise UnansweredError(path=str(path), doing=doing, reason=cause_text(e)) from e


class AnsweredFile(io.BufferedIOBase):
    """An open file whose every read is `answered`, so that whoever decodes it knows its own errors.

    Args:
        file: the file.
        path: where it is.
    """

    def __init__(self, file: IO[bytes], path: object) -> None:
        self._file = file
        self._path = path

    def read(self, size: int | None = -1) -> bytes:
        """Read that many bytes, fewer at the end; all for -1."""
        with answered(self._path, "read"):
            return self._file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; return it."""
        with answered(self._path, "read"):
            return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._file.tell()

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def seekable(self) -> bool:
        """Tell whether it can go to other places."""
        return self._file.seekable()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


@contextlib.contextmanager
def changing(path: Bounded, doing: str) -> Iterator[None]:
    """As `reported`, also where a file system cannot write at all, as that of an archive."""
    with reported(path, doing):
        try:
            path.require_inside(doing)
            yield
        except PermissionError as e:
            reason = f"{cause_text(e)}. Run this as a user who may"
            raise UnreadablePathError(path=str(path), doing=doing, reason=reason) from e
        except (NotImplementedError, ValueError) as e:
            raise UnreadablePathError(path=str(path), doing=doing, reason=cause_text(e)) from e
