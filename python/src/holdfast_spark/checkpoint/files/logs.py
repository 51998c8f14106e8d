"""The logs `offsets/` and `commits/` of a query: its batches and the settings it is bound to.

A file is named for its batch and holds lines of text: a version such as `v1`, then JSON, then in
`offsets/` a line for each source (Spark's `OffsetSeqLog` and `CommitLog`, 4.3). The JSON of an
offsets file carries the settings that Spark pins: on restart they replace those of the session
(`OffsetSeqMetadata.relevantSQLConfs`). In checkpoint format 2 that of a commit file names the
attempts that won, store by store (`CommitMetadataV2.stateUniqueIds`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, TypeAlias

from holdfast_spark._text import cause_text
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.location import Location

PROVIDER_CLASS = "spark.sql.streaming.stateStore.providerClass"
_CODEC = "spark.sql.streaming.stateStore.compression.codec"
_ROW_CHECKSUMS = "spark.sql.streaming.stateStore.rowChecksum.enabled"
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_STATE_FORMATS = {
    "aggregation": "spark.sql.streaming.aggregation.stateFormatVersion",
    "join": "spark.sql.streaming.join.stateFormatVersion",
    "flatMapGroupsWithState": "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion",
}

DEFAULT_PROVIDER = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"


@dataclass(frozen=True, slots=True)
class PinnedSettings:
    """The settings that a query is bound to, as its offsets file has them.

    What an older Spark did not write has the value that Spark then assumes
    (`OffsetSeqMetadata.relevantSQLConfDefaultValues`).

    Attributes:
        conf: every setting in the file by its full name.
    """

    conf: Mapping[str, str]

    @property
    def provider_class(self) -> str:
        """Class of the state store provider."""
        return self.conf.get(PROVIDER_CLASS, DEFAULT_PROVIDER)

    @property
    def codec(self) -> str:
        """Codec of the state files: a short name such as `lz4`, or a class."""
        return self.conf.get(_CODEC, "lz4")

    @property
    def row_checksums(self) -> bool:
        """Whether the records of the state files carry checksums (Spark 4.1 and later)."""
        return self.conf.get(_ROW_CHECKSUMS, "false") == "true"

    @property
    def shuffle_partitions(self) -> int | None:
        """Number of partitions of the query's state."""
        value = self.conf.get(SHUFFLE_PARTITIONS, "")
        return int(value) if value.isdecimal() else None

    @property
    def state_format_versions(self) -> dict[str, int]:
        """State format version by the kind of operator that has one."""
        return {
            operator: int(self.conf[name])
            for operator, name in _STATE_FORMATS.items()
            if self.conf.get(name, "").isdecimal()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as its offsets file plans it.

    Attributes:
        batch_id: number of the batch.
        started: when Spark planned it, in UTC; None where Spark did not write it.
        watermark_ms: event-time watermark of the batch, in milliseconds since 1970.
        settings: the settings that the query is bound to.
    """

    batch_id: int
    started: datetime | None
    watermark_ms: int
    settings: PinnedSettings


StateIds: TypeAlias = Mapping[int, Sequence[Sequence[str]]]


def batch_ids(log: Location) -> tuple[int, ...]:
    """Return the batches that a log has files of, ascending; none if there is no such folder."""
    return tuple(sorted(int(name) for name in log.names() if name.isdecimal()))


def read_batch(file: Location) -> Batch:
    """Read an offsets file.

    Raises:
        MalformedFileError: it is not one.
        UnreadablePathError: the file system refuses it.
    """
    metadata = _second_line(file)
    timestamp = metadata.get("batchTimestampMs") or 0
    watermark = metadata.get("batchWatermarkMs") or 0
    conf = metadata.get("conf") or {}
    numbers = isinstance(timestamp, int) and isinstance(watermark, int)
    if not numbers or not isinstance(conf, dict):
        raise MalformedFileError(
            path=str(file),
            expected="numbers in batchTimestampMs and batchWatermarkMs, and settings in conf",
            found=f"{timestamp!r}, {watermark!r} and {conf!r}"[:120],
        )
    return Batch(
        batch_id=int(file.path.rpartition("/")[2]),
        started=datetime.fromtimestamp(timestamp / 1000, tz=timezone.utc) if timestamp else None,
        watermark_ms=watermark,
        settings=PinnedSettings({name: str(value) for name, value in conf.items()}),
    )


def read_state_ids(file: Location) -> StateIds:
    """Read from a commit file which attempts at its batch won.

    Returns:
        By operator, the ids of each partition's stores, in Spark's order of the stores; nothing in
        checkpoint format 1.

    Raises:
        MalformedFileError: it is no commit file.
        UnreadablePathError: the file system refuses it.
    """
    found = _second_line(file).get("stateUniqueIds") or {}
    try:
        return {int(operator): [list(ids) for ids in stores] for operator, stores in found.items()}
    except (AttributeError, TypeError, ValueError) as e:
        raise MalformedFileError(
            path=str(file),
            expected="in stateUniqueIds the ids of all stores by operator",
            found=repr(found)[:80],
        ) from e


def without_state_ids(content: bytes, *, path: str) -> bytes:
    """Return the content of a commit file as it is in checkpoint format 1.

    Version 2 of the file differs by the ids alone, and not every Spark reads it in that format.

    Raises:
        MalformedFileError: it is no commit file.
    """
    lines = content.split(b"\n")
    metadata = parse_json_object(lines[1].decode() if lines[1:] else "", path=path)
    metadata.pop("stateUniqueIds", None)
    lines[1] = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()
    return b"\n".join([b"v1" if lines[0] == b"v2" else lines[0], *lines[1:]])


def with_state_ids(content: bytes, ids: StateIds, *, path: str) -> bytes:
    """Return the content of a commit file with other ids, and no other change.

    Raises:
        MalformedFileError: it is no commit file.
    """
    lines = content.split(b"\n")
    metadata = parse_json_object(lines[1].decode() if lines[1:] else "", path=path)
    metadata["stateUniqueIds"] = {str(operator): stores for operator, stores in ids.items()}
    lines[1] = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()
    return b"\n".join(lines)


def _second_line(file: Location) -> dict[str, Any]:
    """Return the JSON of a log file; an empty line is what Spark 2.0 wrote for no metadata."""
    lines = file.read_text().split("\n")
    if len(lines) < 2 or not lines[0].startswith("v"):  # noqa: PLR2004 - version and JSON
        raise MalformedFileError(
            path=str(file),
            expected="a line with a version such as v1 and a line of JSON",
            found=f"{len(lines)} lines that begin with {lines[0][:20]!r}",
        )
    return parse_json_object(lines[1].strip() or "{}", path=str(file))


def parse_json_object(text: str, *, path: str) -> dict[str, Any]:
    """Parse what has to be a JSON object.

    Raises:
        MalformedFileError: it is none.
    """
    try:
        value = json.loads(text)
    except ValueError as e:
        raise MalformedFileError(path=path, expected="a JSON object", found=cause_text(e)) from e
    if not isinstance(value, dict):
        raise MalformedFileError(path=path, expected="a JSON object", found=repr(value)[:40])
    return value
