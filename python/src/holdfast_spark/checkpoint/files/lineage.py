"""Which files of a store count in checkpoint format 2.

There every attempt at a version writes files of its own, `N_<id>.delta` and `N_<id>.snapshot`, and
the commit log names the attempts that won. Holdfast's ids are `<attempt>-<base>`, the base being
the attempt at version N-1 that it started from, or `none` where that version has no id
(`jvm/FORMAT.md`). So from the newest committed version the names alone lead back to the oldest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from holdfast_spark.checkpoint.files.logs import StateIds
from holdfast_spark.checkpoint.files.state_files import StateFile, StoreFiles

# Where an attempt started from no version that has an id.
NO_BASE = "none"

# Where the ids of a join's stores stand (`SymmetricHashJoinStateManager`, 4.3). Other operators
# have one store.
JOIN_STORES = (
    "left-keyToNumValues",
    "left-keyWithIndexToValue",
    "right-keyToNumValues",
    "right-keyWithIndexToValue",
)


def committed_id(store: StoreFiles, ids: StateIds) -> str | None:
    """Return the id that a commit file has for a store; None in checkpoint format 1."""
    partitions = ids.get(store.operator_id, ())
    of_partition = partitions[store.partition_id] if store.partition_id < len(partitions) else ()
    place = place_of(store.name)
    return of_partition[place] if place < len(of_partition) else None


def place_of(store_name: str) -> int:
    """Return where a commit file has the id of a store among those of its partition."""
    return JOIN_STORES.index(store_name) if store_name in JOIN_STORES else 0


def committed_files(
    store: StoreFiles, version: int, id_of: Callable[[int], str | None]
) -> StoreFiles:
    """Return a store whose `files` are those of committed versions and `others` the rest.

    Args:
        store: a store with all its files.
        version: the newest committed version, 0 for none.
        id_of: tells the id of a committed version, None where the commit log has none.
    """
    chosen = set(_lineage(store, version, id_of))
    files: list[StateFile] = []
    others: list[StateFile] = []
    for file in store.files:
        (files if (file.version, file.unique_id) in chosen else others).append(file)
    return dataclasses.replace(store, files=tuple(files), others=tuple(others))


def _lineage(
    store: StoreFiles, version: int, id_of: Callable[[int], str | None]
) -> Iterator[tuple[int, str | None]]:
    """Yield version and id of each version, newest first."""
    there = {(file.version, file.unique_id) for file in store.files}
    current = id_of(version) if version else None
    while version and current:
        yield version, current
        version -= 1
        base = current.partition("-")[2]
        if base == NO_BASE:
            current = None
        else:
            # A version whose files are missing has left its name in the commit log alone.
            found = (id_ for v, id_ in there if v == version and (id_ or "").startswith(f"{base}-"))
            current = next(found, None) or id_of(version)
    yield from ((v, None) for v, id_ in there if v <= version and id_ is None)
