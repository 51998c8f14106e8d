"""Whether a change that has a journal is being made, so that nobody else may undo or complete it.

In a local file system the lock of the change tells. Where there are none, what the change writes
tells as much as can be known: a command that is at work on it writes one file after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from holdfast_spark.checkpoint.changes.stopped import entries, when_changed
from holdfast_spark.checkpoint.files.change_locks import is_at_work
from holdfast_spark.checkpoint.files.journals import ChangeUnderWayError, under_way, unfinished
from holdfast_spark.checkpoint.files.location import Location


def why_under_way(checkpoint: Location, *, settled: timedelta, apply: bool) -> Iterator[str]:
    """Yield why unfinished changes may not be finished now, a sentence each.

    Args:
        checkpoint: where the checkpoint is.
        settled: where nobody knows, a change counts as cut off when nothing has been written for so
            long.
        apply: whether they are to be finished now.

    Raises:
        ChangeUnderWayError: another command is at work on one; or may be, and `apply` is given.
    """
    for journal in unfinished(checkpoint):
        at_work = is_at_work(journal.folder)
        if at_work:
            raise under_way(checkpoint, journal.folder)
        error = _recent(checkpoint, journal.folder, settled) if at_work is None else None
        if error and apply:
            raise error
        if error:
            yield str(error)


def _recent(
    checkpoint: Location, folder: Location, settled: timedelta
) -> ChangeUnderWayError | None:
    """Return what there is to say where something has been written a moment ago."""
    now = datetime.now(tz=timezone.utc)
    written = [
        (entry.modified, entry.path)
        for entry in (*folder.files(), *entries(checkpoint))
        if entry.modified
    ]
    newest, what = max(written, default=(now - settled, ""))
    if not settled or now - newest >= settled:
        return None
    wait = f"Wait until nothing has changed for {settled.total_seconds():.0f} s, or give"
    return ChangeUnderWayError(
        path=str(checkpoint),
        found=f"{when_changed(what, newest, now)}, and this file system does not tell whether a "
        "command is at work",
        wait=f"{'Give' if newest > now else wait} --settled 0 (settled=timedelta(0) in Python) if "
        "you know that none is",
    )
