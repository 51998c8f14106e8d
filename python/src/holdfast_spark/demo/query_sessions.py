"""Sessions of aircraft: departures from New York that follow each other closely."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from holdfast_spark.demo.plan import FlightsQuery
from holdfast_spark.demo.query_flights import AIRPORTS_TIME_ZONE, unique_flights
from holdfast_spark.demo.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# An aircraft that is back within this time is on the same tour.
GAP = "12 hours"
LONGEST_TOURS = 6


class SessionsByAircraft:
    """The flights, deduplicated, as session windows of the aircraft that flew them.

    Spark knows session windows in append and in complete mode. In complete mode every batch writes
    all of them, so that the result does not depend on how far the watermark has come.
    """

    name = "sessions"
    output_mode = "complete"
    group = ("aircraft", "first", "last")
    count = "flights"
    approximate: Mapping[str, tuple[str, str]] = MappingProxyType({})

    def __init__(self, settings: FlightsQuery) -> None:
        self._settings = settings

    def statistics(self, events: DataFrame) -> DataFrame:
        """Return per session of an aircraft: flights, and the sum and maximum of their delays."""
        flown = unique_flights(events, self._settings).where(
            F.col("tailnum").isNotNull() & F.col("dep_delay").isNotNull()
        )
        return (
            flown.groupBy(F.session_window("scheduled", GAP), F.col("tailnum").alias("aircraft"))
            .agg(
                F.count(F.lit(1)).alias("flights"),
                F.sum("dep_delay").alias("delay_minutes"),
                F.max("dep_delay").alias("longest_delay"),
            )
            .withColumn("first", F.col("session_window.start"))
            .withColumn("last", F.col("session_window.end") - F.expr(f"interval {GAP}"))
            .drop("session_window")
        )

    def tables(self, result: DataFrame) -> list[Table]:
        """Return the sessions with the most flights."""

        def local(time: str) -> Column:
            return F.date_format(F.from_utc_timestamp(time, AIRPORTS_TIME_ZONE), "MM-dd HH:mm")

        longest = result.orderBy(F.desc("flights"), *self.group).select(
            "aircraft",
            local("first").alias("from"),
            local("last").alias("to"),
            "flights",
            F.col("delay_minutes").alias("delay"),
            F.col("longest_delay").alias("longest"),
        )
        title = "Tours with the most departures, in New York, delays in minutes"
        return [Table.of(title, longest, limit=LONGEST_TOURS)]
