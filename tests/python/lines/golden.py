"""The golden checkpoints: one archive for each line, with what its own default provider wrote.

In an archive each query has a folder with its `checkpoint`; `next.json`, the rows that came out
of the batches after it; and `expected.json`, what Spark reads of its state.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import uuid
from pathlib import Path
from typing import Any

from harness import ROOT
from holdfast_spark.checkpoint.files.logs import DEFAULT_PROVIDER
from holdfast_spark.checkpoint.files.providers import PROVIDERS

HDFS = DEFAULT_PROVIDER
HOLDFAST = PROVIDERS["holdfast"]
ROCKSDB = PROVIDERS["rocksdb"]
ARCHIVES = Path(__file__).with_name("golden")

BATCHES = 2
"""So many starts made a golden checkpoint, and so many more came after it."""


def lines() -> list[str]:
    """Return the Spark lines that have a pyspark, oldest first."""
    entries = json.loads((ROOT / "project" / "spark-lines.json").read_text())
    return [entry["line"] for entry in entries if "pyspark" in entry]


def archive(line: str) -> Path:
    """Return where the archive of a line is."""
    return ARCHIVES / f"spark-{line}.tar.xz"


def pack(folder: Path, line: str) -> None:
    """Make the archive of a line of what lies in a folder, without hidden files."""
    archive(line).parent.mkdir(exist_ok=True)
    files = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    with tarfile.open(archive(line), "w:xz") as packed:
        for path in sorted(files):
            # Without owner and time, so that an archive of the same files is the same.
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size = path.stat().st_size
            packed.addfile(entry, io.BytesIO(path.read_bytes()))


def unpack(line: str, folder: Path) -> Path:
    """Put the archive of a line into a folder of its name, and return that."""
    place = folder / f"spark-{line}"
    readme = archive(line).with_name("README.md")
    assert archive(line).is_file(), f"Spark {line} has no golden checkpoints: see {readme}"
    with tarfile.open(archive(line)) as packed:
        packed.extractall(place, filter="data")
    return place


def job(place: Path, provider: str, *, batches: int = BATCHES) -> dict[str, Any]:
    """Return the entry of a plan of `go_on` for the query that the folder is named for."""
    return {
        "query": place.name,
        "checkpoint": str(place / "checkpoint"),
        "provider": provider,
        "batches": batches,
    }


def rows(result: dict[str, Any]) -> list[str]:
    """Return the rows of all batches of a result of `go_on`.

    Not all lines divide the same rows into the same batches: they differ in when a batch without
    rows follows.
    """
    assert result["error"] is None, result["error"]
    return sorted(row for batch in result["rows"].values() for row in batch)


def copy(place: Path, to: Path) -> Path:
    """Copy a query's checkpoint into a folder below `to` that is named for it.

    It is a query of its own: of two with one id Spark would stop the first.
    """
    checkpoint = to / place.name / "checkpoint"
    shutil.copytree(place / "checkpoint", checkpoint)
    (checkpoint / ".metadata.crc").unlink(missing_ok=True)
    (checkpoint / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}))
    return checkpoint.parent
