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

from dataclasses import dataclass

from holdfast_spark._text import batches_text
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError, PlannedBatchError
from holdfast_spark.checkpoint.files.journals import FENCE_TEXT, was_planned_by_change
from holdfast_spark.checkpoint.files.location import Location

BEFORE_THE_FIRST_BATCH = -1


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
            NoBatchError: there is no log of committed batches, as before Spark 2.3.
            PlannedBatchError: a batch is planned and not committed, and may be running.
            ContradictingLogsError: a batch is committed that is not planned; or several are planned
                and not committed, the newest of which Spark would run from a newer state than that
                after the newest committed one.
        """
        checkpoint.require_commits()
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
