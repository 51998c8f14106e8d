"""Another number of shuffle partitions for a stopped query.

Spark binds a query to the number in the newest file of `offsets/` (`OffsetSeqMetadata`, 4.3): a
query that was started with too few partitions keeps them. Here the state of every operator is
written anew, each row in the partition that Spark's hash of its key gives, and the number is
changed wherever the checkpoint has it: in the offsets files that a restart reads, and in the
metadata of the operators. Nothing else depends on it: the logs of sources, the watermarks and the
schemas stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import numpy.typing as npt

from holdfast_spark._arguments import DURATION, FLAG, FUNCTION, require_arguments, whole
from holdfast_spark._settled import SETTLED
from holdfast_spark._text import counted
from holdfast_spark.checkpoint.changes.change import Change
from holdfast_spark.checkpoint.changes.fence import Fence
from holdfast_spark.checkpoint.changes.new_ids import NewIds
from holdfast_spark.checkpoint.changes.next_logs import logs_after_change
from holdfast_spark.checkpoint.changes.partition_numbers import require_no_repartition
from holdfast_spark.checkpoint.changes.row_spread import spreads
from holdfast_spark.checkpoint.changes.spread import Spread, Tally
from holdfast_spark.checkpoint.changes.stopped import LOGS, StoppedQuery
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.snapshots import require_right
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    UnknownProviderError,
)
from holdfast_spark.checkpoint.expected_stores import MOST_STORES
from holdfast_spark.checkpoint.files.journals import require_finished
from holdfast_spark.checkpoint.files.json_values import parse_json_object, utf8_text
from holdfast_spark.checkpoint.files.logs import (
    DEFAULT_PROVIDER,
    SHUFFLE_PARTITIONS,
    read_state_ids,
)
from holdfast_spark.checkpoint.files.providers import HOLDFAST, ROCKSDB
from holdfast_spark.checkpoint.files.state_files import group_by_store
from holdfast_spark.checkpoint.others import beside_others

# Files that describe an operator's state, and among them those that have the number.
_DESCRIPTION = re.compile(r"state/\d+/(0/([^/]+/)?)?(_metadata|_stateSchema)/.*")
_OPERATOR_METADATA = re.compile(r"state/\d+/_metadata/(metadata|v2/\d+)")


class RepartitionError(CheckpointError):
    """A query cannot be given another number of partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepartitionedStore:
    """The stores of one name of an operator, in all partitions.

    Attributes:
        operator_id: number of the stateful operator.
        operator_name: Spark's name of it.
        store_name: name of the stores.
        rows: rows in them.
        partitions: partitions that they are spread over; one for an operator that has no key, such
            as a limit.
        largest_partition_rows: rows of the partition that gets most.
        column_families: rows by the column family that they are in, a part of a list being a row;
            empty in stores without, and without those that have none.
    """

    operator_id: int
    operator_name: str
    store_name: str
    rows: int
    partitions: int
    largest_partition_rows: int
    column_families: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repartition:
    """Another number of partitions, planned or done.

    Attributes:
        path: where the checkpoint is.
        batch_id: the newest committed batch, whose state is spread anew.
        from_partitions: the number that the query has, or had.
        to_partitions: the number that it is to have, or has now.
        stores: the stores of all operators.
        applied: whether it is done; false in a dry run, and where the query had `to_partitions`
            already.
        backup: the folder that keeps the former state; null where nothing was changed.
        in_the_way: why the change would be refused now, a sentence each; empty where nothing is in
            its way, and where it is done.
    """

    path: str
    batch_id: int
    from_partitions: int
    to_partitions: int
    stores: tuple[RepartitionedStore, ...]
    applied: bool
    backup: str | None
    in_the_way: tuple[str, ...] = ()


def repartition(  # noqa: PLR0913 - what one may choose
    checkpoint: Checkpoint,
    partitions: int,
    *,
    apply: bool = False,
    stopped: bool = False,
    settled: timedelta = SETTLED,
    on_store: Callable[[int, int], None] = lambda _done, _all: None,
) -> Repartition:
    """Give a stopped query another number of shuffle partitions.

    Reads the state after the newest committed batch, and checks of every row that it is where
    Spark's hash puts it. Then the state is written to a folder of its own below `holdfast-backup`,
    one snapshot for each store, and read again; only then the new files come to the folder `state`
    and the old ones are moved to the backup. Versions before that batch are in the backup alone. If
    anything fails, the checkpoint is as it was. A run of the query that goes on nevertheless fails
    at its next batch (`fence`).

    Args:
        checkpoint: the checkpoint, opened just now.
        partitions: the new number.
        apply: do it; without, look only.
        stopped: the query is known to run nowhere, so that a batch that is planned and not
            committed can be planned anew.
        settled: refuse when the query has written anything within this time, as the command does;
            `timedelta(0)` where it is known to be stopped.
        on_store: called with the number of steps done and of all steps; there are one (a dry run)
            or three for each store name of an operator.

    Raises:
        UnfinishedChangeError: a change of the checkpoint was cut off, or another command makes one.
        UnfinishedRepartitionError: Spark has begun to repartition the query.
        RunningQueryError: the query seems to be running, or may be in the middle of a batch, and
            `apply` is given.
        RepartitionError: the new number is less than 1, the query has no state, or its number of
            partitions is not known.
        UnsupportedProviderError: its state is not in delta and snapshot files.
        UnknownPlacementError: it cannot be told where the rows of an operator belong.
        ContradictedStateError: its state is not what older files lead to, as `verify` tells.
        MisplacedRowsError: rows are not where Spark's hash puts them.
        CheckpointError: the checkpoint cannot be read or written.
    """
    Checkpoint.require(checkpoint, by="checkpoint.repartition")
    require_arguments(
        "checkpoint.repartition",
        partitions=(partitions, whole()),
        apply=(apply, FLAG),
        stopped=(stopped, FLAG),
        settled=(settled, DURATION),
        on_store=(on_store, FUNCTION),
    )
    if not 1 <= partitions <= MOST_STORES:
        raise RepartitionError(
            f"The state of {checkpoint.location} cannot be in {counted(partitions, 'partition')}: "
            f"expected 1 to {MOST_STORES:,} partitions, each of which has files of its own."
        )
    return beside_others(
        checkpoint,
        lambda found: _repartition(
            found, partitions, apply=apply, stopped=stopped, settled=settled, on_store=on_store
        ),
        apply=apply,
    )


def _repartition(  # noqa: PLR0913 - as `repartition` has them
    checkpoint: Checkpoint,
    partitions: int,
    *,
    apply: bool,
    stopped: bool,
    settled: timedelta,
    on_store: Callable[[int, int], None],
) -> Repartition:
    require_finished(checkpoint.location)
    require_no_repartition(checkpoint)
    query = StoppedQuery(checkpoint, settled=settled, apply=apply)
    checkpoint.batch()  # the newest one has to be readable, as the change goes on from it
    before = checkpoint.settings.shuffle_partitions
    if partitions != before:
        query.require_settled()
    if not before or not checkpoint.operators:
        lacking = SHUFFLE_PARTITIONS if checkpoint.operators else "state of any operator"
        where = "the newest offsets file" if checkpoint.operators else "it"
        raise RepartitionError(
            f"{checkpoint.location} cannot be repartitioned: expected {lacking} in {where}, found "
            "none. A query without state takes the number from its session."
        )
    _require_shared_files(checkpoint)
    found = spreads(checkpoint, before)
    fence = None
    if partitions != before:
        query.require_writable("state", *LOGS)
        fence = query.fence(stopped=stopped)
    steps = _Steps(len(found) * (3 if apply else 1), on_store)
    checked = []
    for spread in found:
        for store in spread.stores:
            require_right(checkpoint, store, spread.version)
        checked.append(spread.check(partitions))
        steps.add()
    apply = apply and fence is not None
    if apply and fence:
        change = Change(checkpoint.location, query.backup, fence)
        with change.abandoned_on_error():
            rewrite = _Rewrite(checkpoint, found, partitions, change, steps)
            rewrite.write([tally for tally, _ in checked], fence)
        change.make(query.require_unchanged)
    return Repartition(
        path=str(checkpoint.location),
        batch_id=checkpoint.newest_committed,
        from_partitions=before,
        to_partitions=partitions,
        stores=tuple(_store(*each) for each in zip(found, checked, strict=True)),
        applied=apply,
        backup=str(query.backup) if apply else None,
        in_the_way=query.in_the_way,
    )


def _require_shared_files(checkpoint: Checkpoint) -> None:
    provider = checkpoint.settings.provider_class
    if provider == ROCKSDB or any(store.is_rocksdb for store in checkpoint.stores):
        raise checkpoint.rocksdb_error()
    if provider not in (HOLDFAST, DEFAULT_PROVIDER):
        raise UnknownProviderError(path=str(checkpoint.location), provider=provider)


def _store(spread: Spread, checked: tuple[Tally, npt.NDArray[np.int64]]) -> RepartitionedStore:
    tally, counts = checked
    return RepartitionedStore(
        operator_id=spread.operator.operator_id,
        operator_name=spread.operator.name,
        store_name=spread.name,
        rows=tally.rows,
        partitions=1 if spread.is_single else len(counts),
        largest_partition_rows=int(counts.max()),
        column_families=dict(sorted(tally.families.items())),
    )


class _Steps:
    """Counts the steps that are done."""

    def __init__(self, total: int, on_step: Callable[[int, int], None]) -> None:
        self._done, self._all, self._on_step = 0, total, on_step

    def add(self) -> None:
        """Count a step."""
        self._done += 1
        self._on_step(self._done, self._all)


class _Rewrite:
    """Writes the new state beside the old one, and puts it in its place."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        found: Sequence[Spread],
        partitions: int,
        change: Change,
        steps: _Steps,
    ) -> None:
        self._checkpoint = checkpoint
        self._spreads = found
        self._partitions = partitions
        self._change = change
        self._steps = steps
        commit = checkpoint.location / "commits" / checkpoint.newest_committed
        self._ids = NewIds(self._new_stores()) if read_state_ids(commit) else None

    def write(self, tallies: Sequence[Tally], fence: Fence) -> None:
        """Write everything that the change takes from its folder, and read the state again."""
        self._write_state()
        self._check_state(tallies)
        logs = logs_after_change(
            self._checkpoint,
            fence,
            settings={SHUFFLE_PARTITIONS: str(self._partitions)},
            ids=self._ids.by_operator if self._ids else None,
        )
        for name, content in logs.items():
            self._change.add(name, content)

    def _write_state(self) -> None:
        for entry in self._checkpoint.state_entries:
            name = self._checkpoint.location.below(entry.path)
            if _OPERATOR_METADATA.fullmatch(name):
                content = self._checkpoint.location.at(entry.path).read_bytes()
                self._change.add(name, _with_partitions(content, self._partitions, path=entry.path))
            elif not _DESCRIPTION.fullmatch(name):
                self._change.leaves.append(name)
        state = self._change.new("state")
        for spread in self._spreads:
            ids = []
            if self._ids:
                ids = [self._ids.of(*store) for store in self._stores_of(spread)]
            spread.write(state, self._partitions, ids)
            self._steps.add()

    def _new_stores(self) -> Iterator[tuple[int, int, str]]:
        for spread in self._spreads:
            yield from self._stores_of(spread)

    def _stores_of(self, spread: Spread) -> Iterator[tuple[int, int, str]]:
        for partition in range(spread.partition_count(self._partitions)):
            yield spread.operator.operator_id, partition, spread.name

    def _check_state(self, tallies: Sequence[Tally]) -> None:
        state = self._change.new("state")
        stores = group_by_store(state, state.files())
        for spread, tally in zip(self._spreads, tallies, strict=True):
            written, _ = spread.among(stores, self._partitions).check(self._partitions)
            self._steps.add()
            if written != tally:
                raise RepartitionError(
                    f"The state of {self._checkpoint.location} reads back differently than it was "
                    f"written: expected {tally}, found {written}. Nothing was changed."
                )
        for store in stores:
            for file in store.files:
                self._change.comes.append(
                    f"state/{file.location.path.removeprefix(f'{state.path}/')}"
                )


def _with_partitions(content: bytes, partitions: int, *, path: str) -> bytes:
    """Return the metadata of an operator with another number of partitions."""
    version, _, text = utf8_text(content, path=path).partition("\n")
    metadata = parse_json_object(text, path=path)
    stores = metadata.get("stateStoreInfo")
    if not isinstance(stores, list) or not all(isinstance(store, dict) for store in stores):
        raise MalformedFileError(path=path, expected="stateStoreInfo", found=repr(text[:80]))
    for store in stores:
        store["numPartitions"] = partitions
    return f"{version}\n{json.dumps(metadata, separators=(',', ':'))}".encode()
