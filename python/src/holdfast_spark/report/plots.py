"""The plots of a store's history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TypeAlias

from holdfast_spark._text import counted, size_text
from holdfast_spark.checkpoint.history_figures import PartitionFigures, StoreHistory, VersionFigures
from holdfast_spark.report.drawing import COUNT, ORANGE, Drawing, unit_of_bytes

Row: TypeAlias = tuple[str, ...]
Versions: TypeAlias = Sequence[VersionFigures]

# Rows of the table below a plot: of more versions the table has some.
_TABLE_ROWS = 40
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot, what there is to see in it, and the table below it.

    Attributes:
        title: what it shows.
        text: the gist of it in words.
        image: the drawing as a URL; None where there is nothing to draw.
        columns: heads of the table.
        rows: the table.
        left_out: rows that the table leaves out, 0 if it is whole.
    """

    title: str
    text: str
    image: str | None
    columns: Row
    rows: Sequence[Row]
    left_out: int


def store_plots(store: StoreHistory) -> list[Plot]:
    """Return the plots of a store."""
    versions = store.versions
    return [
        _line(
            "Rows",
            versions,
            [version.rows for version in versions],
            count_text,
            "Exact: the rows of a snapshot, and from there on what the deltas change.",
        ),
        _line(
            "Bytes of rows",
            versions,
            [version.row_bytes for version in versions],
            bytes_text,
            "Keys and values as Spark lays them out, uncompressed. Exact where rows are.",
        ),
        _changes(versions),
        _delta_sizes(versions),
        _snapshots(versions),
        _partitions(store.partitions),
    ]


def count_text(count: float | None) -> str:
    """Return a number for people."""
    return _UNKNOWN if count is None else f"{count:,.0f}"


def bytes_text(size: float | None) -> str:
    """Return a size for people."""
    return _UNKNOWN if size is None else size_text(round(size))


def _line(
    title: str,
    versions: Versions,
    values: Sequence[int | None],
    text: Callable[[float | None], str],
    about: str,
) -> Plot:
    numbers = [version.version for version in versions]
    known = [value for value in values if value is not None]
    unit = COUNT if text is count_text else unit_of_bytes(known)
    drawing = Drawing(across="version", unit=unit)
    if known:
        drawing.line(numbers, values)
        about = f"{text(known[0])} at first, {text(known[-1])} at last. {about}"
    rows = [(str(n), text(value)) for n, value in zip(numbers, values, strict=True)]
    return _plot(title, about, drawing if known else None, ("version", title.lower()), rows)


def _changes(versions: Versions) -> Plot:
    read = [version for version in versions if version.puts is not None]
    puts = [version.puts or 0 for version in read]
    removals = [version.removals or 0 for version in read]
    drawing = Drawing(across="version")
    text = "Records in the delta files."
    if read:
        places = [version.version for version in read]
        drawing.bars(places, puts, label="rows put")
        drawing.bars(places, removals, label="keys removed", color=ORANGE, on=puts)
        text = f"{count_text(mean(puts))} rows put and {count_text(mean(removals))} keys removed "
        text += "by an average version. Records in the delta files."
    rows = [(str(v.version), count_text(v.puts), count_text(v.removals)) for v in versions]
    columns = ("version", "rows put", "keys removed")
    return _plot("Changes", text, drawing if read else None, columns, rows)


def _delta_sizes(versions: Versions) -> Plot:
    sizes = [version.delta_bytes for version in versions]
    drawing = Drawing(across="version", unit=unit_of_bytes(sizes))
    drawing.bars([version.version for version in versions], sizes)
    text = (
        f"{bytes_text(mean(sizes))} on average, {bytes_text(max(sizes))} at most: what a batch "
        "writes, compressed, in all partitions together."
    )
    rows = [(str(v.version), bytes_text(v.delta_bytes), v.written or _UNKNOWN) for v in versions]
    return _plot("Delta sizes", text, drawing, ("version", "delta size", "written"), rows)


def _snapshots(versions: Versions) -> Plot:
    known = [version for version in versions if version.deltas_to_replay is not None]
    replays = [version.deltas_to_replay or 0 for version in known]
    written = [version for version in versions if version.snapshots]
    drawing = Drawing(across="version")
    if known:
        drawing.bars([version.version for version in known], replays, label="deltas to replay")
    if written:
        drawing.marks([version.version for version in written], label="snapshot")
    had = counted(len(versions), "version has a snapshot", "versions have snapshots")
    text = f"{len(written):,} of {had}"
    if replays:
        text += f", and a restart replays {counted(max(replays), 'delta')} at most"
    rows = [
        (
            str(version.version),
            count_text(version.deltas_to_replay),
            str(version.snapshots),
            bytes_text(version.snapshot_bytes) if version.snapshots else "",
        )
        for version in versions
    ]
    columns = ("version", "deltas to replay", "partitions with a snapshot", "snapshot size")
    return _plot(
        "Snapshots and deltas to replay",
        f"{text}.",
        drawing if known else None,
        columns,
        rows,
    )


def _partitions(partitions: Sequence[PartitionFigures]) -> Plot:
    if all(partition.rows is not None for partition in partitions):
        about, values = "Rows of the newest version", [p.rows or 0 for p in partitions]
        unit = COUNT
    else:
        about, values = "Size of the delta files", [p.delta_bytes for p in partitions]
        unit = unit_of_bytes(values)
    average = mean(values)
    drawing = Drawing(across="partition", unit=unit)
    drawing.bars([partition.partition_id for partition in partitions], values)
    drawing.level(average, label="average")
    if average:
        most = max(values)
        largest = partitions[values.index(most)].partition_id
        about += f". The largest, partition {largest}, has {most / average:.1f} times the average"
    rows = [
        (
            str(partition.partition_id),
            count_text(partition.rows),
            bytes_text(partition.row_bytes),
            count_text(partition.changes),
            bytes_text(partition.delta_bytes),
        )
        for partition in partitions
    ]
    columns = ("partition", "rows", "bytes of rows", "changes", "delta size")
    return _plot("Partitions", f"{about}.", drawing, columns, rows)


def _plot(
    title: str, text: str, drawing: Drawing | None, columns: Row, rows: Sequence[Row]
) -> Plot:
    shown = _evenly(rows, _TABLE_ROWS)
    return Plot(
        title=title,
        text=text,
        image=drawing.as_data_url() if drawing else None,
        columns=columns,
        rows=shown,
        left_out=len(rows) - len(shown),
    )


def _evenly(rows: Sequence[Row], most: int) -> Sequence[Row]:
    """Return at most so many rows, the first and the last among them."""
    if len(rows) <= most:
        return rows
    return [rows[i * (len(rows) - 1) // (most - 1)] for i in range(most)]
