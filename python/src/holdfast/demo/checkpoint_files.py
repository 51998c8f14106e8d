"""What lies in a query's checkpoint: its batches, its provider and the files of its state stores.

Read from the file names and Spark's JSON alone, which are the same whatever provider wrote them:
`offsets/N` and `commits/N` for each batch, `state/<operator>/<partition>/[<store>/]N.delta` and
`N.snapshot` (Spark's `HDFSMetadataLog` and `HDFSBackedStateStoreProvider`, 4.2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROVIDER_SETTING = "spark.sql.streaming.stateStore.providerClass"

_STATE_FILE = re.compile(r"(?P<version>\d+)\.(?P<kind>delta|snapshot)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorFiles:
    """The files of one stateful operator, all of its state stores together; sizes in bytes."""

    operator: int
    name: str
    state_stores: int
    deltas: int
    delta_bytes: int
    snapshots: int
    snapshot_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KillPoint:
    """Where a killed query stood.

    Attributes:
        batch: the newest batch that it had planned.
        committed: whether that batch was through.
        stores_written: state stores that have written the batch's state.
        state_stores: all state stores of the query.
    """

    batch: int
    committed: bool
    stores_written: int
    state_stores: int


def newest_batch(log: Path) -> int | None:
    """Return the newest batch in a log folder (`offsets` or `commits`); None when it has none."""
    if not log.is_dir():
        return None
    return max((int(path.name) for path in log.iterdir() if path.name.isdecimal()), default=None)


def provider_class(checkpoint: Path) -> str | None:
    """Return the state store provider that Spark noted for the newest batch of the query."""
    batch = newest_batch(checkpoint / "offsets")
    if batch is None:
        return None
    # Line 1 is the log's version, line 2 the batch's metadata with the settings it is bound to.
    lines = (checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
    provider: str | None = json.loads(lines[1])["conf"].get(PROVIDER_SETTING)
    return provider


def kill_point(checkpoint: Path) -> KillPoint | None:
    """Return where the query stood when it ended; None when it had planned no batch."""
    batch = newest_batch(checkpoint / "offsets")
    if batch is None:
        return None
    return KillPoint(
        batch=batch,
        committed=newest_batch(checkpoint / "commits") == batch,
        stores_written=stores_with_version(checkpoint, batch + 1),
        state_stores=len(list(store_folders(checkpoint / "state"))),
    )


def stores_with_version(checkpoint: Path, version: int) -> int:
    """Return how many state stores have written `version`, the state after batch `version` - 1."""
    return sum(
        any((store / f"{version}.{kind}").exists() for kind in ("delta", "snapshot"))
        for store in store_folders(checkpoint / "state")
    )


def operator_files(checkpoint: Path) -> list[OperatorFiles]:
    """Return the state files of each stateful operator."""
    state = checkpoint / "state"
    operators = sorted(int(path.name) for path in state.glob("[0-9]*") if path.is_dir())
    return [_files_of(state / str(operator), operator) for operator in operators]


def _files_of(folder: Path, operator: int) -> OperatorFiles:
    stores = list(store_folders(folder.parent, operator))
    sizes: dict[str, list[int]] = {"delta": [], "snapshot": []}
    for store in stores:
        for path in store.iterdir():
            if found := _STATE_FILE.fullmatch(path.name):
                sizes[found["kind"]].append(path.stat().st_size)
    return OperatorFiles(
        operator=operator,
        name=operator_name(folder),
        state_stores=len(stores),
        deltas=len(sizes["delta"]),
        delta_bytes=sum(sizes["delta"]),
        snapshots=len(sizes["snapshot"]),
        snapshot_bytes=sum(sizes["snapshot"]),
    )


def store_folders(state: Path, operator: int | None = None) -> Iterator[Path]:
    """Yield the folders of state stores, of all operators or one.

    It is a partition's own folder, or a folder for each named store in it.
    """
    operators = "[0-9]*" if operator is None else str(operator)
    for partition in sorted(state.glob(f"{operators}/[0-9]*")):
        names = [path for path in partition.iterdir() if path.name[0] not in "._"]
        named = [path for path in names if path.is_dir()]
        yield from named or [partition]


def operator_name(folder: Path) -> str:
    """Return Spark's name of the operator whose state lies in `folder`, from the metadata there."""
    for metadata in sorted(folder.glob("_metadata/**/*")):
        if metadata.is_file() and not metadata.name.startswith("."):
            lines = metadata.read_text(encoding="utf-8").splitlines()
            return str(json.loads(lines[1])["operatorInfo"]["operatorName"])
    return "unknown"
