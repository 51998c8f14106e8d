"""What a file system raises, as errors of this package that name the path and what was done."""

from __future__ import annotations

import contextlib
import errno
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Protocol

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import (
    ForbiddenPathError,
    GoneFileError,
    UnansweredError,
    UnreadablePathError,
)
from holdfast_spark.errors import HoldfastError

# Answers: something else is there, or nothing, or what is there is no such archive.
_ANSWERS = (
    *(FileNotFoundError, IsADirectoryError, NotADirectoryError),
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
)
# Of the local file system alone: the libraries of others have these for whatever is wrong. A stale
# handle is one to a file that another machine has removed.
_LOCAL_ANSWERS = (errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ESTALE)
_BAD_NAME = "ParamValidationError"  # of botocore


class Bounded(Protocol):
    """A path that has to lie in a folder."""

    @property
    def is_local(self) -> bool:
        """Whether it lies in the local file system."""

    def require_inside(self, doing: str = "use") -> None:
        """Check that it does."""


@contextlib.contextmanager
def reported(path: object, doing: str) -> Iterator[None]:
    """Turn what a local file system raises into an `UnreadablePathError`."""
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
def answered(path: Bounded | str, doing: str) -> Iterator[None]:
    """Turn what a file system raises when it is asked into an error of this package.

    One that fails to read a file may have lost it, and may as well have it: a mount is a network
    too. Their libraries raise errors of their own besides, such as botocore's where there are no
    credentials, and any that Python has.

    Raises:
        ForbiddenPathError: the user may not ask.
        GoneFileError: there is nothing at the path.
        UnansweredError: the file system gave no answer.
        UnreadablePathError: the path is not what was expected.
    """
    try:
        yield
    except HoldfastError:
        raise
    except Exception as e:
        is_local = "://" not in path if isinstance(path, str) else path.is_local
        if isinstance(e, PermissionError):
            kind: type[UnansweredError | UnreadablePathError] = ForbiddenPathError
        elif isinstance(e, FileNotFoundError):
            kind = GoneFileError
        elif _is_answer(e, is_local=is_local):
            kind = UnreadablePathError
        elif isinstance(e, OSError) or _is_of_library(e, is_local=is_local):
            kind = UnansweredError
        else:
            raise
        raise kind(path=str(path), doing=doing, reason=cause_text(e)) from e


def _is_answer(error: Exception, *, is_local: bool) -> bool:
    if isinstance(error, OSError) and is_local and error.errno in _LOCAL_ANSWERS:
        return True
    return isinstance(error, _ANSWERS) or type(error).__name__ == _BAD_NAME


def _is_of_library(error: Exception, *, is_local: bool) -> bool:
    """Tell whether an error may be the library's of a file system; others are a program's."""
    if not is_local and isinstance(error, (RuntimeError, ValueError)):
        return True
    return type(error).__module__.partition(".")[0] != "builtins"


class AnsweredFile(io.BufferedIOBase):
    """An open file whose every read is `answered`, so that whoever decodes it knows its own errors.

    Args:
        file: the file.
        path: where it is.
    """

    def __init__(self, file: IO[bytes], path: Bounded) -> None:
        self._file = file
        self._path = path

    def read(self, size: int | None = -1) -> bytes:
        """Read that many bytes, fewer at the end; all for -1."""
        with answered(self._path, "read"):
            return self._file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, which reads nothing; return it."""
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
    """Turn what a file system raises when it is to change something into an `UnreadablePathError`.

    Also where it cannot write at all, as that of an archive.
    """
    try:
        path.require_inside(doing)
        yield
    except HoldfastError:
        raise
    except Exception as e:
        ours = isinstance(e, (OSError, NotImplementedError, ValueError))
        if not ours and not _is_of_library(e, is_local=path.is_local):
            raise
        reason = cause_text(e)
        if isinstance(e, PermissionError):
            reason = f"{reason}. Run this as a user who may"
        raise UnreadablePathError(path=str(path), doing=doing, reason=reason) from e
