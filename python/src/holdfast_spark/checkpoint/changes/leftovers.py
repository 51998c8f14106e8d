"""What is left of changes that ended before they began: new files without a journal.

While a change writes its new files it has changed nothing, so that it needs no journal; a process
that is killed there leaves them, as large as the state perhaps.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from holdfast_spark.checkpoint.files.change_locks import is_at_work
from holdfast_spark.checkpoint.files.journals import BACKUPS, JOURNAL, NEW, remove_backup
from holdfast_spark.checkpoint.files.location import Location


def leftovers(checkpoint: Location, *, settled: timedelta) -> list[Location]:
    """Return the folders of changes that ended before they began.

    Args:
        checkpoint: where the checkpoint is.
        settled: a change to whose folder nothing has come for so long has ended.

    Raises:
        UnreadablePathError: the file system refuses.
    """
    backups = checkpoint / BACKUPS
    before = datetime.now(tz=timezone.utc) - settled
    folders = (backups / name for name in sorted(backups.names()))
    return [folder for folder in folders if _is_left(folder, before)]


def remove_leftovers(found: list[Location], *, settled: timedelta) -> None:
    """Remove those of these folders whose change has not begun, or gone on, meanwhile.

    Raises:
        UnreadablePathError: the file system refuses.
    """
    before = datetime.now(tz=timezone.utc) - settled
    for folder in found:
        if _is_left(folder, before):
            remove_backup(folder)


def _is_left(folder: Location, before: datetime) -> bool:
    if (folder / JOURNAL).exists() or not (folder / NEW).exists() or is_at_work(folder):
        return False
    return all(file.modified is None or file.modified <= before for file in folder.files())
