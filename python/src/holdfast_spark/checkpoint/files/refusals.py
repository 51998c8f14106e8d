"""What a file system raises, as errors of this package that name the path and what was done."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import Protocol

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
            if not isinstance(path, str):
                path.require_inside(doing)
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
