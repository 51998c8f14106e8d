"""A user's own JSON, CSV or Parquet files as the input of the demo: what is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast_spark._text import cause_text, counted
from holdfast_spark.demo.errors import DemoUsageError

SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
BRIEF_BYTES = 64 << 20
COMPRESSED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFiles:
    """Which files to stream, what identifies an event and when it happened.

    Attributes:
        folder: the folder that the files lie in.
        format: Spark's name of their format.
        nested: whether they may lie in folders at any depth.
        size_bytes: size of all of them.
        time: the column that says when a row happened.
        keys: the columns to count by.
        window: length of a window, an interval as Spark reads it ("1 hour").
        watermark: delay of the watermark, an interval too.
    """

    folder: str
    format: str
    nested: bool
    size_bytes: int
    time: str
    keys: tuple[str, ...]
    window: str
    watermark: str

    @property
    def brief(self) -> bool:
        """Whether a driver that reads the files is through in seconds."""
        return self.size_bytes < BRIEF_BYTES


def find_own_files(
    folder: Path, *, time: str, keys: tuple[str, ...], window: str, watermark: str
) -> OwnFiles:
    """Look through `folder` and tell the format of its files by their names.

    Raises:
        DemoUsageError: the folder is missing, is no folder, holds no such files, or files of
            different formats.
    """
    if not folder.exists():
        raise DemoUsageError(f"--input {folder} does not exist: give a folder with your files")
    if not folder.is_dir():
        raise DemoUsageError(f"--input {folder} is a file: give the folder that it lies in")
    try:
        files = list(data_files(folder))
        size_bytes = sum(path.stat().st_size for path in files)
    except OSError as error:
        raise DemoUsageError(f"--input {folder} cannot be read: {cause_text(error)}") from error
    formats = Counter(name for path in files if (name := format_of(path)) is not None)
    if not formats:
        raise DemoUsageError(
            f"--input {folder} holds no file that ends in {', '.join(SUFFIXES)}"
            + (f" among its {counted(len(files), 'file')}" if files else ", it is empty")
        )
    if len(formats) > 1:
        found = ", ".join(f"{count:,} {name}" for name, count in sorted(formats.items()))
        raise DemoUsageError(
            f"--input {folder} mixes formats ({found}): give a folder with one of them"
        )
    return OwnFiles(
        folder=str(folder.resolve()),
        format=next(iter(formats)),
        # Spark turns folders called name=value into columns, or else looks at all depths; not both.
        nested=not any("=" in path.parent.name for path in files),
        size_bytes=size_bytes,
        time=time,
        keys=keys,
        window=window,
        watermark=watermark,
    )


def data_files(folder: Path) -> Iterator[Path]:
    """Yield the files at any depth that Spark would read: `.` or `_` before a name hides one."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from data_files(path)
        else:
            yield path


def format_of(path: Path) -> str | None:
    """Return the Spark format that a file's name speaks of, also below a compression suffix."""
    name = path.name.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return next((form for suffix, form in SUFFIXES.items() if name.endswith(suffix)), None)
