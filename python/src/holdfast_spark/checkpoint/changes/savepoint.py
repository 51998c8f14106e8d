"""A copy of a checkpoint at a batch, from which its query, or another one, can go on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from holdfast_spark._arguments import COUNT, FUNCTION, or_none, require_arguments
from holdfast_spark._text import batches_text
from holdfast_spark.checkpoint.changes.on_disk import sync_folders
from holdfast_spark.checkpoint.changes.schema_paths import METADATA, with_schemas_in
from holdfast_spark.checkpoint.changes.stopped import checksum_files
from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.checks.snapshots import require_right
from holdfast_spark.checkpoint.checks.verification import verify_checkpoint
from holdfast_spark.checkpoint.checks.verified import what_lacks
from holdfast_spark.checkpoint.errors import CheckpointError, NoBatchError
from holdfast_spark.checkpoint.expected_stores import why_empty
from holdfast_spark.checkpoint.files.checksums import require_checksums_beside
from holdfast_spark.checkpoint.files.journals import BACKUPS, require_finished
from holdfast_spark.checkpoint.files.location import PLACE, Location
from holdfast_spark.checkpoint.files.operators import DESCRIPTIONS
from holdfast_spark.checkpoint.files.state_files import StoreFiles
from holdfast_spark.checkpoint.others import beside_others
from holdfast_spark.errors import HoldfastError


class SavepointError(CheckpointError):
    """A savepoint cannot be made where it was asked for, or is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Savepoint:
    """A copy of a checkpoint.

    Attributes:
        path: where the copy is.
        source: the checkpoint that it was made of.
        batch_id: the batch that it ends with; the query goes on with the next one.
        files: files that were copied.
        bytes: their size.
        records: records in the copied state files, all of which were read.
        lost: what sources have lost, which is not in the copy either and keeps a query from going
            on, a sentence each.
    """

    path: str
    source: str
    batch_id: int
    files: int
    bytes: int
    records: int
    lost: tuple[str, ...] = ()


def make_savepoint(
    checkpoint: Checkpoint,
    target: Location | str | os.PathLike[str],
    *,
    batch_id: int | None = None,
    on_file: Callable[[int, int], None] = lambda _done, _all: None,
) -> Savepoint:
    """Copy what a query needs to go on after a batch.

    Of each store that is one snapshot and the deltas behind it; of the logs the batches up to that
    one; and the metadata and the logs of the sources. Where the log of planned batches has not the
    one before it, as after batches were given up (`repair`), the next one as it is planned is in
    the copy instead, since Spark begins with two. The query may run meanwhile: none of these
    files ever changes. What it removes from its logs before that is copied, the oldest batches, is
    not in the copy, which needs the last two; any other file that it removes is an error.
    If anything fails, what was copied is removed, and nothing else; and the logs are copied last,
    the newest offsets first, so that a copy that was cut short is no checkpoint, or one that Spark
    refuses, or lacks but the logs of earlier batches. In the end every state file of the copy is
    read to the last record.

    Args:
        checkpoint: the checkpoint, opened just now.
        target: a folder outside the checkpoint that does not exist or is empty; as a path or URL,
            or as a `Location` where its file system needs options.
        batch_id: a committed batch; the newest one for None.
        on_file: called after each file with the number of files copied and of all files.

    Raises:
        UnfinishedChangeError: a change of the checkpoint was cut off, or another command makes one.
        CleanedUpError: the query removes files faster than they are read.
        SavepointError: the target is in the checkpoint, a file or not empty, the checkpoint or the
            target is changed by somebody else meanwhile, or the copy is not whole.
        NoBatchError: the batch is not committed, or there is no log of committed batches, as
            before Spark 2.3.
        ContradictedStateError: the state after the batch is not that, as `verify` tells.
        MissingVersionError: the state after the batch is not there any more.
        UnsupportedProviderError: the state is not in delta and snapshot files.
        CheckpointError: a file cannot be read or written.
    """
    Checkpoint.require(checkpoint, by="checkpoint.make_savepoint")
    require_arguments(
        "checkpoint.make_savepoint",
        target=(target, PLACE),
        batch_id=(batch_id, or_none(COUNT)),
        on_file=(on_file, FUNCTION),
    )
    folder = Location.of(target).as_tree()
    return beside_others(
        checkpoint,
        lambda found: _make_savepoint(found, folder, batch_id, on_file),
        apply=False,
    )


def _make_savepoint(
    checkpoint: Checkpoint,
    target: Location,
    batch_id: int | None,
    on_file: Callable[[int, int], None],
) -> Savepoint:
    require_finished(checkpoint.location)
    checkpoint.require_commits()
    batch = checkpoint.newest_committed if batch_id is None else batch_id
    if batch not in checkpoint.committed:
        raise NoBatchError(
            f"{checkpoint.location} has not committed a batch {batch}: it has committed the "
            f"{batches_text(checkpoint.committed)}."
        )
    if target.is_file():
        raise SavepointError(f"{target} is a file: name a folder that does not exist or is empty.")
    if target.names():
        raise SavepointError(f"{target} is not empty: name a folder that does not exist.")
    if target.is_in(checkpoint.location):
        raise SavepointError(
            f"{target} is in the checkpoint {checkpoint.location} itself: name a folder elsewhere."
        )
    made = _Made(target, keeps_folder=target.exists())
    try:
        return _copy(checkpoint, target, batch, on_file, made)
    except BaseException:
        with contextlib.suppress(HoldfastError):
            made.remove()
        raise


class _Made:
    """What a copy has made in its folder, whose other files it leaves alone."""

    def __init__(self, target: Location, *, keeps_folder: bool) -> None:
        self.files: list[Location] = []
        self._target = target
        self._folders = set() if keeps_folder else {target.path}

    @contextlib.contextmanager
    def writing(self, copy: Location) -> Iterator[IO[bytes]]:
        """Open a new file for writing."""
        if copy.exists():
            raise _not_alone(self._target, copy)
        folder = copy.folder
        while folder.path != self._target.path:
            self._folders.add(folder.path)
            folder = folder.folder
        with copy.writing() as out:
            # Only now it is a file of the copy, which goes if the copy fails.
            self.files.append(copy)
            yield out

    def remove_last(self, copy: Location) -> None:
        """Remove a file, if it is the last one that was opened."""
        if self.files[-1:] == [copy]:
            self.files.pop().remove()

    def require_alone(self) -> None:
        """Check that nobody else writes there.

        Raises:
            SavepointError: somebody does.
        """
        ours = {file.path for file in self.files}
        for entry in self._target.files():
            if entry.path not in ours:
                raise _not_alone(self._target, self._target.at(entry.path))

    def remove(self) -> None:
        """Remove the files, and the folders that are empty then."""
        for file in self.files:
            file.remove()
        for path in sorted(self._folders, key=len, reverse=True):
            self._target.at(path).remove_empty()


def _copy(
    checkpoint: Checkpoint,
    target: Location,
    batch: int,
    on_file: Callable[[int, int], None],
    made: _Made,
) -> Savepoint:
    for operator_id in checkpoint.empty_operators:  # of which a copy of files would tell nothing
        raise SavepointError(
            f"The copy in {target} would not be whole. {why_empty(checkpoint, operator_id)}"
        )
    changes = _changes(checkpoint)
    files = list(_needed(checkpoint, batch))
    spare = {
        str(checkpoint.location / log / number)
        for log, there in (("offsets", checkpoint.planned), ("commits", checkpoint.committed))
        for number in there
        if number < batch - 1
    }
    for store in _stores(checkpoint, batch):
        # The copy has nothing any more that its snapshots can be held against; lists are in it.
        require_right(checkpoint, store, batch + 1, lists=False)
    size = 0
    for done, file in enumerate(files, start=1):
        try:
            # The copy has none, and Spark would refuse what differs from them.
            require_checksums_beside(file, checksum_files(file)[not file.is_local :])
            size += _copy_file(file, checkpoint.location, target, made)
        except CheckpointError as error:
            _require_unchanged(checkpoint, changes)
            if file.is_there():
                raise
            if str(file) in spare:
                made.remove_last(_below(target, file, checkpoint.location))
            else:
                raise SavepointError(
                    f"{file} is gone, which was there when the copy began: its query runs, and has "
                    "cleaned up. Make the savepoint again; where that happens again and again, "
                    "let the query keep more batches (spark.sql.streaming.minBatchesToRetain)."
                ) from error
        on_file(done, len(files))
    _require_unchanged(checkpoint, changes)
    sync_folders(target, made.files)
    sync_folders(target.folder, [])
    made.require_alone()
    found = verify_checkpoint(Checkpoint.open(target))
    if lost_state := [file.error for file in found.lost if file.kind == "state"]:
        raise SavepointError(f"The copy in {target} would not be whole. {lost_state[0]}")
    if not found.state_is_sound:
        raise SavepointError(
            f"The copy in {target} would not be whole: of what it needs, {what_lacks(found)}. Run "
            f"holdfast verify {checkpoint.location}, which names what."
        )
    return Savepoint(
        path=str(target),
        source=str(checkpoint.location),
        batch_id=batch,
        files=len(made.files),
        bytes=size,
        records=found.records,
        lost=tuple(file.error for file in found.lost),
    )


def _copy_file(file: Location, root: Location, target: Location, made: _Made) -> int:
    """Copy a file, and return its size there."""
    content = None
    if METADATA.fullmatch(root.below(file.path)):
        content = with_schemas_in(file.read_bytes(), of=root, to=target, path=str(file))
    with made.writing(_below(target, file, root)) as out:
        if content is None:
            return file.copy_into(out)
        out.write(content)
        return len(content)


def _changes(checkpoint: Checkpoint) -> set[str]:
    """Return the names of all changes of a checkpoint, of those too that are being made."""
    return set((checkpoint.location / BACKUPS).names())


def _require_unchanged(checkpoint: Checkpoint, changes: set[str]) -> None:
    if _changes(checkpoint) != changes:
        raise SavepointError(
            f"{checkpoint.location} was changed while the copy was made: expected no other command "
            f"at work there, found one in {checkpoint.location / BACKUPS}. Make the savepoint "
            "again when that has ended."
        )


def _not_alone(target: Location, found: Location) -> SavepointError:
    return SavepointError(
        f"Somebody else writes to {target} as well: expected none but the files of the copy, found "
        f"{found}. Name another folder."
    )


def _stores(checkpoint: Checkpoint, batch: int) -> list[StoreFiles]:
    """Return the stores that have state after a batch, or would have if it were not lost."""
    return [*checkpoint.stores_at(batch + 1)]


def _needed(checkpoint: Checkpoint, batch: int) -> Iterator[Location]:
    """Yield the files to copy, those that make the copy a checkpoint last."""
    root = checkpoint.location
    checkpoint.require_readable()
    for store in _stores(checkpoint, batch):
        for file in checkpoint.chain(store, batch + 1):
            yield file.location
    for entry in checkpoint.state_entries:
        # Checksums beside them would be those of metadata that names schemas of another place.
        is_description = not DESCRIPTIONS.isdisjoint(entry.path.removeprefix(root.path).split("/"))
        if is_description and not entry.name.endswith(".crc"):
            yield root.at(entry.path)
    yield from (root.at(entry.path) for entry in (root / "sources").files())
    if (root / "metadata").exists():
        yield root / "metadata"
    yield from (root / "commits" / number for number in checkpoint.committed if number <= batch)
    # From the newest on: Spark refuses that one alone, and takes it with the one before it.
    newest = batch if batch - 1 in checkpoint.planned or not batch else batch + 1
    planned = (number for number in reversed(checkpoint.planned) if number <= newest)
    yield from (root / "offsets" / number for number in planned)


def _below(target: Location, file: Location, root: Location) -> Location:
    return target / root.below(file.path)
