"""The way back to an earlier batch, under the numbers that come next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast_spark.checkpoint.changes.change import Change
from holdfast_spark.checkpoint.changes.fence import (
    BEFORE_THE_FIRST_BATCH,
    Fence,
)
from holdfast_spark.checkpoint.changes.new_ids import NewIds
from holdfast_spark.checkpoint.changes.next_logs import NO_IDS, logs_after_change
from holdfast_spark.checkpoint.changes.stopped import checksum_files_and_theirs
from holdfast_spark.checkpoint.changes.tail import Tail
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.snapshots import require_right
from holdfast_spark.checkpoint.checks.state import in_families
from holdfast_spark.checkpoint.expected_stores import all_stores_without_files
from holdfast_spark.checkpoint.family_replay import FamilyVersion
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import PinnedSettings, read_state_ids
from holdfast_spark.checkpoint.files.state_files import DEFAULT_STORE, StateFile, StoreFiles
from holdfast_spark.checkpoint.replay import replay
from holdfast_spark.checkpoint.rows.encoding import encode, writing_snapshot
from holdfast_spark.checkpoint.rows.family_encoding import writing_family_snapshot
from holdfast_spark.checkpoint.rows.family_records import reading_families
from holdfast_spark.checkpoint.rows.records import read_records


def go_back(
    checkpoint: Checkpoint, sound: Sequence[StoreFiles], tail: Tail, change: Change, fence: Fence
) -> None:
    """Add to a change that the query goes on from the state before a tail of batches.

    That state is written as a snapshot of the version that the next batch goes on from, one for
    each store; empty ones where nothing is left.

    Args:
        checkpoint: the checkpoint.
        sound: its stores, with only those files that can be read.
        tail: the batches that are given up, of which there is one at least.
        change: the change, whose folder is written to.
        fence: its fence.

    Raises:
        ContradictedStateError: that state is not what older files lead to.
        CheckpointError: a file cannot be read or written.
    """
    last = BEFORE_THE_FIRST_BATCH if tail.last_batch is None else tail.last_batch
    version = checkpoint.newest_committed + 1
    stores = [*sound, *all_stores_without_files(checkpoint)]
    ids = None
    if read_state_ids(checkpoint.location / "commits" / checkpoint.newest_committed):
        ids = NewIds((store.operator_id, store.partition_id, store.name) for store in stores)
    for store in stores:
        name = f"{version}.snapshot"
        if ids:
            id_ = ids.of(store.operator_id, store.partition_id, store.name)
            name = f"{version}_{id_}.snapshot"
        folder = f"state/{store.operator_id}/{store.partition_id}"
        if store.name != DEFAULT_STORE:
            folder = f"{folder}/{store.name}"
        if last != BEFORE_THE_FIRST_BATCH:
            require_right(checkpoint, store, last + 1)
        chain = store.chain(last + 1) if last != BEFORE_THE_FIRST_BATCH else ()
        write_snapshot(
            change.new(f"{folder}/{name}"),
            chain,
            checkpoint.settings,
            in_families=in_families(checkpoint, store),
        )
        change.comes.append(f"{folder}/{name}")
    change.leaves += tail.files
    change.leaves += _earlier_logs(checkpoint)
    logs = logs_after_change(
        checkpoint,
        fence,
        settings={},
        ids=ids.by_operator if ids else NO_IDS,
        back_to=last,
    )
    for log, content in logs.items():
        change.add(log, content)


def _earlier_logs(checkpoint: Checkpoint) -> Iterator[str]:
    """Yield the log files of earlier batches: offsets and watermarks do not go back in a log."""
    for log, batches in (("offsets", checkpoint.planned), ("commits", checkpoint.committed)):
        there = {entry.path for entry in (checkpoint.location / log).files()}
        for batch in batches:
            if batch < checkpoint.newest_committed:
                file = checkpoint.location / log / batch
                for each in (*checksum_files_and_theirs(file), file):
                    if each.path in there:
                        yield checkpoint.location.below(each.path)


def write_snapshot(
    file: Location, chain: Sequence[StateFile], settings: PinnedSettings, *, in_families: bool
) -> None:
    """Write a version as a snapshot, and read it again.

    Args:
        file: a new file.
        chain: the files that make the version; none for the empty one.
        settings: the settings of the query.
        in_families: whether the store keeps its rows in column families.

    Raises:
        CheckpointError: a file cannot be read or written.
    """
    if in_families:
        _write_families(file, chain, settings)
    else:
        _write_rows(file, chain, settings)


def _write_families(file: Location, chain: Sequence[StateFile], settings: PinnedSettings) -> None:
    version = FamilyVersion(chain)
    with writing_family_snapshot(file, settings, version.families) as writer:
        for _, table, records in version.records():
            row_checksums = settings.row_checksums
            writer.write(encode(records, row_checksums=row_checksums, table=table.number)[0])
    with reading_families(_written(file)) as content:
        for _ in content.tables(version.families):
            pass


def _write_rows(file: Location, chain: Sequence[StateFile], settings: PinnedSettings) -> None:
    codec, row_checksums = settings.codec, settings.row_checksums
    with writing_snapshot(file, settings) as writer:
        for _, records in replay(chain, codec=codec, row_checksums=row_checksums):
            writer.write(encode(records, row_checksums=row_checksums)[0])
    for _ in read_records(_written(file), codec=codec, row_checksums=row_checksums):
        pass


def _written(file: Location) -> StateFile:
    (entry,) = file.files()
    return StateFile(
        location=file,
        kind="snapshot",
        version=int(file.path.rpartition("/")[2].partition(".")[0].partition("_")[0]),
        size_bytes=entry.size_bytes,
        modified=None,
    )
