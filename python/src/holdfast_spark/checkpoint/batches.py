"""Where a checkpoint is, and the batches that its logs tell of."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from typing import Any, TypeVar

from holdfast_spark._arguments import OPTIONS, require_arguments
from holdfast_spark._text import batches_text
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    GoneFileError,
    LostOffsetsError,
    MalformedFileError,
    NoBatchError,
    NotACheckpointError,
)
from holdfast_spark.checkpoint.files.journals import standing_fences
from holdfast_spark.checkpoint.files.location import PLACE, Location
from holdfast_spark.checkpoint.files.logs import Batch, PinnedSettings, batch_ids, read_batch

_Batches = TypeVar("_Batches", bound="Batches")


class Batches:
    """The batches of a query, and the settings that they pin; the part of `Checkpoint` for that.

    Attributes:
        location: where the checkpoint is.
        planned: the batches in `offsets/`, ascending.
        committed: the batches in `commits/`, ascending; all but the newest one in checkpoints of
            Spark 2.1, which had no such log and ran the newest one again.
    """

    def __init__(
        self, location: Location, *, planned: tuple[int, ...], committed: tuple[int, ...]
    ) -> None:
        self.location = location
        self.planned = planned
        self.committed = committed

    @classmethod
    def open(
        cls: type[_Batches],
        path: str | PathLike[str] | Location,
        *,
        storage_options: Mapping[str, Any] | None = None,
    ) -> _Batches:
        """Open a checkpoint.

        Args:
            path: what the query has as `checkpointLocation`: a local path or a URL of any file
                system that fsspec knows; or a `Location`.
            storage_options: what fsspec gives to the file system, such as credentials.

        Raises:
            NotACheckpointError: there is no checkpoint.
            LostOffsetsError: there is one, and its log of planned batches is gone.
            UnreadablePathError: the file system refuses the path.
        """
        require_arguments(
            "checkpoint.Checkpoint.open",
            path=(path, PLACE),
            storage_options=(storage_options, OPTIONS),
        )
        location = Location.of(path, storage_options=storage_options).as_tree()
        logs = {name: batch_ids(location / name) for name in ("offsets", "commits")}
        for log, _, batch in (name.partition("/") for name in standing_fences(location)):
            logs[log] = tuple(number for number in logs[log] if str(number) != batch)
        planned, committed = logs["offsets"], logs["commits"]
        if not planned:
            names = location.names()
            if committed or {"metadata", "state"} <= set(names):
                raise LostOffsetsError(path=str(location / "offsets"), has_commits=bool(committed))
            raise NotACheckpointError(path=str(path), found=_what_is_there(location))
        if not committed and _is_before_commits(location, planned[-1]):
            committed = planned[:-1]
        return cls(location, planned=planned, committed=committed)

    def batch(self, batch_id: int | None = None) -> Batch:
        """Return a batch as it was planned, the newest for None.

        Raises:
            NoBatchError: there is no such batch.
            MalformedFileError: its offsets file is damaged.
        """
        wanted = self.planned[-1] if batch_id is None else batch_id
        if wanted not in self.planned:
            raise self._no_batch(wanted)
        return read_batch(self.location / "offsets" / wanted)

    def version_after(self, batch_id: int | None) -> int:
        """Return the version that state has after a batch, the newest committed one for None.

        After batch -1, before the first one, it is the empty state.

        Raises:
            NoBatchError: the query has not come to that batch, or has not committed any.
            MalformedFileError: it is the newest planned one, and its offsets file is damaged.
        """
        if batch_id is not None and not -1 <= batch_id <= self.planned[-1]:
            raise self._no_batch(batch_id)
        wanted = self.newest_committed if batch_id is None else batch_id
        if wanted == self.planned[-1]:
            self.batch(wanted)  # whose own settings tell how its state is read
        return wanted + 1

    def _no_batch(self, batch_id: int) -> NoBatchError:
        return NoBatchError(
            f"{self.location} has no batch {batch_id}: it has the {batches_text(self.planned)}."
        )

    @cached_property
    def settings(self) -> PinnedSettings:
        """The settings that the query is bound to: those of the newest batch that can be read."""
        return self.newest_readable.settings

    @cached_property
    def newest_readable(self) -> Batch:
        """The newest batch whose offsets file can be read, as it was planned.

        A crash of the machine may leave an empty file of the last one; Spark carries the settings
        from batch to batch.

        Raises:
            MalformedFileError: no offsets file can be read, the newest one as little.
            UnreadablePathError: the file system refuses one.
        """
        for batch in reversed(self.planned):
            with contextlib.suppress(MalformedFileError):
                return self.batch(batch)
        return self.batch()

    @property
    def newest_committed(self) -> int:
        """The newest batch that is through.

        Raises:
            NoBatchError: no batch is.
        """
        if not self.committed:
            newest, log = self.planned[-1], self.location / "commits"
            raise NoBatchError(
                f"{self.location} has no committed batch, though batch {newest} is planned: "
                f"expected the files of the batches before it in {log}, found none. Restore them "
                "from a copy."
                if newest
                else f"{self.location} has no committed batch: the query has not finished its "
                "first one."
            )
        return self.committed[-1]

    @property
    def committed_version(self) -> int:
        """The version that the newest batch that is through has made; 0 for none."""
        return self.committed[-1] + 1 if self.committed else 0

    def require_commits(self) -> None:
        """Check that there is a log of committed batches, without which nobody goes on from one.

        Raises:
            NoBatchError: Spark before 2.3 has written the newest batch, and wrote none.
            GoneFileError: the query has removed the newest one since then.
        """
        log = self.location / "commits"
        if not self.committed or (log / self.committed[-1]).exists():
            return
        if batch_ids(log):
            raise GoneFileError.since_listed(log / self.committed[-1])
        raise NoBatchError(
            f"{self.location} has no log of committed batches: expected one in {log}, which "
            "Spark writes since 2.3, found none. Let a newer Spark run a batch of the query "
            "first, and stop it."
        )


def _what_is_there(location: Location) -> str:
    """Return what is at a path that is no checkpoint, and where one is nearby."""
    if not location.exists():
        return "nothing at that path"
    if location.is_file():
        return "a file"
    if location.folder.path and batch_ids(location.folder / "offsets"):
        name = location.path.rpartition("/")[2]
        return f"the folder {name} of the checkpoint {location.folder}"
    # Each file of an output has a hidden one beside it.
    names = sorted(name for name in location.names() if not name.startswith("."))
    within = [name for name in names if batch_ids(location / name / "offsets")]
    if within:
        some = ", ".join(str(location / name) for name in within[:5])
        return f"a folder with the {'checkpoints' if within[1:] else 'checkpoint'} {some}"
    return ", ".join(names[:5]) or "nothing"


def _is_before_commits(location: Location, newest: int) -> bool:
    """Tell whether Spark 2.1 or 2.2 wrote a batch: it has no settings yet."""
    try:
        return not read_batch(location / "offsets" / newest).settings.conf
    except CheckpointError:
        return False
