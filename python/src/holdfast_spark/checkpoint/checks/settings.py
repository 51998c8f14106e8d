"""Whether the newest batch pins the settings that the batch before it pinned.

Spark carries them from batch to batch (`OffsetSeqMetadata`, 4.3); a newer Spark adds some. What a
stopped query is switched by, its provider and its partitions, may differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.json_values import short
from holdfast_spark.checkpoint.files.logs import (
    CODEC,
    PROVIDER_CLASS,
    SHUFFLE_PARTITIONS,
    STATE_FORMATS,
)
from holdfast_spark.checkpoint.files.numbers import LARGEST_INT, whole_number
from holdfast_spark.checkpoint.files.providers import PROVIDERS

# Spark 3.5 writes these, and all that came after it; a state format decides how rows are read.
_IN_ALL = frozenset((PROVIDER_CLASS, SHUFFLE_PARTITIONS, CODEC, *STATE_FORMATS.values()))
_SWITCHED = frozenset((PROVIDER_CLASS, SHUFFLE_PARTITIONS))


def check_settings(subject: Subject) -> Iterator[Problem]:
    """Yield where the settings of neighbours differ."""
    entries = subject.readable_offsets
    for before, after in subject.neighbours:
        file = subject.location / "offsets" / after
        former, conf = entries[before].conf, entries[after].conf
        for expected, found in _differences(former or {}, conf or {}):
            yield Problem(
                location=file,
                kind="log",
                error=f"{file} pins other settings than batch {before}: expected {expected}, "
                f"found {found}. Restore the file from a copy.",
            )


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in before.items():
        if name in after and after[name] != value and not _may_change(name, after[name]):
            yield f"{short(value, 120)} for {name}", short(after[name], 120)
    lost, new = before.keys() - after.keys(), after.keys() - before.keys()
    # A newer Spark adds settings, an older one leaves some out; a damaged name does both.
    if lost and new:
        yield min(lost), min(new)
    elif always := lost & _IN_ALL:
        yield (
            f"{min(always)}, which every Spark writes",
            f"{counted(len(after), 'setting')} without it",
        )


def _may_change(name: str, value: object) -> bool:
    if name == PROVIDER_CLASS:
        return value in PROVIDERS.values()
    return name in _SWITCHED and whole_number(str(value), LARGEST_INT) is not None
