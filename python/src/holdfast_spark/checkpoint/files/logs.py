"""The logs `offsets/` and `commits/` of a query: its batches and the settings it is bound to.

A file is named for its batch (`LogLines`). The JSON of an offsets file carries the settings that
Spark pins: on restart they replace those of the session (`OffsetSeqMetadata.relevantSQLConfs`). In
checkpoint format 2 that of a commit file names the attempts that won, store by store
(`CommitMetadataV2.stateUniqueIds`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TypeAlias

from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import short
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.log_lines import LogLines
from holdfast_spark.checkpoint.files.numbers import LARGEST_INT, is_long, whole_number

PROVIDER_CLASS = "spark.sql.streaming.stateStore.providerClass"
CODEC = "spark.sql.streaming.stateStore.compression.codec"
_ROW_CHECKSUMS = "spark.sql.streaming.stateStore.rowChecksum.enabled"
_ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
STATE_FORMATS = {
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
        return self.conf.get(CODEC, "lz4")

    @property
    def row_checksums(self) -> bool:
        """Whether the records of the state files carry checksums (Spark 4.2 and later)."""
        return self.conf.get(_ROW_CHECKSUMS, "false") == "true"

    @property
    def are_of_spark_4(self) -> bool:
        """Whether Spark 4.0 or a newer one planned the batch: it writes this setting always."""
        return _ENCODING in self.conf

    @property
    def are_of_spark_4_2(self) -> bool:
        """Whether Spark 4.2 or a newer one planned the batch: it writes this setting always."""
        return _ROW_CHECKSUMS in self.conf

    @property
    def shuffle_partitions(self) -> int | None:
        """Number of partitions of the query's state."""
        return whole_number(self.conf.get(SHUFFLE_PARTITIONS), LARGEST_INT)

    @property
    def state_format_versions(self) -> dict[str, int]:
        """State format version by the kind of operator that has one."""
        return {
            operator: version
            for operator, name in STATE_FORMATS.items()
            if (version := whole_number(self.conf.get(name), LARGEST_INT)) is not None
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
    numbers = (whole_number(name) for name in log.names())
    return tuple(sorted({number for number in numbers if number is not None}))


def read_batch(file: Location) -> Batch:
    """Read an offsets file.

    Raises:
        MalformedFileError: it is not one.
        UnreadablePathError: the file system refuses it.
    """
    metadata = LogLines.read(file).metadata()
    timestamp = metadata.get("batchTimestampMs") or 0
    watermark = metadata.get("batchWatermarkMs") or 0
    conf = metadata.get("conf") or {}
    numbers = is_long(timestamp) and is_long(watermark)
    if not numbers or not isinstance(conf, dict):
        raise MalformedFileError(
            path=str(file),
            expected="numbers in batchTimestampMs and batchWatermarkMs, and settings in conf",
            found=f"{short(timestamp)}, {short(watermark)} and {short(conf)}",
        )
    return Batch(
        batch_id=int(file.path.rpartition("/")[2]),
        started=_time(timestamp) if timestamp else None,
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
    found = LogLines.read(file).metadata().get("stateUniqueIds") or {}
    try:
        return {
            int(operator): [_ids(of_partition) for of_partition in partitions]
            for operator, partitions in found.items()
        }
    except (AttributeError, TypeError, ValueError) as e:
        raise MalformedFileError(
            path=str(file),
            expected="in stateUniqueIds the ids of all stores by operator",
            found=short(found, 80),
        ) from e


def _ids(of_partition: object) -> list[str]:
    if isinstance(of_partition, list) and all(isinstance(id_, str) for id_ in of_partition):
        return of_partition
    raise TypeError("no list of ids")


def _time(milliseconds: int) -> datetime | None:
    """Return a time; None for one that no calendar has."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)
    except (OverflowError, OSError, ValueError):
        return None
