"""Whether something is left of each source in `sources/` that ever had something there."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.shared_sources import sources_by_folder
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.log_entries import NO_OFFSET


def check_source_files(subject: Subject) -> Iterator[Problem]:
    """Yield folders and files without content; Spark makes a folder to put something there."""
    sources = subject.location / "sources"
    if not sources.exists():
        return
    folders = sources.names()
    # A file source that has seen no file yet has a folder, and nothing in it.
    found = sources_by_folder(subject)
    unread = {folder for folder, source in found.items() if source.offset == NO_OFFSET}
    for folder in [sources / name for name in folders] or [sources]:
        kept = [name for name in folder.names() if not _is_temporary(name)]
        if not kept and folder.path.rpartition("/")[2] not in unread:
            yield Problem(
                location=folder,
                kind="source",
                error=f"{folder} is empty: expected what a source keeps there. Restore the folder "
                "from a copy; without it the source begins anew.",
                stops=True,
            )
    for name, entry in subject.entries.items():
        if not name.startswith("sources/") or _is_temporary(entry.name):
            continue
        if not entry.size_bytes:
            file = subject.location / name
            error = f"{file} is empty: expected what a source keeps. Restore it from a copy."
            yield Problem(location=file, kind="source", error=error, stops=True)


def _is_temporary(name: str) -> bool:
    """Whether a file is what a writer left behind that did not finish, or the checksums of that."""
    return name.startswith(".") and name.removesuffix(".crc").endswith(".tmp")
