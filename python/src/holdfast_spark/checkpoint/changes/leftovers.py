"""What is left of changes that ended before they began: new files without a journal.

While a change writes its new files it has changed nothing, so that it needs no journal; a process
that is killed there leaves them, as large as the state perhaps.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from holdfast_spark.checkpoint.files.change_locks import is_at_work
from holdfast_spark.checkpoint.files.journals import BACKUPS, JOURNAL, NEW, remove_backup
from holdfast_spark.checkpoint.files.location import Location

# How long a command may make a file before it writes it, such as the state of a store on its way to
# or from RocksDB: where there are no locks, nobody knows that it is at work.
_LONGEST_SILENCE = timedelta(hours=6)


def leftovers(checkpoint: Location, *, settled: timedelta) -> list[Location]:
    """Return the folders of changes that ended before they began.

    Args:
        checkpoint: where the checkpoint is.
        settled: a change to whose folder nothing has come for so long has ended, if the file system
            has locks; without, it takes hours. With `timedelta(0)` every one has.

    Raises:
        UnreadablePathError: the file system refuses.
    """
    backups = checkpoint / BACKUPS
    folders = (backups / name for name in sorted(backups.names()))
    return [folder for folder in folders if _is_left(folder, settled)]


def remove_leftovers(found: list[Location], *, settled: timedelta) -> None:
    """Remove those of these folders whose change has not begun, or gone on, meanwhile.

    Raises:
        UnreadablePathError: the file system refuses.
    """
    for folder in found:
        if _is_left(folder, settled):
            remove_backup(folder)


def _is_left(folder: Location, settled: timedelta) -> bool:
    if (folder / JOURNAL).exists() or not (folder / NEW).exists():
        return False
    at_work = is_at_work(folder)
    if at_work or settled == timedelta(0):
        return not at_work
    quiet = settled if at_work is False else max(settled, _LONGEST_SILENCE)
    before = datetime.now(tz=timezone.utc) - quiet
    return all(file.modified is not None and file.modified <= before for file in folder.files())
