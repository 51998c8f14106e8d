"""Which files of a store are gone, and which are there that no batch has made.

Every batch leaves a delta, or a snapshot where it began anew, and cleanup deletes the oldest files
up to a snapshot. So there are no gaps, but for batches that Spark has given up to repartition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import islice

from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.real_time import unplanned_attempt
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.logs import batch_ids
from holdfast_spark.checkpoint.files.numbers import gaps
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles, as_ranges

# Of more than that, those that the query needs tell as much.
_MOST_LOST = 1_000


def check_missing_files(subject: Subject, stores: Sequence[StoreFiles]) -> Iterator[Problem]:
    """Yield versions without a file, and files of versions that nobody has planned."""
    with_deltas: dict[tuple[int, str], set[int]] = defaultdict(set)
    for store in stores:
        with_deltas[store.operator_id, store.name].update(store.deltas)
    for store in stores:
        in_others = with_deltas[store.operator_id, store.name]
        if any(_gaps(subject, store, in_others)):
            # A listing beside a query that cleans up may have the end of what goes alone.
            yield from _gaps(subject, _still_there(subject, store), in_others)
    yield from _unplanned(subject, stores)


def folder_of(subject: Subject, store: StoreFiles) -> Location:
    """Return where the files of a store lie."""
    return subject.location / "state" / str(store)


def _still_there(subject: Subject, store: StoreFiles) -> StoreFiles:
    names = set(folder_of(subject, store).names())
    left = (file for file in store.files if file.location.path.rpartition("/")[2] in names)
    return replace(store, files=tuple(left))


def _gaps(subject: Subject, store: StoreFiles, in_others: Set[int]) -> Iterator[Problem]:
    """Yield the versions without a file.

    Args:
        subject: the checkpoint.
        store: the store.
        in_others: the versions that it, or one beside it, has a delta of.
    """
    version = subject.next_batch
    there = {*store.deltas, *store.snapshots}
    if not version or not there:
        return
    start = _first_with_files(store)
    base = max((v for v in store.snapshots if v <= version), default=0)
    given_up = {batch + 1 for batch in subject.given_up}
    no_deltas = in_others - {*store.deltas}
    sound = {v for v in there if v <= start or v not in no_deltas} | given_up | {*store.deltas}
    newest_first = (gone for gap in reversed(gaps(sound, start, version)) for gone in reversed(gap))
    for gone in reversed(list(islice(newest_first, _MOST_LOST))):
        yield _lost(subject, store, gone, stops=base < gone)


def _first_with_files(store: StoreFiles) -> int:
    """Return the version from which on there should be files.

    Cleanup leaves a snapshot as the oldest file, unless nothing has been deleted yet. Where a
    version has a delta and a snapshot, that of Spark's default provider knows of the snapshot
    alone, and the delta stays until the next cleanup (`HDFSBackedStateStoreProvider.fetchFiles`,
    all lines). So deltas below the oldest snapshot are what it has left, where they are next to no
    other file, or where every version has a snapshot (`minDeltasForSnapshot` is 1).
    """
    first = min(store.snapshots, default=1)
    left = {version for version in store.deltas if version < first}
    alone = not any(version + 1 in {*left, first} for version in left)
    are_left = alone or first + 1 in store.snapshots
    return first if are_left and 1 not in left else 1


def _lost(subject: Subject, store: StoreFiles, version: int, *, stops: bool) -> Problem:
    name = f"{version}_*.delta" if store.has_unique_ids else f"{version}.delta"
    file = folder_of(subject, store) / name
    what = (
        f"the state that batch {subject.next_batch} starts from needs it"
        if stops
        else f"the query goes on without it, but nobody can go back to batch {version - 1}"
    )
    return Problem(
        location=file,
        kind="state",
        error=f"{file} is gone: expected what batch {version - 1} changed; {what}. Restore it "
        "from a copy.",
        stops=stops,
    )


def _unplanned(subject: Subject, stores: Sequence[StoreFiles]) -> Iterator[Problem]:
    newest = subject.named.planned[-1] + 1
    late = [f for store in stores for f in (*store.files, *store.others) if f.version > newest]
    if late:
        # A query that runs has gone on meanwhile.
        newest = max(newest, *(batch + 1 for batch in batch_ids(subject.location / "offsets")))
    in_real_time = {file.location for file in unplanned_attempt(subject, stores)}
    late = [file for file in late if file.location not in in_real_time]
    # A batch leaves a delta in each store, but for those of RocksDB, whose zips may stand alone.
    made = [
        any(
            file.version == newest + 1 and _is_of_batch(store, file)
            for file in (*store.files, *store.others)
        )
        for store in stores
    ]
    if made and all(made) and not in_real_time and not subject.set_back:
        yield _lost_plan(subject, newest, with_ids=any(store.has_unique_ids for store in stores))
        return
    for file in late:
        if file.version > newest:
            # In checkpoint format 2 the version to come has a name of its own.
            harm = "It is in the way of the version of that number to come."
            is_taken = file.kind == "snapshot" and not file.unique_id
            if file.unique_id:
                harm = "No batch will ask for it."
            elif is_taken:
                harm = (
                    "When the query has come to that version, it would be taken for it, and the "
                    "state be wrong."
                )
            yield Problem(
                location=file.location,
                kind="state",
                error=f"{file.location} is of a version that no batch has made: expected at most "
                f"{newest}, the state after batch {newest - 1}. {harm} Move it away.",
                stops=is_taken,
            )


def _is_of_batch(store: StoreFiles, file: StateFile) -> bool:
    return store.is_rocksdb or file.kind == "delta"


def _lost_plan(subject: Subject, batch: int, *, with_ids: bool) -> Problem:
    file = subject.location / "offsets" / batch
    # Real-time mode has checkpoint format 2 alone; the times of the files have not told the mode.
    in_real_time = (
        " or if the query ran in real-time mode, which plans a batch when it has ended,"
        if with_ids
        else ""
    )
    return Problem(
        location=file,
        kind="log",
        error=f"{file} is gone: expected the plan of batch {batch}, whose state all stores have. "
        "Spark plans another batch of that number, of which a sink may have written the rows of "
        "the former one. Restore it from a copy; or, if somebody has set the query back on "
        f"purpose,{in_real_time} have holdfast repair --drop-tail take away the state of the "
        "batches that were given up.",
        stops=True,
    )


def missing_store(subject: Subject, store: StoreFiles) -> Problem:
    """Return what there is to say of a store without files."""
    folder = folder_of(subject, store)
    return Problem(
        location=folder,
        kind="state",
        error=f"{folder} has no state file: expected those of the versions up to "
        f"{subject.next_batch}, as every batch leaves one in each partition. Restore the folder "
        f"from a copy. (Operator, partition and store: {store}; versions: "
        f"{as_ranges(store.versions) or 'none'}.)",
        stops=subject.next_batch > 0,
    )
