"""Where a change of a checkpoint keeps what it replaces, and the journal of what it does."""

from __future__ import annotations

from holdfast_spark.checkpoint.files.location import Location

BACKUPS = "holdfast-backup"
JOURNAL = "journal.json"


def unfinished(checkpoint: Location) -> list[Location]:
    """Return the journals of changes that were cut off."""
    backups = checkpoint / BACKUPS
    journals = (backups / name / JOURNAL for name in sorted(backups.names()))
    return [journal for journal in journals if journal.exists()]
