"""Whether a query will go on from its checkpoint, with the right state, and at which batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from holdfast_spark._arguments import FLAG, FUNCTION, require_arguments
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.checksums import check_checksums
from holdfast_spark.checkpoint.checks.family_versions import check_lists
from holdfast_spark.checkpoint.checks.file_source import check_file_sources
from holdfast_spark.checkpoint.checks.files_with_ids import check_files_with_ids
from holdfast_spark.checkpoint.checks.linked_folders import check_linked_folders, is_linked
from holdfast_spark.checkpoint.checks.logs import check_logs
from holdfast_spark.checkpoint.checks.lost_operators import check_lost_operators
from holdfast_spark.checkpoint.checks.lost_schemas import check_lost_schemas
from holdfast_spark.checkpoint.checks.missing_files import check_missing_files, missing_store
from holdfast_spark.checkpoint.checks.needed import chain_of, needed_paths
from holdfast_spark.checkpoint.checks.operator_metadata import check_operator_metadata
from holdfast_spark.checkpoint.checks.partitions import check_partitions
from holdfast_spark.checkpoint.checks.problem import Problem
from holdfast_spark.checkpoint.checks.query_metadata import check_query_metadata
from holdfast_spark.checkpoint.checks.rate_source import check_rate_sources
from holdfast_spark.checkpoint.checks.real_time import state_without_plan
from holdfast_spark.checkpoint.checks.schema_places import (
    check_schema_places,
    schemas_elsewhere,
)
from holdfast_spark.checkpoint.checks.schemas import check_schemas
from holdfast_spark.checkpoint.checks.settings import check_settings
from holdfast_spark.checkpoint.checks.shared_sources import taken_for_one
from holdfast_spark.checkpoint.checks.snapshots import check_snapshot
from holdfast_spark.checkpoint.checks.source_files import check_source_files
from holdfast_spark.checkpoint.checks.source_offsets import check_source_offsets
from holdfast_spark.checkpoint.checks.state import StateReader, all_files
from holdfast_spark.checkpoint.checks.subject import Subject
from holdfast_spark.checkpoint.checks.unchecked_rows import unplaced
from holdfast_spark.checkpoint.checks.unfinished_changes import check_unfinished_changes
from holdfast_spark.checkpoint.checks.unfinished_repartition import check_unfinished_repartition
from holdfast_spark.checkpoint.checks.verified import BrokenFile, Verification, VerifiedStore
from holdfast_spark.checkpoint.checks.writing_times import (
    odd_batch_times,
    odd_commit_times,
    odd_delta_times,
)
from holdfast_spark.checkpoint.errors import (
    CheckpointError,
    GoneFileError,
    UnsupportedProviderError,
)
from holdfast_spark.checkpoint.expected_stores import (
    needs_state,
    stores_without_files,
    without_state,
)
from holdfast_spark.checkpoint.files.location import Location
from holdfast_spark.checkpoint.files.state_files import StoreFiles, as_ranges
from holdfast_spark.checkpoint.others import MISSED, TRIES, Others

_LOG_CHECKS: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    check_unfinished_changes,
    check_unfinished_repartition,
    check_query_metadata,
    check_logs,
    check_settings,
    check_source_offsets,
    check_linked_folders,
    check_operator_metadata,
    check_schema_places,
    check_schemas,
    check_checksums,
)

_SOURCE_CHECKS: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    check_source_files,
    check_file_sources,
    check_rate_sources,
)

# Of more than that, the first ones tell as much.
_MOST_LOST_STORES = 1_000
_BEHIND_A_LINK = "The state was not judged: a folder of it is a link out of the checkpoint."


def verify_checkpoint(
    checkpoint: Checkpoint,
    *,
    shared_sources: bool = False,
    on_file: Callable[[int, int], None] = lambda _done, _all: None,
) -> Verification:
    """Read a checkpoint as Spark will when the query starts again, and all else that is in it.

    Logs, metadata and schemas are read to the last line and held against each other; every record
    of every state file is read, its checksum, its row by the schema and its partition by the hash
    of its key are checked; the snapshot to begin with is put together from older files once more;
    files are held against the checksums beside them.

    What Spark does with each file is that of 4.3; but Spark before 4.2, where the newest batch
    tells that it was planned by one, does not go on past a snapshot that cannot be read. A file
    that still is what Spark would write, as one with another digit in a number that nothing else
    tells, is not found out, unless there are checksums. Of state that only its own provider reads
    nothing is said but that.

    Args:
        checkpoint: the checkpoint, opened just now.
        shared_sources: whether the query is known to read a source in several places, as a stream
            that is joined with itself: lines of the offsets that are always the same may then have
            one folder in `sources`, where else one of two would be lost.
        on_file: called after each state file with the number of files read and of all files.

    The query may run meanwhile: where it has removed what it went on from when the checkpoint was
    opened, that is opened again.

    Raises:
        ChangeUnderWayError: another command is changing the checkpoint.
        ChangedMeanwhileError: one has changed it, again and again.
        CleanedUpError: the query runs, and removes files faster than they are read.
        UnknownFormatError: the codec of the state files is unknown.
        UnreadablePathError: the file system refuses to list the checkpoint.
    """
    Checkpoint.require(checkpoint, by="checkpoint.verify_checkpoint")
    require_arguments(
        "checkpoint.verify_checkpoint",
        shared_sources=(shared_sources, FLAG),
        on_file=(on_file, FUNCTION),
    )
    return verified(Subject(checkpoint, shared_sources=shared_sources), on_file)[1]


def verified(
    subject: Subject, on_file: Callable[[int, int], None] = lambda _done, _all: None
) -> tuple[Subject, Verification]:
    """Verify what else is known of, and return that, opened again where others made it necessary.

    Raises:
        ChangeUnderWayError: another command is changing the checkpoint.
        ChangedMeanwhileError: one has changed it, again and again.
        CleanedUpError: the query runs, and removes files faster than they are read.
    """
    for left in reversed(range(TRIES)):
        others = Others(subject.named)
        try:
            found = verify(subject, on_file)
        except MISSED as error:
            why = others.why_missed(error)
            if not left and why:
                raise why from error
            if not left:
                raise
        else:
            if found.sound:
                return subject, found
            is_other = others.have_changed() or (not found.goes_on and others.have_gone_on())
            if not is_other or not left:
                return subject, found
        subject = dataclasses.replace(subject, named=Checkpoint.open(subject.location))
    raise AssertionError  # the last one has returned or raised


def verify(
    subject: Subject, on_file: Callable[[int, int], None] = lambda _done, _all: None
) -> Verification:
    """Verify a checkpoint as it was opened.

    What its query has removed meanwhile is no damage, unless it is what the query went on from
    then: of that nothing is known.

    Raises:
        GoneFileError: such a file is gone.
        CheckpointError: as `verify_checkpoint` says.
    """
    checks = (*_LOG_CHECKS, *(() if is_linked(subject, "sources") else _SOURCE_CHECKS))
    problems = [problem for check in checks for problem in check(subject)]
    notes = [
        *odd_batch_times(subject),
        *odd_commit_times(subject),
        *taken_for_one(subject),
        *schemas_elsewhere(subject),
    ]
    readable = subject.readable
    if readable is None:
        return _result(subject, [*problems, *check_lost_schemas(subject)], notes)
    if is_linked(subject, "state"):
        return _result(subject, problems, [*notes, _BEHIND_A_LINK])
    problems += check_lost_operators(subject, readable)
    try:
        readable.require_readable()
    except UnsupportedProviderError as error:
        problems += check_lost_schemas(subject)
        return _result(subject, problems, [*notes, f"The state was not judged. {error}"])
    lost = tuple(_lost_stores(subject, readable))
    live = readable.live_stores
    problems += check_partitions(subject, readable, live)
    strange = tuple(check_files_with_ids(subject, readable, live))
    problems += strange
    notes += odd_delta_times(subject, live)
    reader = StateReader(subject, readable, on_file)
    found = [reader.read(store) for store in (*live, *lost)]
    live = tuple(_left(subject, store, reader.gone) for store in live)
    usual = _without(live, strange)
    problems += check_missing_files(subject, usual)
    problems += (missing_store(subject, store) for store in lost)
    notes += state_without_plan(subject, usual)
    read = [
        _judged(subject, readable, store, records, [*broken, *reader.misplaced(store)])
        for store, (records, broken) in zip((*live, *lost), found, strict=True)
    ]
    problems += check_lost_schemas(subject, reader.placed)
    problems += (problem for store in read for problem in store.problems)
    notes += unplaced(reader, live)
    is_lost = any(problem.kind in ("state", "metadata") for problem in problems)
    if not is_lost and (sentence := without_state(readable)):
        # Whether it needs any is not known, so that nothing was judged.
        return _result(subject, problems, [*notes, sentence])
    return _result(subject, problems, notes, live, read)


@dataclass(frozen=True, slots=True)
class _ReadStore:
    verified: VerifiedStore
    problems: tuple[Problem, ...]
    files: StoreFiles
    sound: StoreFiles


def _without(stores: Sequence[StoreFiles], problems: Sequence[Problem]) -> list[StoreFiles]:
    """Return stores without the files that are no versions of theirs."""
    strange = {problem.location for problem in problems}
    return [_without_files(store, strange) for store in stores]


def _without_files(store: StoreFiles, gone: Set[Location]) -> StoreFiles:
    return dataclasses.replace(
        store,
        files=tuple(file for file in store.files if file.location not in gone),
        others=tuple(file for file in store.others if file.location not in gone),
    )


def _left(subject: Subject, store: StoreFiles, gone: Set[Location]) -> StoreFiles:
    """Return what is left of a store.

    Raises:
        GoneFileError: that does not lead to the version that the query went on from.
    """
    left = _without_files(store, gone)
    needed = subject.next_batch
    if needed in store.versions and needed not in left.versions:
        chain = store.chain(needed)
        raise GoneFileError.since_listed(next(f.location for f in chain if f.location in gone))
    return left


def _lost_stores(subject: Subject, checkpoint: Checkpoint) -> Iterator[StoreFiles]:
    if not needs_state(subject.named):
        return
    try:
        yield from islice(stores_without_files(checkpoint), _MOST_LOST_STORES)
    except CheckpointError:
        return  # the metadata of an operator, which has its own check


def _judged(
    subject: Subject,
    checkpoint: Checkpoint,
    store: StoreFiles,
    records: int,
    problems: list[Problem],
) -> _ReadStore:
    damaged = {problem.location for problem in problems}
    sound = dataclasses.replace(
        store, files=tuple(file for file in store.files if file.location not in damaged)
    )
    problems += _contradictions(subject, checkpoint, sound, problems)
    needed = subject.next_batch or None
    verified = VerifiedStore(
        operator_id=store.operator_id,
        partition_id=store.partition_id,
        name=store.name,
        files=len(all_files(store)),
        records=records,
        versions=as_ranges(sound.versions),
        needed_version=needed,
        recoverable=needed is None or needed in sound.versions,
    )
    return _ReadStore(verified, tuple(problems), store, sound)


def _contradictions(
    subject: Subject, checkpoint: Checkpoint, store: StoreFiles, problems: Sequence[Problem]
) -> list[Problem]:
    """Return what of sound files of a store contradicts other ones, which are read once more."""
    found = list[Problem]()
    try:
        if not problems:
            found += check_lists(subject, checkpoint, store)
        if not any(problem.kind == "state" for problem in (*problems, *found)):
            found += check_snapshot(subject, checkpoint, store)
    except GoneFileError:
        gone = {file.location for file in store.files if not file.location.is_there()}
        left = _left(subject, store, gone)
        if not gone:  # but the checksums beside a file, which go before it
            left = dataclasses.replace(left, files=tuple(f.without_checksums for f in left.files))
        if left == store:
            raise
        return _contradictions(subject, checkpoint, left, problems)
    return found


def _result(
    subject: Subject,
    problems: Iterable[Problem],
    notes: Iterable[str],
    files: Sequence[StoreFiles] = (),
    stores: Sequence[_ReadStore] | None = None,
) -> Verification:
    judges_state, stores = stores is not None, stores or ()
    problems = tuple(problems)
    superfluous = tuple(_superfluous(subject, stores, problems))
    needed = needed_paths(subject, files, superfluous)
    broken = tuple(
        _told_once(subject, [_broken(problem, needed) for problem in _distinct(problems)])
    )
    read = [file for store in files for file in all_files(store)]
    verified = tuple(store.verified for store in stores)
    recoverable = all(store.recoverable for store in verified)
    return Verification(
        path=str(subject.location),
        sound=not broken and recoverable,
        goes_on=recoverable and not any(file.stops for file in broken),
        next_batch=subject.next_batch,
        reruns=subject.reruns,
        judges_state=judges_state,
        files=len(read),
        records=sum(store.records for store in verified),
        bytes=sum(file.size_bytes for file in read),
        broken=broken,
        stores=verified,
        notes=tuple(notes),
    )


def _superfluous(
    subject: Subject, stores: Iterable[_ReadStore], problems: Iterable[Problem]
) -> Iterator[Location]:
    """Yield the snapshots to begin with that older files stand in for when the query goes on."""
    if not subject.passes_over_snapshots:
        return
    refused = {p.location for p in problems if p.kind == "checksum" and p.stops is not False}
    for store in stores:
        base = chain_of(store.files, subject.next_batch)[:1]
        others = tuple(
            file for file in store.sound.files if file not in base and file.location not in refused
        )
        if subject.next_batch in dataclasses.replace(store.sound, files=others).versions:
            yield from (file.location for file in base)


def _distinct(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Leave out what was said before of the same file in the same words."""
    seen: set[Problem] = set()
    for problem in problems:
        if problem not in seen:
            seen.add(problem)
            yield problem


def _told_once(subject: Subject, broken: Sequence[BrokenFile]) -> Iterator[BrokenFile]:
    """Leave out the files that are gone by their checksums, where another check says it better."""
    there = {str(subject.location / name) for name in subject.entries}
    others = {
        (file.path, stops)
        for file in broken
        if file.kind != "checksum"
        and file.path not in there
        and file.error.startswith(f"{file.path} is gone")
        for stops in {file.stops, False}
    }
    for file in broken:
        if file.kind != "checksum" or (file.path, file.stops) not in others:
            yield file


def _broken(problem: Problem, needed: frozenset[str]) -> BrokenFile:
    path = str(problem.location)
    stops = path in needed if problem.stops is None else problem.stops
    return BrokenFile(path=path, kind=problem.kind, error=problem.error, stops=stops)
