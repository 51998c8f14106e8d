"""Whether the log of a file source, `sources/<n>/`, has every file that the query has read.

Each batch of the source is a file named for its number, every tenth by default one that carries
all before it, `N.compact`; a line of JSON for each input file tells its path and its batch. Spark
reads the newest compact file and all after it (`FileStreamSourceLog`, `CompactibleFileStreamLog`,
4.3), and what it does not find there it reads again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.source_offsets import parsed
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import parse_json_object
from holdfast_spark.checkpoint.files.state_files import as_ranges

_NAME = re.compile(r"(\d+)(\.compact)?")
_OFFSET = "logOffset"


def check_file_sources(subject: Subject) -> Iterator[Problem]:
    """Yield what is wrong with the logs of file sources."""
    entry = subject.readable_offsets.get(subject.named.planned[-1])
    for place, text in enumerate(entry.sources.values() if entry else ()):
        offset = parsed(text)
        if isinstance(offset, dict) and isinstance(offset.get(_OFFSET), int):
            yield from _check(subject, place, offset[_OFFSET])


def _check(subject: Subject, place: int, newest: int) -> Iterator[Problem]:
    folder = subject.location / "sources" / place
    names = [name.rpartition("/")[2] for name in subject.entries if _below(name, place)]
    batches = {int(found[1]): found[0] for name in names if (found := _NAME.fullmatch(name))}
    start = max((batch for batch, name in batches.items() if name.endswith(".compact")), default=0)
    last = max(newest, *batches, 0)
    gone = [batch for batch in range(start, last + 1) if batch not in batches]
    if gone:
        yield _problem(
            folder / gone[-1] if batches else folder,
            f"{folder} has lost the source's batches {as_ranges(gone)}: expected {start} to "
            f"{last}, "
            "with the files that each has read. Spark refuses to start, or reads them again. "
            "Restore them from a copy.",
        )
    for batch, name in batches.items():
        try:
            _read(folder / name, batch, is_compact=name.endswith(".compact"))
        except CheckpointError as error:
            yield _problem(folder / name, str(error), stops=batch >= start)


def _below(name: str, place: int) -> bool:
    return name.startswith(f"sources/{place}/") and name.count("/") == 2  # noqa: PLR2004


def _read(file: Location, batch: int, *, is_compact: bool) -> None:
    lines = file.read_text().splitlines()
    if not lines or lines[0] != "v1":
        found = repr(lines[0][:20]) if lines else "nothing"
        raise MalformedFileError(path=str(file), expected="v1 in the first line", found=found)
    for line in lines[1:]:
        entry = parse_json_object(line, path=str(file))
        path, of_batch = entry.get("path"), entry.get("batchId")
        fits = isinstance(of_batch, int) and (
            of_batch <= batch if is_compact else of_batch == batch
        )
        if not isinstance(path, str) or "�" in line or not fits:
            raise MalformedFileError(
                path=str(file),
                expected=f"input files of its batch {batch}",
                found=line[:120],
            )


def _problem(file: Location, error: str, *, stops: bool = True) -> Problem:
    return Problem(location=file, kind="source", error=error, stops=stops)
