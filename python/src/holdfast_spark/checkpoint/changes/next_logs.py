"""The log files that a change leaves, from which the query goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast_spark.checkpoint.changes.fence import BEFORE_THE_FIRST_BATCH, Fence
from holdfast_spark.checkpoint.changes.partition_numbers import partition_setting
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import MalformedFileError
from holdfast_spark.checkpoint.files.json_values import short
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.log_lines import LogLines
from holdfast_spark.checkpoint.files.logs import StateIds

NO_IDS: StateIds = {}

_TIMES = ("batchWatermarkMs", "batchTimestampMs")
_NEXT_WATERMARK = "nextBatchWatermarkMs"
_IDS = "stateUniqueIds"


def logs_after_change(
    checkpoint: Checkpoint,
    fence: Fence,
    *,
    settings: Mapping[str, str],
    ids: StateIds | None = None,
    back_to: int | None = None,
) -> dict[str, bytes]:
    """Return the log files that a change writes, by name; that of the fence among them if it stays.

    The newest committed batch gets the settings, for those who read its state, and its commit is
    written again behind it, so that their times stay in order. The next batch has no data, and the
    watermark that Spark would give it; or the data that it was planned with. Where no batch pins
    the number of partitions, as those of old Sparks, they get the one that the state has.

    Args:
        checkpoint: the checkpoint, opened just now.
        fence: the fence of the change.
        settings: values of pinned settings that change.
        ids: the ids of the stores' new files; `NO_IDS` where they have none, as in checkpoint
            format 1; None where the files stay.
        back_to: an earlier batch that the query goes back to, or -1 for before the first one. Then
            the newest committed batch takes the place of that one, and the next batch has the data
            that was planned after it.

    Raises:
        MalformedFileError: a log file is damaged.
        UnreadablePathError: the file system refuses one.
    """
    settings = {**partition_setting(checkpoint), **settings}
    if not checkpoint.committed:
        return _replanned(checkpoint, checkpoint.planned[-1:], settings)
    committed = checkpoint.committed[-1]
    base = committed if back_to is None else back_to
    plan, commit = _base(checkpoint, base)
    if ids is not None:
        commit = _with_ids(commit, ids) if ids else _without_ids(commit)
    conf = {**checkpoint.batch(committed).settings.conf, **settings}
    # In the order in which a query writes them, which the times of the files keep.
    files = {
        f"offsets/{committed}": plan.content(conf),
        f"commits/{committed}": commit.content(),
    }
    if base != committed:
        planned_after = _Plan.read(checkpoint.location / "offsets" / (base + 1))
        files[f"offsets/{fence.batch_id}"] = planned_after.content(conf)
    elif fence.stays:
        without_data = plan.without_data(_next_watermark(commit))
        files[f"offsets/{fence.batch_id}"] = without_data.content(conf)
    else:
        ahead = [batch for batch in checkpoint.planned if batch > committed]
        files |= _replanned(checkpoint, ahead, settings)
    return files


def _replanned(
    checkpoint: Checkpoint, batches: Iterable[int], settings: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the plans of batches, with these settings and their other ones."""
    plans = {batch: _Plan.read(checkpoint.location / "offsets" / batch) for batch in batches}
    return {
        f"offsets/{batch}": plan.content({**plan.conf, **settings}) for batch, plan in plans.items()
    }


def _base(checkpoint: Checkpoint, batch: int) -> tuple[_Plan, LogLines]:
    """Return the plan and the commit of the batch that the query goes on after."""
    offsets, commits = checkpoint.location / "offsets", checkpoint.location / "commits"
    if batch != BEFORE_THE_FIRST_BATCH:
        return _Plan.read(offsets / batch), LogLines.read(commits / batch)
    commit = LogLines.read(commits / checkpoint.committed[-1])
    return _Plan.read(offsets / 0).nowhere(), commit.saying(
        {**commit.metadata(), _NEXT_WATERMARK: 0}
    )


def _next_watermark(commit: LogLines) -> int:
    """Return the watermark that a commit announces; 0 where it has none, as before Spark 2.4."""
    found = commit.metadata().get(_NEXT_WATERMARK)
    if found is None:
        return 0
    if type(found) is not int:
        expected = f"a number of milliseconds in {_NEXT_WATERMARK}"
        raise MalformedFileError(path=commit.path, expected=expected, found=short(found))
    return found


def _with_ids(commit: LogLines, ids: StateIds) -> LogLines:
    """Return a commit with other ids, in version 2, which alone has them."""
    named = {str(operator): stores for operator, stores in ids.items()}
    return commit.saying({**commit.metadata(), _IDS: named}, version=_version(commit, "v2"))


def _without_ids(commit: LogLines) -> LogLines:
    """Return a commit as it is in checkpoint format 1.

    Version 2 of the file differs by the ids alone, and not every Spark reads it in that format.
    """
    metadata = commit.metadata()
    if metadata.pop(_IDS, None) is None and commit.version != "v2":
        return commit
    return commit.saying(metadata, version=_version(commit, "v1"))


def _version(commit: LogLines, version: str) -> str:
    """Return the version of a commit with or without ids: later ones than v2 have both."""
    return version if commit.version in ("v1", "v2") else commit.version


@dataclass(frozen=True, slots=True)
class _Plan:
    """An offsets file."""

    lines: LogLines
    metadata: Mapping[str, Any]

    @classmethod
    def read(cls, file: Location) -> _Plan:
        lines = LogLines.read(file)
        metadata = lines.metadata()
        if not all(type(metadata.get(name, 0)) is int for name in _TIMES) or not isinstance(
            metadata.get("conf", {}), dict
        ):
            expected = f"numbers in {' and '.join(_TIMES)}, and settings in conf"
            raise MalformedFileError(path=str(file), expected=expected, found=short(metadata))
        return cls(lines, metadata)

    @property
    def conf(self) -> Mapping[str, str]:
        """The settings that the batch pins."""
        conf: Mapping[str, str] = self.metadata.get("conf", {})
        return conf

    def without_data(self, watermark_ms: int) -> _Plan:
        """Return a batch after this one that has no data, planned now."""
        times = {
            "batchWatermarkMs": max(self.metadata.get("batchWatermarkMs", 0), watermark_ms),
            "batchTimestampMs": max(
                time.time_ns() // 1_000_000, self.metadata.get("batchTimestampMs", 0) + 1
            ),
        }
        return replace(self, metadata={**self.metadata, **times})

    def nowhere(self) -> _Plan:
        """Return what stands before this batch when it is the first: no source has an offset.

        In version 2 the name of a source stands before its offset (`OffsetSeqLog`, Spark 4.2).
        """
        named = self.lines.version == "v2"
        sources = (f"{x.partition(':')[0]}:-" if named else "-" for x in self.lines.sources)
        lines = replace(self.lines, sources=tuple(sources))
        return _Plan(lines, {**self.metadata, "batchWatermarkMs": 0})

    def content(self, conf: Mapping[str, str]) -> bytes:
        """Return the content of the file, with these settings."""
        times = dict.fromkeys(_TIMES, 0)
        return self.lines.saying({**times, **self.metadata, "conf": dict(conf)}).content()
