"""What a file system raises, as errors of this package that name the path and what was done."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import ForbiddenPathError, UnreadablePathError


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
    """As `reported`, also where the library of an object store raises errors of its own.

    Such as botocore's where there are no credentials.
    """
    with reported(path, doing):
        try:
            if not isinstance(path, str):
                path.require_inside(doing)
            yield
        except PermissionError as e:
            raise ForbiddenPathError(path=str(path), doing=doing, reason=cause_text(e)) from e
        except Exception as e:
            if type(e).__module__.partition(".")[0] in ("builtins", "holdfast_spark"):
                raise
            raise UnreadablePathError(path=str(path), doing=doing, reason=cause_text(e)) from e


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
