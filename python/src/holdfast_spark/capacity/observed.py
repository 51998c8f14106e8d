"""What the stores of an existing checkpoint hold, and what its batches do to them."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from holdfast_spark._arguments import COUNT, FUNCTION, or_none, require_arguments
from holdfast_spark.capacity.growth import delta_content
from holdfast_spark.capacity.load import StoreLoad
from holdfast_spark.capacity.prefixes import PrefixCounter
from holdfast_spark.capacity.workload import WORKLOAD, Workload
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import CheckpointError
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.operators import Operator
from holdfast_spark.checkpoint.files.state_variables import KEY_TO_TIMESTAMP
from holdfast_spark.checkpoint.history import read_histories
from holdfast_spark.checkpoint.history_figures import StoreHistory
from holdfast_spark.checkpoint.rows.families import Family
from holdfast_spark.checkpoint.rows.records import Records

# Versions that changes are averaged over.
_RECENT = 10
# How the kinds of encoders of keys begin that put rows in order (KeyStateEncoderSpec of Spark 4.2).
_IN_ORDER = ("RangeKeyScan", "TimestampAs")
# A partition with so many times the rows of an average one is worth a word.
_SKEWED = 1.5
_STOOD_STILL = (
    "The newest batches put no rows. Those that are asked for take the place of rows that are "
    "there, in each store in proportion to its rows."
)


class _Figures(Protocol):
    """A version of a store, or of a column family."""

    @property
    def version(self) -> int:
        """The version."""

    @property
    def rows(self) -> int | None:
        """Its rows, where that is known."""

    @property
    def puts(self) -> int | None:
        """Rows that its deltas put, where that is known."""

    @property
    def removals(self) -> int | None:
        """Rows that its deltas remove, where that is known."""


_Version = TypeVar("_Version", bound=_Figures)


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
        WrongArgumentError: something else than a checkpoint is given.
        UnplannableError: its rows cannot be counted.
        CheckpointError: what is asked for is not there, or is damaged.
    """
    Checkpoint.require(checkpoint, by="capacity.observe")
    require_arguments(
        "capacity.observe", operator_id=(operator_id, COUNT), on_file=(on_file, FUNCTION)
    )
    operator = checkpoint.operator(operator_id)
    histories = [
        _until(checkpoint.committed_version, history)
        for history in read_histories(checkpoint, operator_id=operator_id, on_file=on_file)
    ]
    if not histories:
        raise UnplannableError(
            f"{checkpoint.location} has no state files of operator {operator_id}: run the query, "
            "or give a schema instead."
        )
    loads = tuple(
        load
        for history in histories
        for load in (
            _family_loads(checkpoint, history)
            if history.families
            else [_load(checkpoint, operator, history)]
        )
    )
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

    Where batches put nothing into the first store, its changes take the place of rows that are
    there, and so do those of other stores that have none, in proportion to their rows.

    Args:
        workload: the workload.
        keys: rows; as many as there are for None. Changes grow with them.
        changes: rows that a batch puts; in proportion to the rows for None.

    Raises:
        WrongArgumentError: it is no workload, or a number is less than 0.
        UnplannableError: its first store has no rows that could become more, or be changed.
    """
    require_arguments(
        "capacity.grown",
        workload=(workload, WORKLOAD),
        keys=(keys, or_none(COUNT)),
        changes=(changes, or_none(COUNT)),
    )
    first = workload.loads[0]
    begin = bool(changes) and not first.changes
    if (keys or begin) and not first.rows:
        raise UnplannableError(
            f"The store {first.name} of {workload.operator} has no rows, so that nothing tells how "
            "large they are: let the query run first, or give a schema instead."
        )
    by_rows = keys / first.rows if keys is not None and first.rows else 1.0
    by_changes = changes / first.changes if changes is not None and first.changes else by_rows
    loads = tuple(load.times(by_rows, changes=by_changes) for load in workload.loads)
    made = dataclasses.replace(workload, loads=loads)
    return _changed(made, workload, changes / first.rows) if changes and begin else made


def _changed(made: Workload, still: Workload, share: float) -> Workload:
    """Return a workload in which batches put something into each store.

    Args:
        made: the workload.
        still: the workload as it was observed.
        share: of the rows that there were, which batches put.
    """
    loads = tuple(
        load
        if load.changes
        else dataclasses.replace(load, changes=there.rows * share, overwritten=there.rows * share)
        for load, there in zip(made.loads, still.loads, strict=True)
    )
    return dataclasses.replace(made, loads=loads, assumptions=(*made.assumptions, _STOOD_STILL))


def _until(committed: int, history: StoreHistory) -> StoreHistory:
    """Leave out what not all partitions may have: of a batch that is under way, or was cut off."""

    def of(versions: tuple[_Version, ...]) -> tuple[_Version, ...]:
        # All of them where none is committed: there is nothing else to plan by.
        return tuple(each for each in versions if each.version <= committed) or versions

    families = (
        dataclasses.replace(family, versions=of(family.versions)) for family in history.families
    )
    return dataclasses.replace(history, versions=of(history.versions), families=tuple(families))


def _require_counted(history: StoreHistory) -> int:
    """Return the newest version, whose rows have to be counted."""
    newest = history.versions[-1]
    if newest.rows is None:
        reason = " ".join(history.not_read) or "The state files that lead to it are not all there."
        raise UnplannableError(
            f"The rows of version {newest.version} of the store "
            f"{history.operator_id}/{history.name} cannot be counted. {reason}"
        )
    return newest.version


def _family_loads(checkpoint: Checkpoint, history: StoreHistory) -> list[StoreLoad]:
    """Return what each column family of a store holds; a part of a list is a row.

    The first is the one with the most rows, of those that the query has and Spark does not add.
    """
    newest = _require_counted(history)
    sizes: dict[str, _Sizes] = defaultdict(_Sizes)
    for store in checkpoint.stores_of(history.operator_id, store_name=history.name, version=newest):
        version = FamilyVersion(store.chain(newest))
        counters: dict[str, PrefixCounter] = {}
        for _, table, records in version.records():
            name = table.family.name
            sizes[name].add(records)
            if table.has_parts:
                continue
            if _is_in_order(table.family):
                # Each row is found by its own place, which is a time and what is behind it.
                sizes[name].prefixes += len(records)
                sizes[name].order_words = 2
            elif counter := _counter(table.family):
                counters.setdefault(name, counter).add(records)
        for name, counter in counters.items():
            sizes[name].prefixes += counter.count
    loads = [sizes[family.name].load(family.name, family.versions) for family in history.families]
    return sorted(loads, key=lambda load: (load.name.startswith("$"), -load.rows))


def _counter(family: Family) -> PrefixCounter | None:
    """Return what counts the prefixes that a family is scanned by, such as the keys of maps.

    Timers by key are scanned by no operator, only by a user's `listTimers` (TimerStateImpl of Spark
    4.0 and later).
    """
    columns = family.encoder(path=family.name).get("numColsPrefixKey")
    if not isinstance(columns, int) or columns < 1 or _is_of_timers(family):
        return None
    return PrefixCounter(columns, of=len(family.schema(path=family.name).key.fields))


def _is_of_timers(family: Family) -> bool:
    return family.is_internal and family.name.endswith(KEY_TO_TIMESTAMP)


def _is_in_order(family: Family) -> bool:
    """Return whether ranges of a family are scanned, such as that of the timers that are due."""
    kind = family.encoder(path=family.name).get("keyStateEncoderType")
    return isinstance(kind, str) and kind.startswith(_IN_ORDER)


def _load(checkpoint: Checkpoint, operator: Operator, history: StoreHistory) -> StoreLoad:
    version = _require_counted(history)
    sizes = _Sizes()
    for store in checkpoint.stores_of(
        history.operator_id, store_name=history.name, version=version
    ):
        prefixes = _prefix_counter(checkpoint, operator, store.name)
        for _, records in checkpoint.read_bytes(store, version):
            sizes.add(records)
            if prefixes:
                prefixes.add(records)
        sizes.prefixes += prefixes.count if prefixes else 0
    return sizes.load(history.name, history.versions)


@dataclass(slots=True)
class _Sizes:
    """Bytes of keys and values, the number of prefixes, and the words of the order."""

    keys: int = 0
    values: int = 0
    prefixes: int = 0
    order_words: float = 1

    def add(self, records: Records) -> None:
        self.keys += int(records.key_lengths.sum())
        self.values += int(records.value_lengths.sum())

    def load(self, name: str, versions: Sequence[_Figures]) -> StoreLoad:
        """Return the load of a store, or of one of its families, that has these sizes."""
        rows = versions[-1].rows or 0
        changes = _changes(versions)
        return StoreLoad(
            name=name,
            rows=rows,
            key_bytes=self.keys / max(rows, 1),
            value_bytes=self.values / max(rows, 1),
            changes=changes.puts,
            overwritten=changes.overwritten,
            removed=changes.removals,
            prefixes=self.prefixes,
            order_words=self.order_words,
        )


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


def _recent(versions: Sequence[_Figures]) -> Sequence[_Figures]:
    """Return the newest versions whose changes are known, at most ten."""
    known = [version for version in versions if version.puts is not None]
    return known[-_RECENT:]


@dataclass(frozen=True, slots=True)
class _Changes:
    """Rows that a batch puts, those of them that overwrite a row, and rows that it removes."""

    puts: float
    overwritten: float
    removals: float


def _changes(versions: Sequence[_Figures]) -> _Changes:
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
    recent = [version for version in history.versions if version.puts is not None][-_RECENT:]
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
