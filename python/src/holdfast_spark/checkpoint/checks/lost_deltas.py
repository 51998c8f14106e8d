"""What is broken, for people: the deltas that a store lacks in a row are one loss.

Where a snapshot is lost that cleanup had left as the oldest file, every version up to the deltas
behind it seems to be gone, while it is this one file that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast_spark._text import batches_text
from holdfast_spark.checkpoint.checks.verified import BrokenFile, Verification
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE

_DELTA = re.compile(r"(?P<folder>.*)/(?P<version>\d+)(_\*)?\.delta", re.DOTALL)
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def told_together(found: Verification) -> tuple[BrokenFile, ...]:
    """Return what is broken, with one entry for the deltas that a store lacks in a row."""
    readable = {
        f"{found.path.rstrip('/')}/state/{store.operator_id}/{store.partition_id}"
        f"{'' if store.name == DEFAULT_STORE else f'/{store.name}'}": store.versions
        for store in found.stores
    }
    return tuple(
        _together(files, found, readable.get(_place(files[0])[0], "")) if len(files) > 1 else file
        for files in _rows(found.told)
        for file in files[:1]
    )


def _rows(files: Sequence[BrokenFile]) -> Iterator[list[BrokenFile]]:
    """Yield the files, those in a list that are the next delta that is gone."""
    row: list[BrokenFile] = []
    for file in files:
        if row and _is_gone(file) and _is_gone(row[-1]) and _follows(file, row[-1]):
            row.append(file)
            continue
        if row:
            yield row
        row = [file]
    if row:
        yield row


def _is_gone(file: BrokenFile) -> bool:
    is_delta = file.kind == "state" and _DELTA.fullmatch(file.path) is not None
    return is_delta and file.error.startswith(f"{file.path} is gone: ")


def _follows(file: BrokenFile, before: BrokenFile) -> bool:
    (folder, version), (other, last) = _place(file), _place(before)
    return (folder, version, file.stops) == (other, last + 1, before.stops)


def _place(file: BrokenFile) -> tuple[str, int]:
    """Return the folder and the version of a delta."""
    place = _DELTA.fullmatch(file.path)
    return (place["folder"], int(place["version"])) if place else (file.path, -1)


def _together(files: Sequence[BrokenFile], found: Verification, readable: str) -> BrokenFile:
    (folder, first), (_, last) = _place(files[0]), _place(files[-1])
    stops = files[0].stops
    ranges = [int(start) for start, _ in _RANGE.findall(readable)]
    # There are deltas behind them that lead nowhere, up to where a snapshot is.
    end = min((start - 1 for start in ranges if start > last), default=found.next_batch)
    if all(start > last for start in ranges) and end > last:
        path, batches = folder, range(last, end)
        versions = f"version {end}" if end == last + 1 else f"versions {last + 1} to {end}"
        wrong = (
            f"has no snapshot that the {versions} can start from: expected one, or every delta "
            "before them, found neither"
        )
    else:
        path, batches = f"{folder}/{first}.delta to {last}.delta", range(first - 1, last)
        wrong = f"are gone: expected what the {batches_text(batches)} changed"
    what = (
        f"the state that batch {found.next_batch} starts from needs them"
        if stops
        else f"the query goes on without them, but nobody can go back to {batches_text(batches)}"
    )
    return BrokenFile(
        path=path,
        kind="state",
        error=f"{path} {wrong}; {what}. Restore what is gone from a copy.",
        stops=stops,
    )
