"""A local copy of a store of Spark's RocksDB provider, under the names of checkpoint format 1.

In format 2 the names carry the id of the attempt, and a changelog begins with the ids before its
own (`RocksDBFileManager` and `StateStoreChangelogReaderV3`, Spark 4.2). A changelog tells itself
that it does, so that under the other names Spark reads the files as those of format 1.
"""

from __future__ import annotations

import re
from pathlib import Path

from holdfast_spark.checkpoint.checkpoint import Checkpoint
from holdfast_spark.checkpoint.errors import MissingVersionError
from holdfast_spark.checkpoint.files.state_files import StoreFiles

_WITH_ID = re.compile(r"(?P<version>\d+)_(?P<id>[\w-]+)(?P<suffix>\.(zip|changelog))")


def copy_in_format_1(checkpoint: Checkpoint, store: StoreFiles, version: int, folder: Path) -> None:
    """Copy what leads to a version; of several attempts at one the committed one.

    Args:
        checkpoint: the checkpoint.
        store: the store.
        version: the newest version that is needed.
        folder: where the copy is made.

    Raises:
        MissingVersionError: the commit log has no id of a version that is needed.
        CheckpointError: a file cannot be read.
    """
    (checkpoint.location / "state" / store).download(folder)
    if not store.has_unique_ids:
        return
    chosen = set(_committed_names(checkpoint, store, version))
    for file in folder.iterdir():
        found = _WITH_ID.match(file.name.removeprefix("."))
        if not found:
            continue
        if file.name in chosen:
            file.rename(file.with_name(f"{found['version']}{found['suffix']}"))
        else:
            file.unlink()


def _committed_names(checkpoint: Checkpoint, store: StoreFiles, version: int) -> list[str]:
    """Return the names of a zip and of the changelogs behind it."""
    there = {file.location.path.rpartition("/")[2] for file in store.files}
    names: list[str] = []
    for number in range(version, 0, -1):
        found = checkpoint.state_id(store, number)
        name = f"{number}_{found}" if found else f"{number}"
        if f"{name}.zip" in there:
            return [*names, f"{name}.zip"]
        if f"{name}.changelog" not in there:
            raise MissingVersionError(
                store=str(store),
                version=version,
                missing=f"there is neither {name}.zip nor {name}.changelog",
                readable="see holdfast inspect",
            )
        names.append(f"{name}.changelog")
    return names
