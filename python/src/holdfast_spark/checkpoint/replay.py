"""A version of a store out of its snapshot and deltas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holdfast_spark.checkpoint.files.checksums import require_checksums
from holdfast_spark.checkpoint.files.state_files import StateFile
from holdfast_spark.checkpoint.rows.justified import Held
from holdfast_spark.checkpoint.rows.records import Records, read_records


def replay(
    chain: Sequence[StateFile], *, codec: str, row_checksums: bool
) -> Iterator[tuple[StateFile, Records]]:
    """Yield the rows of a version, each with the file that has it, in no particular order.

    The deltas are kept in memory, one value for each key that they change; the snapshot passes by
    in pieces. Without a snapshot that is the whole state.

    Args:
        chain: a snapshot, if there is one, and the deltas behind it, in order.
        codec: codec of the files.
        row_checksums: whether records carry checksums.

    Raises:
        DamagedStateFileError: a file cannot be read, or has not the checksums beside it.
        UnreadablePathError: the file system refuses a file.
    """
    deltas = [file for file in chain if file.kind == "delta"]
    changed: dict[bytes, bytes | None] = {}
    held = Held(deltas)
    for delta in deltas:
        require_checksums(delta)
        for records in read_records(delta, codec=codec, row_checksums=row_checksums):
            held.add(records, delta)
            apply_records(records, changed)
    for snapshot in chain[: len(chain) - len(deltas)]:
        require_checksums(snapshot)
        for records in read_records(snapshot, codec=codec, row_checksums=row_checksums):
            unchanged = _without(records, changed)
            if len(unchanged):
                yield snapshot, unchanged
    present = [(key, value) for key, value in changed.items() if value is not None]
    if present:
        yield deltas[-1], Records.of(present)


def apply_records(records: Records, state: dict[bytes, bytes | None]) -> None:
    """Put the changes of a delta into a state, in which None stands for a removed key."""
    removals = (records.value_lengths < 0).tolist()
    for key, value, removal in zip(
        records.key_bytes(), records.value_bytes(), removals, strict=True
    ):
        state[key] = None if removal else value


def _without(records: Records, changed: dict[bytes, bytes | None]) -> Records:
    if not changed:
        return records
    kept = np.fromiter((key not in changed for key in records.key_bytes()), bool, len(records))
    return records if kept.all() else records.where(kept)
