"""Another state store provider for a stopped query.

Spark binds a query to the provider class in the newest file of `offsets/`, and takes it from there
on restart, whatever the session says (`OffsetSeqMetadata.setSessionConf`, 4.3). Holdfast and
Spark's default provider write the same state files, so between them that class is all that changes.
From and to RocksDB the state is converted as well, that in column families too, and so is that of
checkpoint format 2 on the way to Spark's default provider, which has no column families. What comes
out of format 2 has format 1, which every provider has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from holdfast_spark._arguments import DURATION, FLAG, FUNCTION, TEXT, or_none, require_arguments
from holdfast_spark._settled import SETTLED
from holdfast_spark._text import named
from holdfast_spark.checkpoint.changes.carried_state import carry_state
from holdfast_spark.checkpoint.changes.change import Change
from holdfast_spark.checkpoint.changes.convertible import require_convertible, require_no_families
from holdfast_spark.checkpoint.changes.fence import Fence
from holdfast_spark.checkpoint.changes.limits import is_limit_alone
from holdfast_spark.checkpoint.changes.next_logs import NO_IDS, logs_after_change
from holdfast_spark.checkpoint.changes.partition_numbers import require_no_repartition
from holdfast_spark.checkpoint.changes.stopped import LOGS, StoppedQuery
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.checks.verified import Verification, what_lacks
from holdfast_spark.checkpoint.errors import (
    MigrationError,
    UnsupportedProviderError,
)
from holdfast_spark.checkpoint.files.journals import require_finished
from holdfast_spark.checkpoint.files.logs import (
    DEFAULT_PROVIDER,
    PROVIDER_CLASS,
)
from holdfast_spark.checkpoint.files.providers import PROVIDERS, ROCKSDB, WITH_FAMILIES
from holdfast_spark.checkpoint.others import beside_others


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A switch to another provider, planned or done.

    Attributes:
        path: where the checkpoint is.
        from_provider: the class that the query is bound to, or was.
        to_provider: the class that it is to be bound to, or is now.
        offsets_file: the file that says so.
        files: state files that were read to the last record and found sound; none where Spark's
            RocksDB provider read them.
        records: records in them; where the state was converted, its rows.
        converted_stores: stores whose newest committed version was converted, and read again to
            compare the rows; none between providers that share their files.
        applied: whether it is done; false in a dry run, and where the query was bound to
            `to_provider` already.
        backup: where what was replaced is kept; null where nothing was changed.
        in_the_way: why the change would be refused now, a sentence each; empty where nothing is in
            its way, and where it is done.
        lost: what sources have lost, which keeps the query from going on with any provider, a
            sentence each; empty where the state is not read here, as that of RocksDB.
    """

    path: str
    from_provider: str
    to_provider: str
    offsets_file: str
    files: int
    records: int
    converted_stores: int
    applied: bool
    backup: str | None
    in_the_way: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def migrate(  # noqa: PLR0913 - what one may choose
    checkpoint: Checkpoint,
    to: str,
    *,
    bound_to: str | None = None,
    apply: bool = False,
    stopped: bool = False,
    settled: timedelta = SETTLED,
    on_store: Callable[[int, int], None] = lambda _done, _all: None,
) -> Migration:
    """Switch a stopped query to another provider.

    Between Holdfast and Spark's default provider: reads all state files first, which stay as they
    are. From checkpoint format 2 to Spark's default provider, which has not got it: writes the
    newest committed version of each store as a snapshot of format 1, and reads it again. From and
    to RocksDB: starts a local Spark session, converts the newest committed version of each store,
    reads it again and compares the rows, in a dry run as well.

    Then the log of planned batches names the provider, and the next batch is planned with it, so
    that a run of the query that goes on nevertheless fails there (`fence`); but for a query whose
    only state is a limit's, which has no batch without data (`limits`). All that is replaced is
    kept in a folder of its own below `holdfast-backup`. If anything fails, the checkpoint is as it
    was.

    Args:
        checkpoint: the checkpoint, opened just now.
        to: `holdfast`, `rocksdb`, or `hdfs`, Spark's default provider.
        bound_to: the class that the query is bound to, if it is none of these: it does not exist,
            or its state files are Spark's delta and snapshot files.
        apply: do it; without, look only.
        stopped: the query is known to run nowhere, so that a batch that is planned and not
            committed can be planned anew.
        settled: refuse when the query has written anything within this time, as the command does;
            `timedelta(0)` where it is known to be stopped.
        on_store: called after each store that was converted with their number and that of all.

    Raises:
        UnfinishedChangeError: a change of the checkpoint was cut off, or another command makes one.
        UnfinishedRepartitionError: Spark has begun to repartition the query.
        RunningQueryError: the query seems to be running, or may be in the middle of a batch, and
            `apply` is given.
        UnsupportedProviderError: its state is in files that its provider does not write.
        ConversionError: its state is not the same with every provider.
        SparkStateError: Spark cannot read or write a store.
        PySparkNotInstalledError: there is no pyspark, which RocksDB needs.
        MigrationError: there is no provider of such a name, a state file is damaged, a version is
            missing, or the query has a provider that is none of these, and `bound_to` does not name
            it.
        CheckpointError: the checkpoint cannot be read or written.
    """
    Checkpoint.require(checkpoint, by="checkpoint.migrate")
    require_arguments(
        "checkpoint.migrate",
        to=(to, TEXT),
        bound_to=(bound_to, or_none(TEXT)),
        apply=(apply, FLAG),
        stopped=(stopped, FLAG),
        settled=(settled, DURATION),
        on_store=(on_store, FUNCTION),
    )
    return beside_others(
        checkpoint,
        lambda found: _migrate(
            found,
            to,
            bound_to=bound_to,
            apply=apply,
            stopped=stopped,
            settled=settled,
            on_store=on_store,
        ),
        apply=apply,
    )


def _migrate(  # noqa: PLR0913 - as `migrate` has them
    checkpoint: Checkpoint,
    to: str,
    *,
    bound_to: str | None,
    apply: bool,
    stopped: bool,
    settled: timedelta,
    on_store: Callable[[int, int], None],
) -> Migration:
    target = _class_of(to)
    require_finished(checkpoint.location)
    require_no_repartition(checkpoint)
    query = StoppedQuery(checkpoint, settled=settled, apply=apply)
    checkpoint.batch()  # the newest one has to be readable, as the change goes on from it
    source = checkpoint.settings.provider_class
    if source != target:
        query.require_settled()
    _require_known(checkpoint, source, bound_to)
    with_rocksdb = ROCKSDB in (source, target)
    converts = (
        source != target
        and bool(checkpoint.stores)
        and (with_rocksdb or _leaves_format_2(checkpoint, target))
    )
    if target not in (source, *WITH_FAMILIES):
        require_no_families(checkpoint)
    if converts and with_rocksdb:
        require_convertible(checkpoint)
    fence = None
    if source != target:
        query.require_writable(*LOGS, *(["state"] if converts else []))
        fence = query.fence(stopped=stopped)
        if is_limit_alone(checkpoint):
            fence = replace(fence, stays=False)
    files = records = stores = 0
    lost: tuple[str, ...] = ()
    if source != ROCKSDB and _has_state(checkpoint, source):
        for store in checkpoint.stores:
            if not checkpoint.in_families(store.operator_id, store_name=store.name):
                checkpoint.require_one_family(store.operator_id, store_name=store.name)
        sound = _require_sound(checkpoint)
        files, records = sound.files, sound.records
        lost = tuple(file.error for file in sound.lost)
    change = Change(checkpoint.location, query.backup, fence)
    with change.abandoned_on_error():
        if converts:
            stores, records = carry_state(
                checkpoint, target, change, apply=apply, on_store=on_store
            )
        if apply and fence:
            _add_logs(checkpoint, target, change, fence, converts=converts)
    apply = apply and fence is not None
    if apply:
        change.make(query.require_unchanged)
    batch = fence.batch_id if fence and fence.stays else checkpoint.planned[-1]
    return Migration(
        path=str(checkpoint.location),
        from_provider=source,
        to_provider=target,
        offsets_file=str(checkpoint.location / "offsets" / batch),
        files=files,
        records=records,
        converted_stores=stores,
        applied=apply,
        backup=str(query.backup) if apply else None,
        in_the_way=query.in_the_way,
        lost=lost,
    )


def _class_of(name: str) -> str:
    """Return the class of a provider by its name."""
    if name not in PROVIDERS:
        *others, last = PROVIDERS
        raise MigrationError(
            f"A query cannot be switched to {named(name)}: expected {', '.join(others)} or {last}, "
            f"found {named(name)}."
        )
    return PROVIDERS[name]


def _has_state(checkpoint: Checkpoint, source: str) -> bool:
    """Tell whether there is state to read, or has to be, as after every batch of what is known."""
    return bool(checkpoint.stores or (checkpoint.committed and source in PROVIDERS.values()))


def _require_known(checkpoint: Checkpoint, source: str, bound_to: str | None) -> None:
    """Check that the files of the provider are known, or that the user says that they are."""
    if bound_to not in (None, source):
        raise MigrationError(
            f"{checkpoint.location} is bound to {source}, and not to {named(bound_to)}, which "
            "--from (bound_to in Python) names: name the class that it is bound to, or leave it "
            "out."
        )
    if source not in PROVIDERS.values() and bound_to is None:
        raise MigrationError(
            f"{checkpoint.location} is bound to {source}, which is none of "
            f"{', '.join(PROVIDERS.values())}. If there is no such class, or it keeps its state in "
            f"Spark's delta and snapshot files, give --from {source} besides --to "
            f"(bound_to={source!r} in Python): what it has written is then read first."
        )
    if source != ROCKSDB and any(store.is_rocksdb for store in checkpoint.stores):
        raise UnsupportedProviderError(
            path=str(checkpoint.location),
            provider=f"Spark's RocksDB provider, and the query is bound to {source}",
        )


def _leaves_format_2(checkpoint: Checkpoint, target: str) -> bool:
    ids = any(store.has_unique_ids for store in checkpoint.stores)
    return ids and target == DEFAULT_PROVIDER


def _add_logs(
    checkpoint: Checkpoint, target: str, change: Change, fence: Fence, *, converts: bool
) -> None:
    """Add to a change the logs that name the provider, and no ids where format 1 has come."""
    loses_ids = converts and any(store.has_unique_ids for store in checkpoint.stores)
    logs = logs_after_change(
        checkpoint,
        fence,
        settings={PROVIDER_CLASS: target},
        ids=NO_IDS if loses_ids else None,
    )
    for name, content in logs.items():
        change.add(name, content)


def _require_sound(checkpoint: Checkpoint) -> Verification:
    checkpoint.require_readable()
    found = verify_checkpoint(checkpoint)
    if lost_state := [file.error for file in found.lost if file.kind == "state"]:
        raise MigrationError(f"{found.path} is not switched. {lost_state[0]}")
    if not found.state_is_sound:
        first = next((f" It begins with {file.path}." for file in found.harmful), "")
        raise MigrationError(
            f"{found.path} is not switched: {what_lacks(found)}.{first} holdfast verify names "
            "what, and holdfast repair may help."
        )
    return found
