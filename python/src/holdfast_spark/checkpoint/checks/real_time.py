"""What a batch in real-time mode has left that was killed before it was planned.

In real-time mode a batch is planned when it has ended: its state is written before its offsets
(`MicroBatchExecution`, 4.3). Where it is killed between the two, there is state of a batch that no
offsets tell of, and nothing is lost: the batch runs again, and real-time mode has checkpoint
format 2 alone, in which the next attempt has names of its own.

A plan that is lost looks the same, and nothing that a batch writes says in which mode it ran. The
times of its files do: in micro-batches the offsets of a batch are older than its deltas. Where the
times tell nothing, as those of copies, the plan is taken for lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.checks.writing_times import written
from holdfast_spark.checkpoint.files.journals import was_planned_by_change
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles


def unplanned_attempt(subject: Subject, stores: Sequence[StoreFiles]) -> tuple[StateFile, ...]:
    """Return the state files of a batch in real-time mode that was killed before it was planned.

    No files where it may be the plan that was lost.
    """
    newest = subject.readable_commits.get(subject.next_batch - 1)
    if newest is None or not newest.has_state_ids or subject.reruns:
        return ()
    version = subject.next_batch + 1
    left = tuple(file for store in stores for file in store.others if file.version == version)
    return left if _follows_real_time(subject, stores, left) else ()


def state_without_plan(subject: Subject, stores: Sequence[StoreFiles]) -> Iterator[str]:
    """Yield a sentence about what such a batch has left."""
    if left := unplanned_attempt(subject, stores):
        batch, files = subject.next_batch, counted(len(left), "state file")
        yield (
            f"State of batch {batch} was written, and the batch was not planned ({files}, such as "
            f"{left[0].location}): by the times of its files the query ran in real-time mode, "
            f"which plans a batch when it has ended. Batch {batch} runs again, and writes files of "
            "its own."
        )


def _follows_real_time(
    subject: Subject, stores: Sequence[StoreFiles], left: Sequence[StateFile]
) -> bool:
    """Tell whether files were written after a batch that was planned when it had ended.

    The newest batch tells whose times do. Copies are of one folder after the other, so that no plan
    is between the deltas of its batch and those of the next one.
    """
    since = min((file.modified for file in left if file.modified), default=None)
    if since is None:
        return False
    for batch in reversed(subject.named.committed):
        plan = written(subject, "offsets", batch)
        deltas = [store.deltas[batch + 1] for store in stores if batch + 1 in store.deltas]
        times = [delta.modified for delta in deltas if delta.modified]
        if plan and times and len(times) == len(deltas):
            if max(times) < plan <= since:
                return True
            # A change plans its batch in either mode.
            if plan < min(times) and not was_planned_by_change(subject.location, batch):
                return False
    return False
