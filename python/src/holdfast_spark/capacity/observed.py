"""What the stores of an existing checkpoint hold, and what its batches do to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast_spark.capacity.growth import delta_content
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.prefixes import PrefixCounter
from holdfast_spark.capacity.workload import Workload
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.history import StoreHistory, VersionFigures, read_histories
from holdfast_spark.checkpoint.rows.records import Records

# Versions that changes are averaged over.
_RECENT = 10
# A partition with so many times the rows of an average one is worth a word.
_SKEWED = 1.5


class UnplannableError(CheckpointError):
    """A checkpoint does not tell what a plan needs."""


def observe(
    checkpoint: Checkpoint,
    operator_id: int,
    *,
    on_file: Callable[[int, int], None] = lambda _done, _all: None,
) -> Workload:
    """Read what the stores of an operator hold and what the newest ten batches did to them.

    Args:
        checkpoint: the checkpoint.
        operator_id: the operator.
        on_file: called after each version of each partition with the number done and of all.

    Raises:
        UnplannableError: its rows cannot be counted.
        CheckpointError: what is asked for is not there, or is damaged.
    """
    operator = checkpoint.operator(operator_id)
    histories = read_histories(checkpoint, operator_id=operator_id, on_file=on_file)
    if not histories:
        raise UnplannableError(
            f"{checkpoint.location} has no state files of operator {operator_id}: run the query, "
            "or give a schema instead."
        )
    loads = tuple(_load(checkpoint, operator, history) for history in histories)
    written = sum(_recent_bytes(history) for history in histories)
    content = sum(delta_content(load) for load in loads)
    return Workload(
        operator=operator.name,
        loads=loads,
        partitions=max(len(history.partitions) for history in histories),
        compression=round(written / content, 3) if content and written else None,
        assumptions=tuple(_skew(histories)),
    )


def grown(workload: Workload, *, keys: int | None = None, changes: int | None = None) -> Workload:
    """Return a workload with so many rows and changes in its first store, others in proportion.

    Args:
        workload: the workload.
        keys: rows; as many as there are for None. Changes grow with them.
        changes: rows that a batch puts; in proportion to the rows for None.
    """
    first = workload.loads[0]
    by_rows = keys / first.rows if keys is not None and first.rows else 1.0
    by_changes = changes / first.changes if changes is not None and first.changes else by_rows
    loads = (load.times(by_rows, changes=by_changes) for load in workload.loads)
    return dataclasses.replace(workload, loads=tuple(loads))


def _load(checkpoint: Checkpoint, operator: Operator, history: StoreHistory) -> StoreLoad:
    newest = history.versions[-1]
    if newest.rows is None:
        reason = " ".join(history.not_read) or "The state files that lead to it are not all there."
        raise UnplannableError(
            f"The rows of version {newest.version} of the store "
            f"{history.operator_id}/{history.name} cannot be counted. {reason}"
        )
    sizes = _Sizes()
    for store in checkpoint.stores_of(history.operator_id, store_name=history.name):
        prefixes = _prefix_counter(checkpoint, operator, store.name)
        for _, records in checkpoint.read_bytes(store, newest.version):
            sizes.add(records)
            if prefixes:
                prefixes.add(records)
        sizes.prefixes += prefixes.count if prefixes else 0
    changes = _changes(history.versions)
    return StoreLoad(
        name=history.name,
        rows=newest.rows,
        key_bytes=sizes.keys / max(newest.rows, 1),
        value_bytes=sizes.values / max(newest.rows, 1),
        changes=changes.puts,
        overwritten=changes.overwritten,
        removed=changes.removals,
        prefixes=sizes.prefixes,
    )


@dataclass(slots=True)
class _Sizes:
    """Bytes of keys and values, and the number of prefixes."""

    keys: int = 0
    values: int = 0
    prefixes: int = 0

    def add(self, records: Records) -> None:
        self.keys += int(records.key_lengths.sum())
        self.values += int(records.value_lengths.sum())


def _prefix_counter(
    checkpoint: Checkpoint, operator: Operator, store_name: str
) -> PrefixCounter | None:
    columns = max(
        (kind.prefix_columns for kind in operator.stores if kind.name == store_name), default=0
    )
    if not columns:
        return None
    key = checkpoint.row_schema(operator.operator_id, store_name=store_name).key
    return PrefixCounter(columns, of=len(key.fields))


def _recent(versions: Sequence[VersionFigures]) -> Sequence[VersionFigures]:
    """Return the newest versions whose changes are known, at most ten."""
    known = [version for version in versions if version.puts is not None]
    return known[-_RECENT:]


@dataclass(frozen=True, slots=True)
class _Changes:
    """Rows that a batch puts, those of them that overwrite a row, and rows that it removes."""

    puts: float
    overwritten: float
    removals: float


def _changes(versions: Sequence[VersionFigures]) -> _Changes:
    """Return what a batch does on average."""
    recent = _recent(versions)
    if not recent:
        return _Changes(0, 0, 0)
    puts = sum(version.puts or 0 for version in recent)
    removals = sum(version.removals or 0 for version in recent)
    before = [version for version in versions if version.version == recent[0].version - 1]
    rows_before = before[0].rows if before else (0 if recent[0].version == 1 else None)
    if rows_before is None or recent[-1].rows is None:
        added = removals
    else:
        added = recent[-1].rows - rows_before + removals
    overwritten = min(max(puts - added, 0), puts)
    return _Changes(*(sum_ / len(recent) for sum_ in (puts, overwritten, removals)))


def _recent_bytes(history: StoreHistory) -> float:
    recent = _recent(history.versions)
    return sum(version.delta_bytes for version in recent) / max(len(recent), 1)


def _skew(histories: Sequence[StoreHistory]) -> list[str]:
    sentences = []
    for history in histories:
        rows = [partition.rows or 0 for partition in history.partitions]
        average = sum(rows) / len(rows)
        if average and max(rows) > _SKEWED * average:
            largest = history.partitions[rows.index(max(rows))].partition_id
            sentences.append(
                f"In the checkpoint, partition {largest} of the store {history.name} has "
                f"{max(rows) / average:.1f} times the rows of an average one: its executor needs "
                "more in proportion than the figures have."
            )
    return sentences
