"""Every failure of reading or changing a checkpoint, one class each.

The text of an error is one sentence that names the thing, what was expected, what was found and
what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from holdfast_spark._text import named, options_text
from holdfast_spark.errors import HoldfastError


class CheckpointError(HoldfastError):
    """Base of every error about a checkpoint."""


class NotACheckpointError(CheckpointError):
    """A path holds no checkpoint of a streaming query."""

    def __init__(self, *, path: str, found: str) -> None:
        super().__init__(
            f"{path} is not the checkpoint of a streaming query: expected a folder with offsets/ "
            f"and commits/ in it, found {found}. Give the path that the query has as "
            "checkpointLocation."
        )


class LostOffsetsError(NotACheckpointError):
    """A checkpoint has state or commits, and no batch that was planned."""

    def __init__(self, *, path: str, has_commits: bool) -> None:
        # Real-time mode plans a batch when it has ended.
        first = (
            ""
            if has_commits
            else " A query in real-time mode, whose first batch has not ended, is right as it is."
        )
        CheckpointError.__init__(
            self,
            f"{path} has no batch, and beside it lie state or commits of some: expected at least "
            "the newest two. Spark would start the query anew, from its first batch. Restore the "
            f"folder from a copy.{first}",
        )


class NoBatchError(CheckpointError):
    """A query has not committed the batch asked for, or none at all."""


class NoSuchStoreError(CheckpointError):
    """A checkpoint has no such operator, partition or store.

    Args:
        what: what it does not have.
        name: its name or number.
        path: the checkpoint, or the folder in it.
        known: those that it has.
        advice: what to do, as a sentence behind all that; None where that is plain.
    """

    def __init__(
        self,
        *,
        what: str,
        name: object,
        path: str,
        known: Iterable[object],
        advice: str | None = None,
    ) -> None:
        names = ", ".join(str(entry) for entry in known) or "none"
        behind = f" {advice}" if advice else ""
        shown = "''" if name == "" else name
        super().__init__(f"{path} has no {what} {shown}: it has {names}.{behind}")


class NotAJoinError(NoSuchStoreError):
    """An operator has no sides of a join."""

    def __init__(self, *, path: str, operator_id: int, name: str) -> None:
        CheckpointError.__init__(
            self,
            f"Operator {operator_id} of {path} is no join but {name}, and keeps no rows of a left "
            f"or right side: leave {options_text('join_side')} out.",
        )


class UnreadablePathError(CheckpointError):
    """The file system refuses a path."""

    def __init__(self, *, path: str, doing: str, reason: str) -> None:
        super().__init__(f"Cannot {doing} {path}: {reason}.")


class GoneFileError(UnreadablePathError):
    """There is nothing at a path."""

    @classmethod
    def since_listed(cls, path: object) -> GoneFileError:
        """Return what there is to say of a file that went after it was listed."""
        reason = "it is gone, and was there when it was listed"
        return cls(path=str(path), doing="read", reason=reason)


class UnansweredError(HoldfastError):
    """A file system did not tell what is at a path: nothing can be said of it.

    No `CheckpointError`, because a checkpoint that cannot be reached for a while is not a damaged
    one, and nothing is to be repaired then.
    """

    def __init__(self, *, path: str, doing: str, reason: str) -> None:
        lost = " If it has lost the file for good, move that away." if doing == "read" else ""
        super().__init__(
            f"Cannot {doing} {path}: {reason}. That need be no damage: see to it that the file "
            f"system answers, and try again.{lost}"
        )


class ForbiddenPathError(UnansweredError):
    """The user may not read a path, as somebody else may."""

    def __init__(self, *, path: str, doing: str, reason: str) -> None:
        HoldfastError.__init__(
            self,
            f"Cannot {doing} {path}: {reason}. That is no damage: run this as a user who may read "
            "the whole checkpoint, such as the one that the query runs as.",
        )


class MalformedFileError(CheckpointError):
    """A log, metadata or schema file does not hold what Spark writes."""

    def __init__(self, *, path: str, expected: str, found: str) -> None:
        super().__init__(
            f"{path} is damaged: expected {expected}, found {found}. Restore the file from a copy."
        )


class MissingSchemaError(MalformedFileError):
    """A store has no schema file: Spark before 3.1 wrote none."""

    def __init__(self, *, path: str) -> None:
        CheckpointError.__init__(
            self,
            f"{path} is gone: expected the schema of the store, found no file. Spark before 3.1 "
            "wrote none, and later ones go on without it. Where holdfast show takes --key-schema "
            "and --value-schema (read_rows takes schema in Python), give the columns of the state "
            "as DDL.",
        )


class UnknownFormatError(CheckpointError):
    """A file has a format version, codec or type that this version of Holdfast does not know."""

    def __init__(self, *, path: str, what: str, found: str, known: Iterable[object]) -> None:
        names = ", ".join(str(entry) for entry in known)
        super().__init__(
            f"{path} has the {what} {found}, and this version of Holdfast knows {names}: "
            "use a newer one, or Spark's statestore source."
        )


class NewerFileError(UnknownFormatError):
    """A state file that a newer Holdfast has written: nothing can be said of it."""


class UnsupportedProviderError(CheckpointError):
    """State that only its own provider can read.

    Args:
        path: where it is.
        provider: the class of the provider.
        advice: what to do besides reading its rows with Spark; None where nothing helps.
    """

    def __init__(self, *, path: str, provider: str, advice: str | None = None) -> None:
        super().__init__(
            f"The state in {path} was written by {provider}, whose files Holdfast does not read: "
            f"read its rows with Spark's statestore source{advice or ''}."
        )


class RocksDBStateError(UnsupportedProviderError):
    """State in files of Spark's RocksDB provider.

    Args:
        path: where it is.
    """

    def __init__(self, *, path: str) -> None:
        advice = ", or switch the stopped query with holdfast migrate --to holdfast first"
        super().__init__(path=path, provider="Spark's RocksDB provider", advice=advice)


class UnknownProviderError(UnsupportedProviderError):
    """State of a provider that is neither Holdfast nor one of Spark's, if there is such a class."""

    def __init__(self, *, path: str, provider: str) -> None:
        provider = named(provider)
        advice = (
            ". If there is no such class, or it keeps its state in Spark's delta and snapshot "
            "files, switch the stopped query with holdfast migrate "
            f"--from {provider} --to holdfast"
        )
        super().__init__(path=path, provider=provider, advice=advice)


class MissingVersionError(CheckpointError):
    """A version of a store cannot be put together from the files that are there."""

    def __init__(self, *, store: str, version: int, missing: str, readable: str) -> None:
        super().__init__(
            f"Version {version} of the store {store} cannot be read: {missing}. "
            f"Readable versions: {readable}."
        )


class DamagedStateFileError(CheckpointError):
    """A delta or snapshot file that cannot be read, or cannot be trusted.

    Attributes:
        path: the file.
        version: the version of the store that the file belongs to.
        offset: where the trouble begins, in bytes of the decompressed content, or of the file
            itself where it does not decompress.
    """

    def __init__(  # noqa: PLR0913 - one for each part of the sentence
        self, *, path: str, version: int, offset: int, expected: str, found: str, of: str
    ) -> None:
        self.path = path
        self.version = version
        self.offset = offset
        super().__init__(
            f"{path} (version {version}) is damaged at byte {offset} of {of}: expected {expected}, "
            f"found {found}. Restore the file from a copy, or see what holdfast repair can do "
            "without it."
        )


class ContradictedStateError(CheckpointError):
    """Files of a version are readable, and are not all of that version."""

    def __init__(self, *, path: str, why: str) -> None:
        super().__init__(f"The state of {path} is not right, and nothing is made of it. {why}")


# Where the schema of rows is from: their schema file, whoever asked for them, or their own bytes.
SchemaFrom = Literal["file", "caller", "guess"]

_OTHER_SCHEMAS: Mapping[SchemaFrom, str] = {
    "file": "the schema file belongs to another query",
    "caller": "the schema that was given (--key-schema and --value-schema, in Python schema) is of "
    "other rows",
    "guess": "the schema, which has no file and was guessed from some rows, is not that of all: "
    "then give it (--key-schema and --value-schema, in Python schema)",
}


class DamagedRowError(CheckpointError):
    """A row's bytes do not fit its schema."""

    def __init__(
        self, *, where: str, expected: str, found: str, schema_from: SchemaFrom = "file"
    ) -> None:
        super().__init__(
            f"A row of {where} does not fit its schema: expected {expected}, found {found}. Either "
            f"the row is damaged or {_OTHER_SCHEMAS[schema_from]}."
        )


class RunningQueryError(CheckpointError):
    """A checkpoint that is to be changed seems to be in use."""

    def __init__(self, *, path: str, changed: str, wait: str) -> None:
        super().__init__(f"The query of {path} seems to be running: {changed}. Stop it and {wait}.")


class MetRunError(RunningQueryError):
    """A change was given up that had begun to keep runs of the query away, and met one."""

    def __init__(self, refused: RunningQueryError) -> None:
        CheckpointError.__init__(
            self,
            f"{refused} Nothing was changed, but the run may have ended at the file that keeps "
            "runs away during a change; it can be started as before.",
        )


class CleanedUpError(RunningQueryError):
    """A query that runs has removed what was being read."""

    def __init__(self, *, path: str, gone: CheckpointError) -> None:
        CheckpointError.__init__(
            self,
            f"The query of {path} runs, and has cleaned up what was being read: {gone} Try again; "
            "where that happens again and again, let the query keep more batches "
            "(spark.sql.streaming.minBatchesToRetain).",
        )


class PlannedBatchError(RunningQueryError):
    """A batch is planned and not committed, so that a run may be in it."""

    def __init__(self, *, path: str, planned: str, advice: str) -> None:
        CheckpointError.__init__(
            self,
            f"The query of {path} may be running: {planned}. {advice}, give --stopped "
            "(stopped=True in Python).",
        )


class ConversionError(CheckpointError):
    """State that cannot be carried to other files, or that came out different."""


class MigrationError(CheckpointError):
    """A query cannot be switched to another provider."""
