"""What others do to a checkpoint while it is read: its query, and commands that change it.

A query that runs removes its oldest files when it has newer ones, and a change moves files away.
Neither is damage. Whoever misses a file looks again, and says so where that does not help.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    CleanedUpError,
    GoneFileError,
    MissingVersionError,
)
from holdfast_spark.checkpoint.files.journals import (
    BACKUPS,
    ChangedMeanwhileError,
    require_none_at_work,
)
from holdfast_spark.checkpoint.files.logs import batch_ids

Found = TypeVar("Found")

# How often a checkpoint is read before it is said that others leave no time for it.
TRIES = 3
# What reading ends with where others have taken something away.
MISSED = (GoneFileError, MissingVersionError)


class Others:
    """What others have done to a checkpoint since it was opened; for one thread.

    Args:
        checkpoint: the checkpoint, opened just now.

    Raises:
        ChangeUnderWayError: another command is changing it.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        require_none_at_work(checkpoint.location)
        self._changes = self._names_of_changes()

    def have_changed(self) -> bool:
        """Tell whether another command has changed the checkpoint.

        Raises:
            ChangeUnderWayError: it is still at work.
        """
        require_none_at_work(self._checkpoint.location)
        return self._names_of_changes() != self._changes

    def _names_of_changes(self) -> dict[str, frozenset[str]]:
        """Return what lies in the folder of each change, which tells how far it has come."""
        backups = self._checkpoint.location / BACKUPS
        return {name: frozenset((backups / name).names()) for name in backups.names()}

    def have_gone_on(self) -> bool:
        """Tell whether the query has planned another batch, so that it may have cleaned up."""
        newest = max(batch_ids(self._checkpoint.location / "offsets"), default=-1)
        return newest > self._checkpoint.planned[-1]

    def why_missed(self, error: CheckpointError) -> CheckpointError | None:
        """Return what there is to say of a file that was missed; None where it is lost.

        Raises:
            ChangeUnderWayError: another command is changing the checkpoint.
        """
        path = str(self._checkpoint.location)
        if self.have_changed():
            backups = str(self._checkpoint.location / BACKUPS)
            return ChangedMeanwhileError(path=path, backups=backups)
        return CleanedUpError(path=path, gone=error) if self.have_gone_on() else None


def beside_others(
    checkpoint: Checkpoint, do: Callable[[Checkpoint], Found], *, apply: bool
) -> Found:
    """Do something with a checkpoint, and again where others have disturbed that.

    Args:
        checkpoint: the checkpoint, opened just now.
        do: what to do with it.
        apply: whether that changes the checkpoint, which is tried once: nobody else may be there.

    Raises:
        ChangeUnderWayError: another command is changing the checkpoint.
        ChangedMeanwhileError: one has changed it, again and again.
        CleanedUpError: the query runs, and removes files faster than they are read.
    """
    for left in reversed(range(1 if apply else TRIES)):
        others = Others(checkpoint)
        try:
            return do(checkpoint)
        except MISSED as error:
            why = others.why_missed(error)
            if why is None:
                raise
            if not left:
                raise why from error
        checkpoint = Checkpoint.open(checkpoint.location)
    raise AssertionError  # the last one has returned or raised
