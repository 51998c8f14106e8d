"""File operations that fail, and processes that end in the middle of them.

Every change to a local file is told to Python's audit hooks before it happens, and a hook can
refuse it. What is not told, `fsync`, is replaced.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast_spark.checkpoint.errors import CheckpointError, UnansweredError
from holdfast_spark.checkpoint.files.journals import BACKUPS

_CHANGES = {
    *("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"),
    *("os.link", "os.truncate", "shutil.rmtree"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class KilledError(BaseException):
    """The process has ended."""


class Faults:
    """Counts the changes of files, and makes one fail; or the questions, where those are to fail.

    Args:
        at: number of the change that fails, from 1; 0 for none.
        error: what it fails with; after a `KilledError` all others fail as well, and so they do
            where the file system has become read-only.
        of_questions: whether it is a question that fails: what a file is, what a folder holds.
        lasts: whether all after it fail as well.
    """

    active: Faults | None = None

    def __init__(
        self,
        at: int,
        error: Callable[[], BaseException],
        *,
        of_questions: bool = False,
        lasts: bool = False,
    ) -> None:
        self.count = 0
        self.failed = False
        self._at = at
        self._error = error
        self._of_questions = of_questions
        self._lasts = lasts

    def change(self) -> None:
        if not self._of_questions:
            self._next()

    def question(self) -> None:
        if self._of_questions:
            self._next()

    def _next(self) -> None:
        self.count += 1
        error = self._error()
        read_only = getattr(error, "errno", None) == errno.EROFS
        lasts = self._lasts or isinstance(error, KilledError) or read_only
        dead = self.failed and lasts
        if self.count == self._at or dead:
            self.failed = True
            raise error


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_only() -> OSError:
    return OSError(errno.EROFS, os.strerror(errno.EROFS))


def connection_lost() -> OSError:
    return ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))


def bad_request() -> OSError:
    """What `s3fs` raises where a token is over, or a region is wrong."""
    return OSError(errno.EINVAL, "Bad Request")


class LibraryError(Exception):
    """What the library of a store of objects raises, which is no `OSError`."""


def server_busy() -> LibraryError:
    return LibraryError("The server is busy.")


def no_permission() -> OSError:
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if Faults.active is None:
        return
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
    if event in _CHANGES or writes:
        Faults.active.change()


sys.addaudithook(_hook)


@dataclass(frozen=True)
class Attempt:
    """What came of a command in which a change of a file was to fail.

    Attributes:
        reached: whether there was a change of that number.
        error: what the command ended with; None when it succeeded nevertheless.
    """

    reached: bool
    error: BaseException | None


def attempt(  # noqa: PLR0913 - what fails, and how
    monkeypatch: pytest.MonkeyPatch,
    at: int,
    error: Callable[[], BaseException],
    command: Callable[[], object],
    *,
    of_questions: bool = False,
    lasts: bool = False,
) -> Attempt:
    """Run a command in which the change, or the question, of that number fails."""
    injected = Faults(at, error, of_questions=of_questions, lasts=lasts)
    ended: BaseException | None = None
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: injected.change())
        Faults.active = injected
        try:
            command()
        except (CheckpointError, UnansweredError, KilledError) as e:
            ended = e
        finally:
            Faults.active = None
    return Attempt(injected.failed, ended)


def content(folder: Path) -> dict[str, bytes]:
    """The files of a checkpoint, without the backups."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and BACKUPS not in path.parts
    }
