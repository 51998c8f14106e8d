"""Whether the log of a file source, `sources/<n>/`, has every file that the query has read.

Each batch of the source is a file named for its number, every tenth by default one that carries
all before it, `N.compact`; a line of JSON for each input file tells its path and its batch. Spark
reads the newest compact file and all after it (`FileStreamSourceLog`, `CompactibleFileStreamLog`,
4.3), and what it does not find there it reads again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.source_offsets import parsed
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import parse_json_object
from holdfast_spark.checkpoint.files.state_files import as_ranges

_NAME = re.compile(r"(\d+)(\.compact)?")
_OFFSET = "logOffset"
_ENTRY = {"path", "timestamp", "batchId"}
# What `java.net.URI` takes, which lets through letters of any alphabet.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/[^\x00-\x20\x7f<>\"{}|\\^`\ufffd]*")
_LOCAL = re.compile(r"file:(//)?/")
_LOOKED_FOR = 10_000


def check_file_sources(subject: Subject) -> Iterator[Problem]:
    """Yield what is wrong with the logs of file sources."""
    entry = subject.readable_offsets.get(subject.named.planned[-1])
    for place, text in (entry.sources if entry else {}).items():
        offset = parsed(text)
        if isinstance(offset, dict) and isinstance(offset.get(_OFFSET), int):
            yield from _check(subject, place, offset[_OFFSET])


def _check(subject: Subject, place: str, newest: int) -> Iterator[Problem]:
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
    inputs: dict[int, list[str]] = {}
    for batch, name in batches.items():
        try:
            is_compact = name.endswith(".compact")
            inputs[batch] = _read(folder / name, batch, is_compact=is_compact)
        except CheckpointError as error:
            yield _problem(folder / name, str(error), stops=batch >= start)
    yield from _elsewhere(folder, inputs)
    if subject.location.is_local:
        yield from _not_there(folder, {b: paths for b, paths in inputs.items() if b >= start})


def _below(name: str, place: str) -> bool:
    return name.startswith(f"sources/{place}/") and name.count("/") == 2  # noqa: PLR2004


def _read(file: Location, batch: int, *, is_compact: bool) -> list[str]:
    """Return the input files that a batch has read.

    Raises:
        MalformedFileError: it is no log of them.
    """
    lines = file.read_text().splitlines()
    if not lines or lines[0] != "v1":
        found = repr(lines[0][:20]) if lines else "nothing"
        raise MalformedFileError(path=str(file), expected="v1 in the first line", found=found)
    paths = []
    for line in lines[1:]:
        entry = parse_json_object(line, path=str(file))
        path = entry.get("path")
        fits = entry.get("batchId") in (range(batch + 1) if is_compact else (batch,))
        if not fits or entry.keys() != _ENTRY or not _is_uri(path):
            raise MalformedFileError(
                path=str(file),
                expected=f"path, timestamp and batchId of input files of its batch {batch}",
                found=line[:160],
            )
        paths.append(str(path))
    if not paths:
        raise MalformedFileError(
            path=str(file), expected="input files of its batch", found="the version alone"
        )
    return paths


def _is_uri(path: object) -> bool:
    """Tell whether Java takes a path as a URI, and a scheme as one of a file system."""
    return isinstance(path, str) and bool(_URI.fullmatch(path))


def _elsewhere(folder: Location, inputs: Mapping[int, Sequence[str]]) -> Iterator[Problem]:
    """Yield batches with an input file in another file system than most: a source reads one."""
    schemes = Counter(path.partition(":")[0] for paths in inputs.values() for path in paths)
    for batch, paths in inputs.items() if len(schemes) > 1 else ():
        usual = schemes.most_common(1)[0][0]
        for path in paths:
            if not path.startswith(f"{usual}:"):
                error = (
                    f"{folder / batch} is damaged: expected input files below {usual}:, as all "
                    f"others, found {path}. Restore the file from a copy."
                )
                yield _problem(folder / batch, error)


def _not_there(folder: Location, inputs: Mapping[int, Sequence[str]]) -> Iterator[Problem]:
    """Yield batches with a local input file that is not there, while one read before it is.

    Whoever removes what has been read removes the oldest first; a name that is damaged is one that
    Spark does not know the file by, which it reads again.
    """
    entries = [(batch, path) for batch in sorted(inputs) for path in inputs[batch]]
    older = False
    for batch, path in entries[-_LOOKED_FOR:]:
        local = _LOCAL.match(path)
        if not local:
            continue
        is_there = Path(unquote(path[local.end() - 1 :])).exists()
        if older and not is_there:
            yield _problem(
                folder / batch,
                f"{folder / batch} names the input file {path}, which is not there: expected it "
                "as older ones are. If it has not been removed on purpose, the name is damaged, "
                "and Spark reads the file a second time. Restore the log from a copy.",
            )
        older |= is_there


def _problem(file: Location, error: str, *, stops: bool = True) -> Problem:
    return Problem(location=file, kind="source", error=error, stops=stops)
