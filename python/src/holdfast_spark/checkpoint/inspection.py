"""What a checkpoint holds at a glance, from its logs, its metadata and one listing of its files."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from holdfast_spark._text import counted
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    MalformedFileError,
    UnansweredError,
)
from holdfast_spark.checkpoint.expected_stores import (
    needs_state,
    operators_without_files,
    stores_without_files,
    without_state,
)
from holdfast_spark.checkpoint.family_choice import family_names, variables_of
from holdfast_spark.checkpoint.files.change_locks import is_at_work
from holdfast_spark.checkpoint.files.journals import unfinished, was_planned_by_change
from holdfast_spark.checkpoint.files.json_values import parse_json_object
from holdfast_spark.checkpoint.files.log_entries import read_commit_entry
from holdfast_spark.checkpoint.files.operators import UNKNOWN_OPERATOR, Operator
from holdfast_spark.checkpoint.files.providers import ROCKSDB
from holdfast_spark.checkpoint.files.schema_file import DEFAULT_COLUMN_FAMILY
from holdfast_spark.checkpoint.files.state_files import StoreFiles, as_ranges
from holdfast_spark.checkpoint.files.state_variables import StateVariable

# Without files; of more than that, the first ones tell as much.
_MOST_STORES = 10_000
# Versions that the growth is averaged over.
_RECENT = 10
# Further back, and Spark's coordinator reports the store as lagging (defaults of Spark 4.2).
_LONG_LAG = 50

_ROCKSDB_FILES = (
    "These are files of Spark's RocksDB provider: N.zip is a snapshot of version N, which lists "
    "the tables below SSTs that belong to it, and N.changelog the changes that make version N. "
    "Versions are told from their names; rows need Spark's statestore source, or holdfast migrate "
    "--to holdfast, which converts the state of the stopped query."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSummary:
    """The stores of one name in all partitions of an operator.

    Attributes:
        name: name of the store, `default` for most.
        partitions: partitions that have files of it.
        versions: versions that every partition can be put together at, such as `3-17`, judged by
            the names of the files.
        newest_version: the newest version that any partition has a file of; in checkpoint format 2
            the newest committed one.
        deltas: number of delta files, or changelogs of RocksDB.
        delta_bytes: their size.
        snapshots: number of snapshot files, or zips of RocksDB.
        snapshot_bytes: their size.
        shared_files: files that the zips of RocksDB refer to, each of which may serve several.
        shared_bytes: their size.
        delta_bytes_per_version: size of the deltas of one version in all partitions, on average
            over the newest ten.
        newest_snapshot_bytes: size of the newest snapshot of every partition together.
        snapshot_lag: versions between the newest snapshot and the newest version, in the partition
            where they are most.
        other_attempts: files of attempts at versions that the query has not committed, in
            checkpoint format 2, which keeps them apart; they are in none of the other numbers.
        column_families: names of the column families that its schema file has; none in a store
            without.
    """

    name: str
    partitions: int
    versions: str
    newest_version: int
    deltas: int
    delta_bytes: int
    snapshots: int
    snapshot_bytes: int
    shared_files: int
    shared_bytes: int
    delta_bytes_per_version: int
    newest_snapshot_bytes: int
    snapshot_lag: int
    other_attempts: int
    column_families: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSummary:
    """A stateful operator.

    Attributes:
        operator_id: its number in the query.
        name: Spark's name of it; `unknown` without metadata.
        stores: its stores by name.
        state_variables: those of `transformWithState`.
    """

    operator_id: int
    name: str
    stores: tuple[StoreSummary, ...]
    state_variables: tuple[StateVariable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A checkpoint at a glance.

    Attributes:
        path: where it is.
        query_id: id of the query; null without the file `metadata`.
        provider_class: class of the state store provider that the query is bound to.
        explanation: what the state files are and what can be done with them, where they are not
            Spark's delta and snapshot files; null where they are.
        codec: codec of its state files.
        row_checksums: whether their records carry checksums.
        shuffle_partitions: partitions of the query's state; null where Spark did not note it.
        state_format_versions: state format version by the kind of operator that has one.
        first_batch: the oldest batch in the log.
        newest_batch: the newest batch that was planned.
        newest_committed_batch: the newest batch that is through; null when none is.
        newest_batch_started: when the newest batch was planned, as ISO 8601 in UTC; null where
            Spark did not note it.
        watermark_ms: event-time watermark of the newest batch, in milliseconds since 1970.
        operators: the stateful operators.
        files: files below `state`.
        bytes: their size.
        odd: what is unusual, a sentence each.
    """

    path: str
    query_id: str | None
    provider_class: str
    explanation: str | None
    codec: str
    row_checksums: bool
    shuffle_partitions: int | None
    state_format_versions: dict[str, int]
    first_batch: int
    newest_batch: int
    newest_committed_batch: int | None
    newest_batch_started: str | None
    watermark_ms: int
    operators: tuple[OperatorSummary, ...]
    files: int
    bytes: int
    odd: tuple[str, ...]


def inspect_checkpoint(checkpoint: Checkpoint) -> Inspection:
    """Look at a checkpoint, without reading a state file.

    Raises:
        CheckpointError: a log or the metadata of an operator cannot be read.
    """
    Checkpoint.require(checkpoint, by="checkpoint.inspect_checkpoint")
    batch, settings = checkpoint.newest_readable, checkpoint.settings
    operators = tuple(_operator(operator, checkpoint) for operator in checkpoint.operators)
    query_id = _query_id(checkpoint)
    return Inspection(
        path=str(checkpoint.location),
        query_id=query_id,
        provider_class=settings.provider_class,
        explanation=_explanation(checkpoint),
        codec=settings.codec,
        row_checksums=settings.row_checksums,
        shuffle_partitions=settings.shuffle_partitions,
        state_format_versions=settings.state_format_versions,
        first_batch=checkpoint.planned[0],
        newest_batch=checkpoint.planned[-1],
        newest_committed_batch=checkpoint.committed[-1] if checkpoint.committed else None,
        newest_batch_started=batch.started.isoformat() if batch.started else None,
        watermark_ms=batch.watermark_ms,
        operators=operators,
        files=len(checkpoint.state_entries),
        bytes=sum(entry.size_bytes for entry in checkpoint.state_entries),
        odd=tuple(_odd(checkpoint, query_id)),
    )


def _explanation(checkpoint: Checkpoint) -> str | None:
    if checkpoint.settings.provider_class != ROCKSDB:
        return None
    return _ROCKSDB_FILES


def _query_id(checkpoint: Checkpoint) -> str | None:
    file = checkpoint.location / "metadata"
    with contextlib.suppress(CheckpointError, UnansweredError):
        found = parse_json_object(file.read_text(), path=str(file)).get("id")
        return str(found) if found else None
    return None


def _operator(operator: Operator, checkpoint: Checkpoint) -> OperatorSummary:
    by_name: dict[str, list[StoreFiles]] = defaultdict(list)
    for store in checkpoint.live_stores:
        if store.operator_id == operator.operator_id:
            by_name[store.name].append(store)
    return OperatorSummary(
        operator_id=operator.operator_id,
        name=operator.name,
        stores=tuple(
            _store(name, stores, _families(checkpoint, operator, name))
            for name, stores in by_name.items()
        ),
        state_variables=_variables(checkpoint, operator),
    )


def _families(checkpoint: Checkpoint, operator: Operator, store_name: str) -> tuple[str, ...]:
    names = family_names(checkpoint, operator.operator_id, store_name)
    return () if names == (DEFAULT_COLUMN_FAMILY,) else names


def _variables(checkpoint: Checkpoint, operator: Operator) -> tuple[StateVariable, ...]:
    with contextlib.suppress(MalformedFileError):  # which is among what is odd
        return variables_of(checkpoint, operator.operator_id)
    return ()


def _store(
    name: str, stores: Sequence[StoreFiles], column_families: tuple[str, ...]
) -> StoreSummary:
    deltas = [file for store in stores for file in store.deltas.values()]
    snapshots = [file for store in stores for file in store.snapshots.values()]
    in_all = set.intersection(*(set(store.versions) for store in stores))
    recent = sorted({file.version for file in deltas})[-_RECENT:]
    recent_bytes = sum(file.size_bytes for file in deltas if file.version in set(recent))
    newest_snapshots = [
        store.snapshots[max(store.snapshots)] for store in stores if store.snapshots
    ]
    return StoreSummary(
        name=name,
        partitions=len(stores),
        versions=as_ranges(sorted(in_all)),
        newest_version=max(_newest_version(store) for store in stores),
        deltas=len(deltas),
        delta_bytes=sum(file.size_bytes for file in deltas),
        snapshots=len(snapshots),
        snapshot_bytes=sum(file.size_bytes for file in snapshots),
        shared_files=sum(len(store.shared) for store in stores),
        shared_bytes=sum(entry.size_bytes for store in stores for entry in store.shared),
        delta_bytes_per_version=recent_bytes // max(len(recent), 1),
        newest_snapshot_bytes=sum(file.size_bytes for file in newest_snapshots),
        snapshot_lag=max(_snapshot_lag(store) for store in stores),
        other_attempts=sum(len(store.others) for store in stores),
        column_families=column_families,
    )


def _newest_version(store: StoreFiles) -> int:
    return store.files[-1].version if store.files else 0


def _snapshot_lag(store: StoreFiles) -> int:
    return _newest_version(store) - max(store.snapshots, default=0)


def _odd(checkpoint: Checkpoint, query_id: str | None) -> Iterator[str]:
    for journal in unfinished(checkpoint.location):
        if is_at_work(journal.folder):
            yield f"A change by Holdfast is being made ({journal}): wait until it is through."
            continue
        yield (
            f"A change by Holdfast was cut off ({journal}): holdfast repair --apply undoes or "
            "completes it."
        )
    yield from _newest_batches(checkpoint)
    if query_id is None:
        yield "The file metadata does not say the id of the query: see holdfast verify."
    try:
        checkpoint.batch()
    except MalformedFileError as error:
        yield str(error)
    rocksdb = [store for store in checkpoint.stores if store.is_rocksdb]
    if rocksdb and checkpoint.settings.provider_class != ROCKSDB:
        all_of_them = counted(len(checkpoint.stores), "store has", "stores have")
        yield (
            f"{len(rocksdb):,} of {all_of_them} files of Spark's RocksDB provider, and the query "
            f"is bound to {checkpoint.settings.provider_class}."
        )
    if sentence := without_state(checkpoint):
        yield sentence
    yield from _newest_commit(checkpoint)
    for operator in checkpoint.operators:
        if operator.name == UNKNOWN_OPERATOR and checkpoint.settings.are_of_spark_4:
            yield f"Operator {operator.operator_id} has no metadata, which Spark writes since 4.0."
        try:
            variables_of(checkpoint, operator.operator_id)
        except MalformedFileError as error:
            yield str(error)
    yield from _without_schema(checkpoint)
    yield from _missing_partitions(checkpoint)
    for store in checkpoint.live_stores:
        yield from _odd_store(store, checkpoint.committed_version)
    temporary = sum(entry.name.endswith(".tmp") for entry in checkpoint.state_entries)
    if temporary:
        there = counted(temporary, "temporary file is", "temporary files are")
        yield f"{there} there, of attempts that are at work or did not finish."


def _newest_batches(checkpoint: Checkpoint) -> Iterator[str]:
    """Yield what the ends of the two logs say where they are not of the same batch."""
    newest, committed = checkpoint.planned[-1], checkpoint.committed[-1:]
    if committed == (newest - 1,) and was_planned_by_change(checkpoint.location, newest):
        yield f"Batch {newest} was planned by a change with Holdfast: the query has yet to run it."
    elif committed > (newest,):
        yield f"Batch {committed[0]} is committed, and its plan is gone: see holdfast verify."
    elif committed < (newest - 1,) and newest:
        yield (
            f"Batch {newest} is planned, and of the batches before it the newest that is committed "
            f"is {committed[0] if committed else 'none'}: see holdfast verify."
        )
    elif committed != (newest,):
        yield f"Batch {newest} is planned and not committed: the query runs it, or stopped in it."


def _newest_commit(checkpoint: Checkpoint) -> Iterator[str]:
    """Yield what is wrong with the newest commit, and the operators that it names for nothing."""
    for batch in checkpoint.committed[-1:]:
        file = checkpoint.location / "commits" / batch
        if not file.exists():
            continue  # before Spark 2.3 there was no such log
        try:
            read_commit_entry(file)
        except (CheckpointError, UnansweredError) as error:
            yield str(error)
            return
    for operator_id in operators_without_files(checkpoint) if needs_state(checkpoint) else ():
        yield f"Operator {operator_id} has lost the folder of its state."
    for operator_id in checkpoint.empty_operators if needs_state(checkpoint) else ():
        yield f"The folder of operator {operator_id} is empty."


def _without_schema(checkpoint: Checkpoint) -> Iterator[str]:
    for operator_id, name in checkpoint.live_names:
        with contextlib.suppress(CheckpointError, UnansweredError):
            if not checkpoint.schema_file(operator_id, store_name=name).exists():
                yield (
                    f"Operator {operator_id} has no schema of the store {name}, which Spark writes "
                    "since 3.1: holdfast show tells what the bytes of its rows tell, or takes the "
                    "columns as --key-schema and --value-schema."
                )


def _missing_partitions(checkpoint: Checkpoint) -> Iterator[str]:
    if not needs_state(checkpoint):
        return
    missing: dict[tuple[int, str], list[int]] = defaultdict(list)
    # Without the schemas of a join nobody knows which stores there should be.
    with contextlib.suppress(UnansweredError):
        for store in islice(stores_without_files(checkpoint), _MOST_STORES):
            missing[store.operator_id, store.name].append(store.partition_id)
    for (operator_id, name), partitions in missing.items():
        yield (
            f"Operator {operator_id} has no files of the store {name} in the partitions "
            f"{as_ranges(partitions)}."
        )


def _odd_store(store: StoreFiles, wanted: int) -> Iterator[str]:
    if wanted and wanted not in store.versions:
        yield (
            f"Store {store} cannot be put together at version {wanted}, the state after the newest "
            f"committed batch: it has {as_ranges(store.versions) or 'none'}."
        )
    links = [file.version for file in store.files if file.location.is_dead_link]
    if links:
        yield f"Store {store} has links that lead nowhere, of the versions {as_ranges(links)}."
    empty = [f.version for f in store.files if not f.size_bytes and f.version not in links]
    if empty:
        yield f"Store {store} has empty files, of the versions {as_ranges(empty)}."
    if _snapshot_lag(store) > _LONG_LAG:
        yield (
            f"Store {store} has had no snapshot for {counted(_snapshot_lag(store), 'version')}: a "
            "restart has to replay them all."
        )
