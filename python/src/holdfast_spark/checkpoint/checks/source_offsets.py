"""Whether the offsets of each source go on from batch to batch.

Their text is a source's own affair, but for its staying JSON. Known are a number alone (rate,
socket, memory), `logOffset` (file sources), and `offset` with `timestamp` (rate by micro-batch),
which keep their form and do not go back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.json_values import json_or_none
from holdfast_spark.checkpoint.files.log_entries import NO_OFFSET
from holdfast_spark.checkpoint.files.numbers import is_long

LOG_OFFSET = "logOffset"
"""What the offset of a file source calls the newest batch of its log."""

_KNOWN = ({LOG_OFFSET}, {"offset", "timestamp"})


def check_source_offsets(subject: Subject) -> Iterator[Problem]:
    """Yield where a source is lost, its offsets change their form or go back."""
    entries = subject.readable_offsets
    for before, after in subject.neighbours:
        file = subject.location / "offsets" / after
        sources = entries[before].sources
        for expected, found in _differences(sources, entries[after].sources):
            yield Problem(
                location=file,
                kind="log",
                error=f"{file} does not go on from batch {before}: expected {expected}, found "
                f"{found}. Restore the file from a copy.",
            )


def _differences(before: Any, after: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    if before.keys() != after.keys():
        yield _sources(before), _sources(after)
        return
    for name, text in before.items():
        then, now = json_or_none(text), json_or_none(after[name])
        if then is None or text == NO_OFFSET:
            continue
        if now is None or (
            _is_known(then) and not (_is_known(now) and _shape(then) == _shape(now))
        ):
            yield f"an offset of source {name} such as {text[:60]}", repr(after[name][:60])
            continue
        for old, new in (
            () if not _is_known(then) else zip(_numbers(then), _numbers(now), strict=False)
        ):
            if new < old:
                yield f"source {name} at {old} or further", str(new)


def _is_known(offset: Any) -> bool:  # noqa: ANN401
    if isinstance(offset, dict):
        return set(offset) in _KNOWN and all(map(is_long, offset.values()))
    return is_long(offset)


def _shape(value: Any) -> object:  # noqa: ANN401
    """Return what stays the same from offset to offset; topics and partitions come and go."""
    if isinstance(value, dict):
        return "object" if any(isinstance(part, dict) for part in value.values()) else set(value)
    return type(value)


def _numbers(value: Any) -> Iterator[int]:  # noqa: ANN401
    """Yield the numbers that count in one direction: those of offsets with a fixed form."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, dict) and not any(isinstance(part, dict) for part in value.values()):
        for name in sorted(value):
            yield from _numbers(value[name])


def _sources(names: Any) -> str:  # noqa: ANN401
    return f"{counted(len(names), 'source')} ({', '.join(sorted(names)) or 'none'})"
