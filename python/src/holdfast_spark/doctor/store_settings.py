"""Settings of state stores that Holdfast refuses, or that do otherwise than they seem to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast_spark._jars import is_before
from holdfast_spark._memory_limit import NEARLY_ALL_OF_HEAP, bytes_of, limit_error, limit_of
from holdfast_spark._own_settings import own_setting_errors
from holdfast_spark._setting_names import (
    CODEC,
    DRIVER_MEMORY,
    EXECUTOR_MEMORY,
    MEMORY_LIMIT,
)
from holdfast_spark._state_codec import CODEC_NAMES, is_short_name, require_codec
from holdfast_spark._text import size_text
from holdfast_spark.doctor.diagnosis import Finding, stop, warning
from holdfast_spark.errors import NoSuchCodecError

_MIN_DELTAS = "spark.sql.streaming.stateStore.minDeltasForSnapshot"
_REPLAY = "spark.sql.streaming.stateStore.autoSnapshotRepair.maxChangeFileReplay"
_IN_MEMORY = "spark.sql.streaming.maxBatchesToRetainInMemory"
_UNLOAD = "spark.sql.streaming.stateStore.unloadOnCommit"
_JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb."

# The join format that keeps its rows in column families.
_FORMAT_OF_COLUMN_FAMILIES = 3
# From it on Spark looks at the provider of a new query before it gives a join that format.
_FIRST_LINE_THAT_LOOKS = "4.3"
_REPLAYED_BY_DEFAULT = 500
_HEAP_BY_DEFAULT = "1g"

_MEBIBYTE = 20


def own_findings(
    settings: Mapping[str, str], *, line: str, in_cluster: bool, runs: bool
) -> Iterator[Finding]:
    """Yield what is wrong with settings for which Holdfast refuses to start a query.

    Args:
        settings: what is set.
        line: the Spark line.
        in_cluster: the session has executors, whose heaps count.
        runs: Spark runs already, with the heaps that it has.
    """
    for error in own_setting_errors(settings, line=line):  # in the words of `configure`
        yield stop("settings", str(error))
    yield from _codec_findings(settings)
    if MEMORY_LIMIT in settings and not limit_error(settings[MEMORY_LIMIT], line=line):
        heap_setting = EXECUTOR_MEMORY if in_cluster else DRIVER_MEMORY
        yield from _limit_findings(settings, heap_setting, runs=runs)


def beside_findings(settings: Mapping[str, str], *, line: str) -> Iterator[Finding]:
    """Yield what Spark's own settings do beside Holdfast that is not to be expected.

    Args:
        settings: what is set.
        line: the Spark line.
    """
    if deltas := _number(settings, _MIN_DELTAS):
        yield warning(
            "settings",
            f"{_MIN_DELTAS} is {deltas}: Holdfast then writes a snapshot after so many deltas, as "
            "Spark's provider does, and not when one pays. Leave it out unless that is wanted.",
        )
        most = _number(settings, _REPLAY) or _REPLAYED_BY_DEFAULT
        if deltas * 2 > most:
            yield warning(
                "settings",
                f"{_MIN_DELTAS} is {deltas} and {_REPLAY} is {most}: Spark cannot repair an "
                "unreadable snapshot from the one before it, which is so many deltas further "
                f"back. Give at most {most // 2} deltas, or let a repair replay more.",
            )
    if settings.get(_IN_MEMORY) == "0":
        yield warning(
            "settings",
            f"{_IN_MEMORY} is 0: every batch loads its state from the checkpoint again. Leave it "
            "out, or give 1 or more.",
        )
    if settings.get(_UNLOAD, "").lower() == "true":
        yield warning(
            "settings",
            f"{_UNLOAD} is true: every batch loads its state from the checkpoint again. Leave it "
            "out unless executors are not to hold state between batches.",
        )
    join = _number(settings, _JOIN_FORMAT) or 0
    if join >= _FORMAT_OF_COLUMN_FAMILIES and not is_before(line, _FIRST_LINE_THAT_LOOKS):
        yield warning(
            "settings",
            f"{_JOIN_FORMAT} is {join}, and Spark {line} gives it to new queries on RocksDB "
            "alone: joins that begin on Holdfast have 2. Leave out what no query with RocksDB "
            "needs.",
        )
    if of_rocksdb := sorted(name for name in settings if name.startswith(_ROCKSDB)):
        yield warning(
            "settings",
            f"{', '.join(of_rocksdb)}: set for RocksDB, and without effect in Holdfast. Leave out "
            "what no query with RocksDB needs.",
        )


def _codec_findings(settings: Mapping[str, str]) -> Iterator[Finding]:
    try:
        require_codec(settings)
    except NoSuchCodecError as e:  # in the words of `configure`
        yield stop("settings", str(e))
        return
    codec = settings.get(CODEC, CODEC_NAMES[0])
    if not is_short_name(codec) and not set(codec) & set(".$"):
        yield warning(
            "settings",
            f"{CODEC} is {codec!r}, which Spark takes for a class without a package: if it is "
            f"none, give {', '.join(CODEC_NAMES)}, or leave it out.",
        )


def _limit_findings(
    settings: Mapping[str, str], heap_setting: str, *, runs: bool
) -> Iterator[Finding]:
    text = settings[MEMORY_LIMIT]
    heap_text = settings.get(heap_setting, _HEAP_BY_DEFAULT)
    heap = bytes_of(heap_text, default_unit=_MEBIBYTE)
    limit = heap and limit_of(text, heap=heap)
    if not (heap and limit):
        return
    if limit > heap and heap_setting not in settings and not runs:
        yield warning(
            "settings",
            f"{MEMORY_LIMIT} is {text!r} and {heap_setting} is not set here: with Spark's default, "
            f"{heap_text}, memory would end before the limit is reached, and Holdfast refuses "
            "queries. Let the session set it, or give a lower limit, or a share such as 40%.",
        )
    elif limit > heap:
        yield stop(
            "settings",
            f"{MEMORY_LIMIT} is {text!r} and {heap_setting} is {heap_text}: memory would end "
            "before the limit is reached, and Holdfast refuses queries. Give a lower limit, or a "
            "share such as 40%.",
        )
    elif limit > heap * NEARLY_ALL_OF_HEAP:
        yield warning(
            "settings",
            f"{MEMORY_LIMIT} is {text!r}, {size_text(limit)} of a heap of {size_text(heap)}: "
            "memory may end before the limit is reached, for a batch needs the rest. Give at most "
            f"{NEARLY_ALL_OF_HEAP:.0%}.",
        )


def _number(settings: Mapping[str, str], name: str) -> int | None:
    text = settings.get(name, "").strip()
    return int(text) if text.isdecimal() else None
