"""What reading a checkpoint found: broken files, stores, and whether its query goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast_spark._text import counted, without_advice
from holdfast_spark.checkpoint.checks.problem import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenFile:
    """A file that cannot be read or trusted, or is gone.

    Attributes:
        path: where it is, or would be.
        kind: what it belongs to: `state file`, where its content is damaged or of another
            version; `state`, where it is gone, of no version or not what others lead to;
            `metadata`, `log`, `source`, or `checksum`, where it and its checksums differ.
        error: what is wrong, and what to do.
        stops: whether the query stops there, or goes on with what is not right.
    """

    path: str
    kind: Kind
    error: str
    stops: bool

    @property
    def error_and_advice(self) -> tuple[str, str]:
        """What is wrong, and what to do, which is empty where all stands in one sentence."""
        return without_advice(self.error, path=self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedStore:
    """A store whose files were read.

    Attributes:
        operator_id: number of the stateful operator.
        partition_id: number of the partition.
        name: name of the store.
        files: number of its files.
        records: records in them.
        versions: versions that can be put together from sound files, such as `3-17`.
        needed_version: the version that the query goes on from; null when that is the empty state
            before its first batch.
        recoverable: whether that version can be put together.
    """

    operator_id: int
    partition_id: int
    name: str
    files: int
    records: int
    versions: str
    needed_version: int | None
    recoverable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found by reading a checkpoint to the last record.

    Attributes:
        path: where the checkpoint is.
        sound: whether nothing is broken and every store has the version that the query needs.
        goes_on: whether the query goes on, with the right state; what is broken is then nothing
            that it reads. It is false, too, where a schema is gone without which nobody can tell
            whether rows lie in the right partitions.
        next_batch: the batch that it goes on with.
        reruns: whether that batch is planned already, so that it runs again as it was planned.
        judges_state: whether the state was judged; false where only its own provider reads its
            files, as those of RocksDB, where no planned batch can be read, or where there is none
            at all: then all else was.
        files: state files read.
        records: records in them.
        bytes: size of the files.
        broken: files that cannot be read or trusted, or are gone.
        stores: every store that the query goes on with.
        notes: what is worth to know and breaks nothing, such as that there is no state at all, or
            that a file seems to have been written by another batch, by times alone; a sentence
            each.
    """

    path: str
    sound: bool
    goes_on: bool
    next_batch: int
    reruns: bool
    judges_state: bool
    files: int
    records: int
    bytes: int
    broken: tuple[BrokenFile, ...]
    stores: tuple[VerifiedStore, ...]
    notes: tuple[str, ...]

    @property
    def damaged(self) -> tuple[BrokenFile, ...]:
        """The files whose content is damaged, without those that are gone or of sources.

        Where something else is wrong with a file, that its checksums differ is no more to say.
        """
        kinds = ("state file", "metadata", "log")
        return tuple(
            file
            for file in self.told
            if file.kind in kinds or (file.kind == "checksum" and file.stops)
        )

    @property
    def told(self) -> tuple[BrokenFile, ...]:
        """What is broken, without checksums that differ since something else is wrong."""
        others = {file.path for file in self.broken if file.kind != "checksum"}
        return tuple(
            file for file in self.broken if file.kind != "checksum" or file.path not in others
        )

    @property
    def left_checksums(self) -> tuple[BrokenFile, ...]:
        """The checksums of files that the query will write, which keep it from that."""
        return tuple(
            file
            for file in self.broken
            if file.kind == "checksum" and file.stops and file.path.endswith(".crc")
        )

    @property
    def lost(self) -> tuple[BrokenFile, ...]:
        """What of sources and folders of operators is lost, which stops the query.

        Nothing in the checkpoint tells what was in it.
        """
        folder = re.compile(re.escape(self.path.rstrip("/")) + r"/state(/\d+)?")
        return tuple(
            file
            for file in self.broken
            if file.stops
            and (file.kind == "source" or (file.kind == "state" and folder.fullmatch(file.path)))
        )

    @property
    def state_is_sound(self) -> bool:
        """Whether all that is left of state, logs and metadata is, and is enough to go on.

        What sources have lost of their own does not count, nor do files that are gone and were
        superfluous, nor checksums that Spark goes without.
        """
        return not self.harmful and all(store.recoverable for store in self.stores)

    @property
    def harmful(self) -> tuple[BrokenFile, ...]:
        """The files for which `state_is_sound` is false."""
        return tuple(
            file
            for file in self.broken
            if file.kind != "source" and (file.kind not in ("checksum", "state") or file.stops)
        )


def what_lacks(found: Verification) -> str:
    """Return how much of a checkpoint, whose state is not sound, is damaged or gone, in words."""
    lacking = sum(not store.recoverable for store in found.stores)
    parts = []
    if found.damaged:
        parts.append(f"{counted(len(found.damaged), 'file is', 'files are')} damaged")
    if lacking:
        stores = counted(lacking, "store lacks", "stores lack")
        parts.append(f"{stores} the version that the query goes on from")
    if not parts:
        others = len({file.path for file in found.harmful})
        parts.append(f"{counted(others, 'file is', 'files are')} gone, or of another version")
    return ", and ".join(parts)
