"""The files of a file source's log, and what is kept of each.

Every tenth by default is a compact file, with a line for each input file that the source has ever
read. A log has several of them, of maybe a million lines each: but for those that are asked for, no
lines are kept. Whether a compact file has what the files before it have, fingerprints tell: numbers
that are the same for the same input files in any order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from holdfast_spark.checkpoint.checks.input_files import InputFile
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.numbers import gaps

_ENTRY = {"path", "timestamp", "batchId"}
# What `java.net.URI` takes, which lets through letters of any alphabet.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/[^\x00-\x20\x7f<>\"{}|\\^`\ufffd]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """What a file of the log has.

    Attributes:
        is_compact: whether it carries the batches before its own.
        first: the path of its first input file.
        folders: where its input files are.
        schemes: how many of them there are in each file system.
        fingerprint: of all of its input files.
        lost: the batches up to its own of which a compact file has no input file.
        unlike: the earlier files whose batches have other input files in a compact file.
        kept: all of its input files, in their order, where they are kept.
    """

    is_compact: bool
    first: str
    folders: set[str]
    schemes: Counter[str]
    fingerprint: int
    lost: Sequence[range]
    unlike: Sequence[int]
    kept: Sequence[InputFile]


def read_log_file(
    file: Location, batch: int, earlier: Mapping[int, LogFile], *, is_compact: bool, keep: bool
) -> LogFile:
    """Read a file of the log.

    Args:
        file: the file.
        batch: the batch that it is named for.
        earlier: what was found in the files of batches before, by batch.
        is_compact: whether it carries the batches before its own.
        keep: whether its input files are kept.

    Raises:
        MalformedFileError: it is no log of input files.
        UnreadablePathError: the file system refuses it.
    """
    first: str | None = None
    folders: set[str] = set()
    schemes: Counter[str] = Counter()
    kept: list[InputFile] = []
    carried = _Carried(earlier if is_compact else {})
    for each in input_files(file, batch, is_compact=is_compact):
        first = first or each.path
        folders.add(each.folder)
        schemes[each.scheme] += 1
        carried.add(each)
        if keep:
            kept.append(each)
    return LogFile(
        is_compact=is_compact,
        first=first or "",
        folders=folders,
        schemes=schemes,
        fingerprint=carried.fingerprint,
        lost=gaps(carried.batches, 0, batch) if is_compact else (),
        unlike=carried.unlike(),
        kept=kept,
    )


class _Carried:
    """Takes fingerprints of what a compact file has of the batches of earlier files."""

    def __init__(self, earlier: Mapping[int, LogFile]) -> None:
        self.batches: set[int] = set()
        self._earlier = earlier
        self._of_batch = {batch: 0 for batch, file in earlier.items() if not file.is_compact}
        self._ends = sorted(batch for batch, file in earlier.items() if file.is_compact)
        # From behind each of the ends up to the next one.
        self._between = [0] * (len(self._ends) + 1)

    def add(self, file: InputFile) -> None:
        one = hash(file.path)
        self.batches.add(file.batch)
        self._between[bisect_left(self._ends, file.batch)] += one
        if file.batch in self._of_batch:
            self._of_batch[file.batch] += one

    @property
    def fingerprint(self) -> int:
        return sum(self._between)

    def unlike(self) -> list[int]:
        """Return the earlier files that have other input files than this has of their batches."""
        here = {**self._of_batch, **dict(zip(self._ends, accumulate(self._between), strict=False))}
        return [batch for batch, file in self._earlier.items() if here[batch] != file.fingerprint]


def input_files(file: Location, batch: int, *, is_compact: bool) -> Iterator[InputFile]:
    """Yield the input files that a file of the log names, of which there is at least one.

    Raises:
        MalformedFileError: it is no log of them.
        UnreadablePathError: the file system refuses it.
    """
    lines = file.lines()
    version = next(lines, "")
    if version != "v1":
        found = repr(version[:20]) if version else "nothing"
        raise MalformedFileError(path=str(file), expected="v1 in the first line", found=found)
    none = True
    for line in lines:
        none = False
        entry = parse_json_object(line, path=str(file))
        path = entry.get("path")
        fits = entry.get("batchId") in (range(batch + 1) if is_compact else (batch,))
        if not fits or entry.keys() != _ENTRY or not _is_uri(path):
            raise MalformedFileError(
                path=str(file),
                expected=f"path, timestamp and batchId of input files of its batch {batch}",
                found=repr(line[:160]),
            )
        yield InputFile(path=str(path), modified_ms=entry.get("timestamp"), batch=entry["batchId"])
    if none:
        raise MalformedFileError(
            path=str(file), expected="input files of its batch", found="the version alone"
        )


def _is_uri(path: object) -> bool:
    """Tell whether Java takes a path as a URI, and a scheme as one of a file system."""
    return isinstance(path, str) and bool(_URI.fullmatch(path))
