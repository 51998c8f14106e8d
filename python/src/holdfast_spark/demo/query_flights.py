"""Delays of flights per hour, carrier and weather, each flight counted once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from holdfast_spark.demo.flights import WEATHER_SCHEMA
from holdfast_spark.demo.plan import FlightsQuery
from holdfast_spark.demo.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

LATE_MINUTES = 15
LOW_VISIBILITY_MILES = 3
STRONG_WIND_MPH = 20

AIRPORTS_TIME_ZONE = "America/New_York"
FLIGHTS_OF_A_BUSY_HOUR = 10
TABLE_ROWS = 16
WORST_HOURS = 8


def unique_flights(events: DataFrame, settings: FlightsQuery) -> DataFrame:
    """Return each flight once, however often it was sent."""
    return events.withWatermark("scheduled", settings.watermark).dropDuplicates(
        ["scheduled", "carrier", "flight", "origin"]
    )


class DelaysByCarrierAndHour:
    """The flights, deduplicated, joined with the weather of their hour, and counted."""

    name = "statistics"
    output_mode = "update"
    group = ("hour", "carrier", "weather")
    count = "flights"
    approximate: Mapping[str, tuple[str, str]] = MappingProxyType({})

    def __init__(self, settings: FlightsQuery, *, weather: Path) -> None:
        self._settings = settings
        self._weather = weather

    def statistics(self, events: DataFrame) -> DataFrame:
        """Return per group: flights, cancelled ones, late ones, sum and maximum of delays."""
        flights = unique_flights(events, self._settings)
        delay = F.col("dep_delay")
        return (
            self._with_weather(flights)
            .groupBy(F.window("scheduled", "1 hour").alias("window"), "carrier", "weather")
            .agg(
                F.count(F.lit(1)).alias("flights"),
                F.count_if(delay.isNull()).alias("cancelled"),
                F.count_if(delay >= LATE_MINUTES).alias("late"),
                F.sum(delay).alias("delay_minutes"),
                F.max(delay).alias("longest_delay"),
            )
            .withColumn("hour", F.col("window.start"))
            .drop("window")
        )

    def _with_weather(self, flights: DataFrame) -> DataFrame:
        """Join each flight with static data: the weather at its airport in its hour."""
        weather = (
            flights.sparkSession.read.schema(WEATHER_SCHEMA)
            .csv(f"file://{self._weather}", header=True)
            .select(
                "origin", F.col("hour").alias("recorded"), weather_in_words().alias("recorded_as")
            )
        )
        same_hour = (flights["origin"] == weather["origin"]) & (
            F.date_trunc("hour", "scheduled") == weather["recorded"]
        )
        return flights.join(F.broadcast(weather), same_hour, "left").withColumn(
            "weather", F.coalesce("recorded_as", F.lit("not recorded"))
        )

    def tables(self, result: DataFrame) -> list[Table]:
        """Return delays by carrier, by weather, and the worst hours of a carrier."""
        hour = F.date_format(F.from_utc_timestamp("hour", AIRPORTS_TIME_ZONE), "yyyy-MM-dd HH:00")
        by_hour = delays(result.groupBy(hour.alias("hour"), "carrier"))
        busy = by_hour.where(F.col("flights") >= FLIGHTS_OF_A_BUSY_HOUR)
        carriers, weather = delays(result.groupBy("carrier")), delays(result.groupBy("weather"))
        return [
            Table.of(
                "Delays by carrier, in minutes",
                largest_first(carriers, "flights"),
                limit=TABLE_ROWS,
            ),
            Table.of(
                "Delays by weather, in minutes",
                largest_first(weather, "mean delay"),
                limit=TABLE_ROWS,
            ),
            Table.of(
                "Worst hours, in New York", largest_first(busy, "mean delay"), limit=WORST_HOURS
            ),
        ]


def weather_in_words() -> Column:
    """Return the first of low visibility, strong wind, rain or snow that an hourly record shows."""
    return (
        F.when(F.col("visibility") < LOW_VISIBILITY_MILES, "low visibility")
        .when(F.col("wind_speed") >= STRONG_WIND_MPH, "strong wind")
        .when(F.col("precipitation") > 0, "rain or snow")
        .otherwise("fair")
    )


def delays(groups: GroupedData) -> DataFrame:
    """Return rows of the result added up; delays in minutes, shares in percent of all flights."""
    flights, departed = F.sum("flights"), F.sum(F.col("flights") - F.col("cancelled"))
    return groups.agg(
        flights.alias("flights"),
        (100.0 * F.sum("cancelled") / flights).alias("cancelled %"),
        (100.0 * F.sum("late") / flights).alias("late %"),
        (F.sum("delay_minutes") / F.nullif(departed, F.lit(0))).alias("mean delay"),
        F.max("longest_delay").alias("longest"),
    )


def largest_first(rows: DataFrame, column: str) -> DataFrame:
    """Return rows by falling `column`; rows that tie stand in the order of their group."""
    return rows.orderBy(F.desc(column), *rows.columns)
