"""Whether somebody else changes a checkpoint.

Nothing in it says that its query runs, and a query without new data writes nothing: that nothing
changes is not enough, which is why every change has a fence.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta, timezone

from holdfast_spark.checkpoint.changes.fence import Fence
from holdfast_spark.checkpoint.changes.own_files import last_write_of_query
from holdfast_spark.checkpoint.changes.rights import require_writable
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, RunningQueryError, UnreadablePathError
from holdfast_spark.checkpoint.files.entries import Entry
from holdfast_spark.checkpoint.files.journals import BACKUPS
from holdfast_spark.checkpoint.files.location import Location

# The folders of the logs, which a change with a fence writes to.
LOGS = ("offsets", "commits")


class StoppedQuery:
    """The checkpoint of a query that has to be stopped, and stay so.

    Args:
        checkpoint: the checkpoint, opened just now.
        settled: the query counts as stopped when it has not written anything for so long; what
            changes by Holdfast have written does not count.
        apply: whether the change is to be made; else what is in its way is gathered.

    Attributes:
        backup: folder of the change.
        in_the_way: what would keep the change from being made now, a sentence each.
    """

    def __init__(self, checkpoint: Checkpoint, *, settled: timedelta, apply: bool) -> None:
        self._checkpoint = checkpoint
        self._location = checkpoint.location
        self._apply = apply
        self._before = entries(checkpoint.location)
        self._settled = settled
        self._now = datetime.now(tz=timezone.utc)
        self.in_the_way: tuple[str, ...] = ()
        stamp = self._now.strftime("%Y%m%dT%H%M%S.%fZ")
        self.backup = self._location / BACKUPS / stamp

    def require_settled(self) -> None:
        """Check that the query seems to be stopped.

        To be called where there is something to change: else nothing is in its way.

        Raises:
            RunningQueryError: the query has written since, and the change is to be made.
        """
        written = last_write_of_query(self._location, self._before)
        newest, what = written or (self._now - self._settled, "")
        if self._settled and self._now - newest < self._settled:
            wait = f"wait until nothing has changed for {self._settled.total_seconds():.0f} s, or "
            self._refuse(
                RunningQueryError(
                    path=str(self._location),
                    changed=when_changed(what, newest, self._now),
                    # No waiting helps where the clock is hours behind.
                    wait=f"{'' if newest > self._now else wait}give --settled 0 "
                    "(settled=timedelta(0) in Python) if you know that it is stopped",
                )
            )

    def require_writable(self, *folders: str) -> None:
        """Check that the user may write where the change has to.

        Args:
            folders: names of the folders of the checkpoint that are written to.

        Raises:
            UnreadablePathError: the user may not write, and the change is to be made.
        """
        try:
            require_writable(self._location, folders)
        except UnreadablePathError as error:
            self._refuse(error)

    def fence(self, *, stopped: bool) -> Fence:
        """Return the fence of the change.

        Args:
            stopped: the query is known to run nowhere, so that a planned batch is not running.

        Raises:
            RunningQueryError: a batch may be running, and the change is to be made.
            ContradictingLogsError: the logs say what no query leaves behind.
        """
        try:
            return Fence.before_next_batch(self._checkpoint, stopped=stopped)
        except RunningQueryError as error:
            self._refuse(error)
            return Fence.before_next_batch(self._checkpoint, stopped=True)

    def _refuse(self, error: CheckpointError) -> None:
        if self._apply:
            raise error
        self.in_the_way += (str(error),)

    def require_unchanged(self, *, but: Collection[Location] = ()) -> None:
        """Check that nobody has changed the checkpoint since it was opened.

        Raises:
            RunningQueryError: a file other than those was added, changed or removed.
        """
        ours = {location.path for location in but}
        then = {entry for entry in self._before if entry.path not in ours}
        now = {entry for entry in entries(self._location) if entry.path not in ours}
        if then != now:
            changed = sorted(entry.path for entry in then ^ now)
            raise RunningQueryError(
                path=str(self._location),
                changed=f"{changed[0]} has changed meanwhile",
                wait="try again",
            )


def when_changed(what: str, time: datetime, now: datetime) -> str:
    """Return how long ago something changed, or that its time lies in the future."""
    seconds = int((now - time).total_seconds())
    if time <= now:
        return f"{what} changed {seconds} s ago"
    return (
        f"the time of {what} lies {max(1, -seconds):,} s in the future, as where this clock was "
        "set back, or that of another machine is ahead"
    )


def entries(checkpoint: Location) -> list[Entry]:
    """Return the files that a running query adds to."""
    return [
        entry for name in ("offsets", "commits", "state") for entry in (checkpoint / name).files()
    ]


def checksum_files(file: Location) -> tuple[Location, Location]:
    """Return where checksums of a file may lie.

    Hadoop's local file system has `.<name>.crc`, Spark's `ChecksumCheckpointFileManager` (4.1 and
    later) `<name>.crc`. Both take a file without its checksum as it is, and refuse a wrong one.
    """
    folder, _, name = file.path.rpartition("/")
    return file.at(f"{folder}/.{name}.crc"), file.at(f"{folder}/{name}.crc")


def checksum_files_and_theirs(file: Location) -> tuple[Location, ...]:
    """Return where checksums of a file may lie, and those that Hadoop has of Spark's.

    They go with the file: checksums that are left alone tell that a file is gone.
    """
    hadoops, sparks = checksum_files(file)
    return hadoops, checksum_files(sparks)[0], sparks
