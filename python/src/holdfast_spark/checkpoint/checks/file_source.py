"""Whether the log of a file source, `sources/<n>/`, has every file that the query has read.

Each batch of the source is a file named for its number, every tenth by default one that carries
all before it, `N.compact`; a line of JSON for each input file tells its path and its batch. Spark
reads the newest compact file and all after it (`FileStreamSourceLog`, `CompactibleFileStreamLog`,
4.3), and what it does not find there it reads again. No batch is without input files
(`FileStreamSource.fetchMaxOffset`), and none of them is left out of a compact file; sinks leave out
some of theirs (`shouldRetain`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast_spark.checkpoint.checks.input_files import InputFile, lost_inputs
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.shared_sources import repeated_places, sources_by_folder
from holdfast_spark.checkpoint.checks.source_offsets import LOG_OFFSET, parsed
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.numbers import LARGEST_LONG, gaps, ranges_text, whole_number

_NAME = re.compile(r"(\d+)(\.compact)?")
_ENTRY = {"path", "timestamp", "batchId"}
# What `java.net.URI` takes, which lets through letters of any alphabet.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/[^\x00-\x20\x7f<>\"{}|\\^`\ufffd]*")


def check_file_sources(subject: Subject) -> Iterator[Problem]:
    """Yield what is wrong with the logs of file sources."""
    inputs: dict[str, dict[int, list[InputFile]]] = {}
    for place, source in sources_by_folder(subject).items():
        offset = parsed(source.offset)
        newest = offset.get(LOG_OFFSET) if isinstance(offset, dict) else None
        if type(newest) is int and -1 <= newest <= LARGEST_LONG:
            inputs[place] = {}
            yield from _check(subject, place, newest, inputs[place])
    yield from _of_other_sources(subject, inputs)


def _check(
    subject: Subject, place: str, newest: int, inputs: dict[int, list[InputFile]]
) -> Iterator[Problem]:
    """Yield what is wrong with the log of a source, and add the input files of its batches."""
    folder = subject.location / "sources" / place
    names = [name.rpartition("/")[2] for name in subject.entries if _below(name, place)]
    batches = {
        batch: found[0]
        for name in names
        if (found := _NAME.fullmatch(name)) and (batch := whole_number(found[1])) is not None
    }
    start = max((batch for batch, name in batches.items() if name.endswith(".compact")), default=0)
    last = max(newest, *batches, 0)
    gone = gaps(batches, start, last)
    if gone:
        yield _problem(
            folder / gone[-1][-1] if batches else folder,
            f"{folder} has lost the source's batches {ranges_text(gone)}: expected {start} to "
            f"{last}, with the files that each has read{_unless_shared(subject)}. Spark refuses to "
            "start, or reads them again. Restore them from a copy.",
        )
    for batch, name in batches.items():
        try:
            is_compact = name.endswith(".compact")
            inputs[batch] = _read(folder / name, batch, is_compact=is_compact)
        except CheckpointError as error:
            yield _problem(folder / name, str(error), stops=batch >= start)
    yield from _not_carried(folder, inputs, batches, start)
    yield from _elsewhere(folder, inputs)
    if subject.location.is_local:
        live = {b: files for b, files in inputs.items() if b >= start}
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
    folder: Location,
    inputs: Mapping[int, Sequence[InputFile]],
    names: Mapping[int, str],
    start: int,
) -> Iterator[Problem]:
    """Yield compact files that lack input files of a batch up to theirs.

    Args:
        folder: where the log is.
        inputs: the input files of each batch whose file can be read.
        names: the name of the file of each batch.
        start: the batch that Spark reads the log from.
    """
    for batch, files in inputs.items():
        if not names[batch].endswith(".compact"):
            continue
        file = folder / names[batch]
        carried = {each.batch for each in files}
        lost = gaps(carried, 0, batch)
        if lost:
            found = f"none of {ranges_text(lost)}"
            yield _not_whole(file, batch, found, stops=batch >= start)
            continue
        paths = {each.path for each in files}
        beside = ((b, each) for b, of in inputs.items() if b < batch for each in of)
        gone = next(((b, each) for b, each in beside if each.path not in paths), None)
        if gone:
            found = f"none that says {gone[1].path}, as {folder / names[gone[0]]} does"
            yield _not_whole(file, batch, found, stops=batch >= start)


def _not_whole(file: Location, batch: int, found: str, *, stops: bool) -> Problem:
    return _problem(
        file,
        f"{file} is damaged: expected the input files of all batches from 0 to {batch}, found "
        f"{found}. Spark reads the input files a second time that are not there. Restore the file "
        "from a copy.",
        stops=stops,
    )


def _of_other_sources(
    subject: Subject, inputs: Mapping[str, Mapping[int, Sequence[InputFile]]]
) -> Iterator[Problem]:
    """Yield batches whose input files lie where another source's do, and none other of their own.

    Logs of two sources that were exchanged are told by this alone.
    """
    for place, batches in inputs.items():
        others = {o: _folders(of.values()) for o, of in inputs.items() if o != place}
        for batch, files in batches.items() if others and len(batches) > 1 else ():
            here = _folders([files])
            own = _folders(each for b, each in batches.items() if b != batch)
            found = next((o for o, folders in others.items() if here <= folders), None)
            if found is not None and not here & own:
                file = subject.location / "sources" / place / batch
                yield _problem(
                    file,
                    f"{file} has the input files of another source: expected some below "
                    f"{min(own)}, as its other batches have them, found {files[0].path}, as in "
                    f"{subject.location / 'sources' / found}. Restore the file from a copy.",
                )


def _folders(batches: Iterable[Sequence[InputFile]]) -> set[str]:
    return {file.path.rpartition("/")[0] for files in batches for file in files}


def _below(name: str, place: str) -> bool:
    return name.startswith(f"sources/{place}/") and name.count("/") == 2  # noqa: PLR2004


def _read(file: Location, batch: int, *, is_compact: bool) -> list[InputFile]:
    """Return the input files that a batch has read.

    Raises:
        MalformedFileError: it is no log of them.
    """
    lines = file.lines()
    version = next(lines, "")
    if version != "v1":
        found = repr(version[:20]) if version else "nothing"
        raise MalformedFileError(path=str(file), expected="v1 in the first line", found=found)
    inputs = []
    for line in lines:
        entry = parse_json_object(line, path=str(file))
        path = entry.get("path")
        fits = entry.get("batchId") in (range(batch + 1) if is_compact else (batch,))
        if not fits or entry.keys() != _ENTRY or not _is_uri(path):
            raise MalformedFileError(
                path=str(file),
                expected=f"path, timestamp and batchId of input files of its batch {batch}",
                found=repr(line[:160]),
            )
        inputs.append(
            InputFile(path=str(path), modified_ms=entry.get("timestamp"), batch=entry["batchId"])
        )
    if not inputs:
        raise MalformedFileError(
            path=str(file), expected="input files of its batch", found="the version alone"
        )
    return inputs


def _is_uri(path: object) -> bool:
    """Tell whether Java takes a path as a URI, and a scheme as one of a file system."""
    return isinstance(path, str) and bool(_URI.fullmatch(path))


def _elsewhere(folder: Location, inputs: Mapping[int, Sequence[InputFile]]) -> Iterator[Problem]:
    """Yield batches with an input file in another file system than most: a source reads one."""
    schemes = Counter(f.path.partition(":")[0] for files in inputs.values() for f in files)
    for batch, files in inputs.items() if len(schemes) > 1 else ():
        usual = schemes.most_common(1)[0][0]
        for file in files:
            if not file.path.startswith(f"{usual}:"):
                error = (
                    f"{folder / batch} is damaged: expected input files below {usual}:, as all "
                    f"others, found {file.path}. Restore the file from a copy."
                )
                yield _problem(folder / batch, error)


def _problem(file: Location, error: str, *, stops: bool = True) -> Problem:
    return Problem(location=file, kind="source", error=error, stops=stops)
