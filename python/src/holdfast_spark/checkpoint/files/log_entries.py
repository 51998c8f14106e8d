"""The files of `offsets/` and `commits/` to the last line, as strictly as Spark reads them.

    offsets/N   | v1 | JSON: watermark, time, settings | a line for each source |
                | v2 | the same                        | source:line, for each source |
    commits/N   | v1, v2 or v3 | JSON: the next watermark, ids of the state in checkpoint format 2 |

A source without an offset has `-` (Spark's `OffsetSeqLog` and `CommitLog`, 4.3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import parse_json_object, short
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.log_lines import LogLines
from holdfast_spark.checkpoint.files.numbers import LARGEST_LONG

NO_OFFSET = "-"

_OFFSETS_VERSIONS = ("v1", "v2")
_COMMIT_VERSIONS = ("v1", "v2", "v3")
_SOURCE = re.compile(r"[^:]+:")


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsEntry:
    """A batch as it was planned.

    Attributes:
        watermark_ms: event-time watermark of the batch, in milliseconds since 1970.
        timestamp_ms: when it was planned; 0 where Spark did not write it.
        conf: the settings that the query is bound to; None before Spark 2.3, which had none.
        sources: what each source is to be read to, by its name; by its place where it has none.
    """

    watermark_ms: int
    timestamp_ms: int
    conf: Mapping[str, Any] | None
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEntry:
    """A batch that is through.

    Attributes:
        version: of the file, such as `v1`.
        next_watermark_ms: watermark of the next batch; None before Spark 2.4, which had none.
        has_state_ids: whether it names the attempts that won, as in checkpoint format 2.
    """

    version: str
    next_watermark_ms: int | None
    has_state_ids: bool


def read_offsets_entry(file: Location) -> OffsetsEntry:
    """Read an offsets file.

    Raises:
        MalformedFileError: Spark does not read it.
        UnreadablePathError: the file system refuses it.
    """
    lines = LogLines.read(file, versions=_OFFSETS_VERSIONS)
    metadata = lines.metadata()
    conf = metadata.get("conf")
    if conf is not None and not isinstance(conf, dict):
        raise _malformed(file, "settings in conf", short(conf))
    return OffsetsEntry(
        watermark_ms=_number(metadata, "batchWatermarkMs", file) or 0,
        timestamp_ms=_number(metadata, "batchTimestampMs", file) or 0,
        conf=conf,
        sources=_sources(lines, file),
    )


def read_commit_entry(file: Location) -> CommitEntry:
    """Read a commit file.

    Raises:
        MalformedFileError: Spark does not read it.
        UnreadablePathError: the file system refuses it.
    """
    lines = LogLines.read(file, versions=_COMMIT_VERSIONS)
    # No line at all says nothing, and Spark refuses an empty one.
    metadata = parse_json_object("{}" if lines.json is None else lines.json, path=str(file))
    return CommitEntry(
        version=lines.version,
        next_watermark_ms=_number(metadata, "nextBatchWatermarkMs", file),
        has_state_ids=bool(metadata.get("stateUniqueIds")),
    )


def _number(metadata: Mapping[str, Any], name: str, file: Location) -> int | None:
    value = metadata.get(name)
    if value is None or (type(value) is int and 0 <= value <= LARGEST_LONG):
        return value
    raise _malformed(file, f"a number of milliseconds in {name}", short(value))


def _sources(lines: LogLines, file: Location) -> dict[str, str]:
    if lines.version == "v1":
        return {str(place): line for place, line in enumerate(lines.sources)}
    sources = {}
    for line in lines.sources:
        name = _SOURCE.match(line)
        if not name:
            raise _malformed(file, "a line source:offset for each source", line)
        sources[name[0][:-1]] = line[name.end() :]
    return sources


def _malformed(file: Location, expected: str, found: str) -> MalformedFileError:
    return MalformedFileError(path=str(file), expected=expected, found=f"{found[:60]!r}")
