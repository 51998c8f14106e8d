"""Whether the log of a file source, `sources/<n>/`, has every file that the query has read.

Each batch of the source is a file named for its number, every tenth by default one that carries
all before it, `N.compact`; a line of JSON for each input file tells its path and its batch. Spark
reads the newest compact file and all after it (`FileStreamSourceLog`, `CompactibleFileStreamLog`,
4.3), and what it does not find there it reads again. No batch is without input files
(`FileStreamSource.fetchMaxOffset`), and none of them is left out of a compact file; sinks leave out
some of theirs (`shouldRetain`).
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from holdfast_spark.checkpoint.checks.file_source_log import LogFile, input_files, read_log_file
from holdfast_spark.checkpoint.checks.input_files import lost_inputs
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.shared_sources import repeated_places, sources_by_folder
from holdfast_spark.checkpoint.checks.source_offsets import LOG_OFFSET
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.json_values import json_or_none
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.numbers import LARGEST_LONG, gaps, ranges_text, whole_number

_NAME = re.compile(r"(\d+)(\.compact)?")


def check_file_sources(subject: Subject) -> Iterator[Problem]:
    """Yield what is wrong with the logs of file sources."""
    logs: dict[str, dict[int, LogFile]] = {}
    for place, source in sources_by_folder(subject).items():
        offset = json_or_none(source.offset)
        newest = offset.get(LOG_OFFSET) if isinstance(offset, dict) else None
        if type(newest) is int and -1 <= newest <= LARGEST_LONG:
            logs[place] = {}
            yield from _check(subject, place, newest, logs[place])
    yield from _of_other_sources(subject, logs)


def _check(subject: Subject, place: str, newest: int, log: dict[int, LogFile]) -> Iterator[Problem]:
    """Yield what is wrong with the log of a source, and add what its files have by their batch."""
    folder = subject.location / "sources" / place
    names = [name.rpartition("/")[2] for name in subject.entries if _below(name, place)]
    batches = {
        batch: found[0]
        for name in names
        if (found := _NAME.fullmatch(name)) and (batch := whole_number(found[1])) is not None
    }
    start = max((batch for batch, name in batches.items() if _is_compact(name)), default=0)
    last = max(newest, *batches, 0)
    gone = gaps(batches, start, last)
    if gone:
        yield _problem(
            folder / gone[-1][-1] if batches else folder,
            f"{folder} has lost the source's batches {ranges_text(gone)}: expected {start} to "
            f"{last}, with the files that each has read{_unless_shared(subject)}. Spark refuses to "
            "start, or reads them again. Restore them from a copy.",
        )
    for batch, name in sorted(batches.items()):  # each compact file behind what it carries
        try:
            log[batch] = read_log_file(
                folder / name,
                batch,
                log,
                is_compact=_is_compact(name),
                keep=subject.location.is_local and batch >= start,
            )
        except CheckpointError as error:
            yield _problem(folder / name, str(error), stops=batch >= start)
    yield from _not_carried(folder, log, batches, start)
    yield from _elsewhere(folder, log, batches)
    if subject.location.is_local:
        live = {batch: file.kept for batch, file in log.items() if batch >= start}
        for batch, text in lost_inputs(live):
            yield _problem(folder / batch, f"{folder / batch} {text}")


def _unless_shared(subject: Subject) -> str:
    """Return what else it may be, where there may be fewer sources than lines of the offsets."""
    if subject.shared_sources or not repeated_places(subject):
        return ""
    return (
        ", or --shared-sources where the query reads one source in several places, as a stream "
        "that is joined with itself"
    )


def _not_carried(
    folder: Location, log: Mapping[int, LogFile], names: Mapping[int, str], start: int
) -> Iterator[Problem]:
    """Yield compact files that lack input files of a batch up to theirs.

    It is one that has none of a batch, whether or not a file of that batch is still there; or one
    that lacks an input file which a file that is there, compact or not, says to have been read.
    Those that are like their batches in the compact file need not be looked at for that.

    Args:
        folder: where the log is.
        log: what the files have that can be read, by batch.
        names: the name of the file of each batch.
        start: the batch that Spark reads the log from.
    """
    for batch, file in log.items():
        found = None
        if file.lost:
            found = f"none of {ranges_text(file.lost)}"
        elif file.unlike and (gone := _first_lost(folder, batch, file.unlike, names)):
            found = f"none that says {gone[1]}, as {folder / names[gone[0]]} does"
        if found:
            yield _not_whole(folder / names[batch], batch, found, stops=batch >= start)


def _first_lost(
    folder: Location, batch: int, earlier: Iterable[int], names: Mapping[int, str]
) -> tuple[int, str] | None:
    """Return an input file of earlier batches that the compact file of a batch does not name.

    The files are read once more for it, which may have changed or gone meanwhile.
    """

    def paths(batch: int) -> Iterator[str]:
        inputs = input_files(folder / names[batch], batch, is_compact=_is_compact(names[batch]))
        return (each.path for each in inputs)

    with contextlib.suppress(CheckpointError):
        here = set(paths(batch))
        return next(((b, path) for b in earlier for path in paths(b) if path not in here), None)
    return None


def _not_whole(file: Location, batch: int, found: str, *, stops: bool) -> Problem:
    return _problem(
        file,
        f"{file} is damaged: expected the input files of all batches from 0 to {batch}, found "
        f"{found}. Spark reads the input files a second time that are not there. Restore the file "
        "from a copy.",
        stops=stops,
    )


def _of_other_sources(
    subject: Subject, logs: Mapping[str, Mapping[int, LogFile]]
) -> Iterator[Problem]:
    """Yield batches whose input files lie where another source's do, and none other of their own.

    Logs of two sources that were exchanged are told by this alone. Of a source with one batch there
    is nothing to tell by; and where a batch shares a folder with others of its source, that source
    reads there too.
    """
    for place, log in logs.items():
        others = {other: _folders(of) for other, of in logs.items() if other != place}
        batches_of = Counter(folder for file in log.values() for folder in file.folders)
        for batch, file in log.items() if others and len(log) > 1 else ():
            found = next((o for o, folders in others.items() if file.folders <= folders), None)
            # Those that other batches of its source have as well, or alone.
            shared = any(batches_of[folder] > 1 for folder in file.folders)
            if found is not None and not shared:
                own = min(folder for folder in batches_of if folder not in file.folders)
                yield _problem(
                    subject.location / "sources" / place / batch,
                    f"{subject.location / 'sources' / place / batch} has the input files of "
                    f"another source: expected some below {own}, as its other batches have them, "
                    f"found {file.first}, as in {subject.location / 'sources' / found}. Restore "
                    "the file from a copy.",
                )


def _folders(log: Mapping[int, LogFile]) -> set[str]:
    return {folder for file in log.values() for folder in file.folders}


def _is_compact(name: str) -> bool:
    return name.endswith(".compact")


def _below(name: str, place: str) -> bool:
    return name.startswith(f"sources/{place}/") and name.count("/") == 2  # noqa: PLR2004


def _elsewhere(
    folder: Location, log: Mapping[int, LogFile], names: Mapping[int, str]
) -> Iterator[Problem]:
    """Yield batches with an input file in another file system than most: a source reads one."""
    schemes: Counter[str] = Counter()
    for file in log.values():
        schemes.update(file.schemes)
    usual = next((scheme for scheme, _ in schemes.most_common(1)), "")
    for batch, file in log.items():
        if file.schemes.keys() == {usual}:
            continue
        with contextlib.suppress(CheckpointError):  # of a file that goes while it is read again
            for each in input_files(folder / names[batch], batch, is_compact=file.is_compact):
                if each.scheme != usual:
                    error = (
                        f"{folder / batch} is damaged: expected input files below {usual}:, as all "
                        f"others, found {each.path}. Restore the file from a copy."
                    )
                    yield _problem(folder / batch, error)


def _problem(file: Location, error: str, *, stops: bool = True) -> Problem:
    return Problem(location=file, kind="source", error=error, stops=stops)
