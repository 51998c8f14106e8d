"""The batch that a change plans, so that no run of the query goes on past the change.

Nothing in a checkpoint says whether its query runs, and that nothing has been written for a while
proves nothing: a query without new data writes nothing. But every run has to create the file of
its next batch in `offsets/` before it touches its state (in real-time mode after it has run), and
that of the batch which it has run in `commits/` after all else. It fails where another one has done
so ("Multiple streaming jobs detected", Spark's `MicroBatchExecution.markMicroBatchStart` and
`markMicroBatchEnd`, 4.3).

So whoever changes a checkpoint creates the file of the next batch: first as a fence, at which every
run of the query fails, one that goes on as well as one that is started. Once all else is done it
becomes the plan of a batch without data, which the query runs next. A run from before the change
has no batch then that it could begin. The number is the one that the query would have come to, so
that no number is left out: the log of a file sink needs each (`CompactibleFileStreamLog`).

A batch that is planned and not committed may be running. The run in it can only be kept from
committing, and only for as long as the change is made, since afterwards the batch has to run again
under its number: such a query has to be known to be stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast_spark._text import batches_text
from holdfast_spark.checkpoint.changes.partition_numbers import partition_setting
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, MalformedFileError, PlannedBatchError
from holdfast_spark.checkpoint.files.journals import FENCE_TEXT, was_planned_by_change
from holdfast_spark.checkpoint.files.json_values import parse_json_object, short, utf8_text
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import (
    StateIds,
    with_state_ids,
    without_state_ids,
)

BEFORE_THE_FIRST_BATCH = -1
_TIMES = ("batchWatermarkMs", "batchTimestampMs")


class ContradictingLogsError(CheckpointError):
    """The logs of batches say what no query leaves behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The file that keeps runs away, and what becomes of it.

    Attributes:
        name: the file, `offsets/N` or `commits/N`.
        batch_id: the batch that the query runs next.
        stays: whether the file becomes the plan of that batch; else the batch is planned already,
            and the file goes.
    """

    name: str
    batch_id: int
    stays: bool

    @classmethod
    def before_next_batch(cls, checkpoint: Checkpoint, *, stopped: bool) -> Fence:
        """Return the fence of a change.

        Args:
            checkpoint: the checkpoint, opened just now.
            stopped: the query is known to run nowhere, so that a planned batch is not running.

        Raises:
            PlannedBatchError: a batch is planned and not committed, and may be running.
            ContradictingLogsError: a batch is committed that is not planned; or several are planned
                and not committed, the newest of which Spark would run from a newer state than that
                after the newest committed one.
        """
        newest = checkpoint.planned[-1]
        committed = checkpoint.committed[-1] if checkpoint.committed else BEFORE_THE_FIRST_BATCH
        if committed > newest:
            raise ContradictingLogsError(
                f"{checkpoint.location} has committed the batch {committed}, and the newest one in "
                f"its log of planned batches is {newest}: restore the files of later batches in "
                f"{checkpoint.location / 'offsets'}."
            )
        ahead = [batch for batch in checkpoint.planned if batch > committed]
        if checkpoint.committed and len(ahead) > 1 and checkpoint.stores:
            commits = checkpoint.location / "commits"
            raise ContradictingLogsError(
                f"{checkpoint.location} has planned the {batches_text(ahead)}, and {commits} ends "
                f"with {committed}: expected one batch at most that is planned and not committed. "
                f"Restore the files of later batches in {commits}; or, where that cannot be and "
                "the query has checkpoint format 1, let it run a batch first, which Spark does "
                "from the state that is there."
            )
        if committed == newest:
            return cls(name=f"offsets/{newest + 1}", batch_id=newest + 1, stays=True)
        if not stopped and was_planned_by_change(checkpoint.location, newest):
            raise PlannedBatchError(
                path=str(checkpoint.location),
                planned=f"the batch {newest} that holdfast planned in an earlier change is not "
                "committed, and a run may be in it if one was started since",
                advice="Let the query run it first, with the trigger availableNow; or, if you know "
                "that no run was started since, or none is left",
            )
        if not stopped:
            raise PlannedBatchError(
                path=str(checkpoint.location),
                planned=f"the batch {newest} is planned and not committed, and a run may be in it",
                advice="Let a run with the trigger availableNow come to its end first; or, if you "
                "know that the query runs nowhere",
            )
        return cls(name=f"commits/{newest}", batch_id=newest, stays=False)

    def text(self, backup: Location) -> bytes:
        """Return what stands in the file meanwhile: a line that Spark shows when it refuses it."""
        return (
            f"{FENCE_TEXT}: see {backup}. If that was cut off, run holdfast repair --apply.\n"
        ).encode()


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
        ids: the ids of the stores' new files in checkpoint format 2; empty where the state has
            format 1 now; None where the files stay.
        back_to: an earlier batch that the query goes back to, or -1 for before the first one. Then
            the newest committed batch takes the place of that one, and the next batch has the data
            that was planned after it.

    Raises:
        MalformedFileError: a log file is damaged.
        UnreadablePathError: the file system refuses one.
    """
    offsets, commits = checkpoint.location / "offsets", checkpoint.location / "commits"
    newest = checkpoint.planned[-1]
    settings = {**partition_setting(checkpoint), **settings}
    files: dict[str, bytes] = {}
    if not checkpoint.committed:
        files[f"offsets/{newest}"] = _Offsets.read(offsets / newest).with_settings(settings)
        return files
    committed = checkpoint.committed[-1]
    conf = {**checkpoint.batch(committed).settings.conf, **settings}
    base = committed if back_to is None else back_to
    if base == BEFORE_THE_FIRST_BATCH:
        start = _Offsets.read(offsets / 0).nowhere()
        commit = _with_watermark((commits / committed).read_bytes(), 0, path=str(commits))
    else:
        start = _Offsets.read(offsets / base)
        commit = (commits / base).read_bytes()
    if ids:
        commit = with_state_ids(commit, ids, path=str(commits / committed))
    elif ids is not None:
        commit = without_state_ids(commit, path=str(commits / committed))
    # In the order in which a query writes them, which the times of the files keep.
    files[f"offsets/{committed}"] = start.bytes(conf)
    files[f"commits/{committed}"] = commit
    if base != committed:
        files[f"offsets/{fence.batch_id}"] = _Offsets.read(offsets / (base + 1)).bytes(conf)
    elif fence.stays:
        watermark = _metadata(commit, path=str(commits / base)).get("nextBatchWatermarkMs", 0)
        files[f"offsets/{fence.batch_id}"] = start.without_data(watermark).bytes(conf)
    else:
        for batch in checkpoint.planned:
            if batch > committed:
                files[f"offsets/{batch}"] = _Offsets.read(offsets / batch).with_settings(settings)
    return files


def _metadata(content: bytes, *, path: str) -> dict[str, Any]:
    lines = utf8_text(content, path=path).split("\n")
    return parse_json_object(lines[1].strip() or "{}" if lines[1:] else "", path=path)


def _with_watermark(content: bytes, watermark_ms: int, *, path: str) -> bytes:
    lines = content.split(b"\n")
    metadata = {**_metadata(content, path=path), "nextBatchWatermarkMs": watermark_ms}
    lines[1] = json.dumps(metadata, separators=(",", ":")).encode()
    return b"\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offsets:
    """An offsets file: its version, its metadata, and a line for each source."""

    version: str
    metadata: Mapping[str, Any]
    sources: tuple[str, ...]

    @classmethod
    def read(cls, file: Location) -> _Offsets:
        content = file.read_bytes()
        metadata = _metadata(content, path=str(file))
        if not all(type(metadata.get(name, 0)) is int for name in _TIMES) or not isinstance(
            metadata.get("conf", {}), dict
        ):
            expected = f"numbers in {' and '.join(_TIMES)}, and settings in conf"
            raise MalformedFileError(path=str(file), expected=expected, found=short(metadata))
        lines = utf8_text(content, path=str(file)).split("\n")
        return cls(version=lines[0], metadata=metadata, sources=tuple(lines[2:]))

    def without_data(self, watermark_ms: int) -> _Offsets:
        """Return a batch after this one that has no data, planned now."""
        watermark = max(self.metadata.get("batchWatermarkMs", 0), watermark_ms)
        times = {
            "batchWatermarkMs": watermark,
            "batchTimestampMs": max(
                time.time_ns() // 1_000_000, self.metadata.get("batchTimestampMs", 0) + 1
            ),
        }
        metadata = {**self.metadata, **times}
        return _Offsets(version=self.version, metadata=metadata, sources=self.sources)

    def nowhere(self) -> _Offsets:
        """Return what stands before this batch when it is the first: no source has an offset.

        In version 2 the name of a source stands before its offset (`OffsetSeqLog`, Spark 4.2).
        """
        named = self.version == "v2"
        sources = (f"{line.partition(':')[0]}:-" if named else "-" for line in self.sources)
        metadata = {**self.metadata, "batchWatermarkMs": 0}
        return _Offsets(version=self.version, metadata=metadata, sources=tuple(sources))

    def with_settings(self, settings: Mapping[str, str]) -> bytes:
        """Return the content of the file, with these settings and its other ones."""
        return self.bytes({**self.metadata.get("conf", {}), **settings})

    def bytes(self, conf: Mapping[str, str]) -> bytes:
        """Return the content of the file, with these settings."""
        whole = {"batchWatermarkMs": 0, "batchTimestampMs": 0, **self.metadata, "conf": dict(conf)}
        text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
        return "\n".join((self.version, text, *self.sources)).encode()
