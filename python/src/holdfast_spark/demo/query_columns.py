"""Statistics of the numeric columns of a user's own files, per key and window of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from holdfast_spark.demo.plan import ColumnsQuery, Value
from holdfast_spark.demo.table import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TABLE_ROWS = 10
TABLE_VALUES = 3
LONG_AS_DECIMAL = "decimal(20,0)"


class NumbersByKeyAndWindow:
    """Events, deduplicated and counted, and their numbers, per key and window.

    Rows that agree in time, key and every number are one event. Deduplicating on time and key
    alone would keep whichever of two different rows came first, which stream and batch need not
    agree on.
    """

    name = "statistics"
    output_mode = "update"
    count = "events"

    def __init__(self, settings: ColumnsQuery) -> None:
        self._settings = settings
        self._keys = tuple(f"key{number}" for number in range(len(settings.keys)))

    @property
    def group(self) -> tuple[str, ...]:
        """The start of the window and the key columns."""
        return ("start", *self._keys)

    @property
    def approximate(self) -> dict[str, tuple[str, str]]:
        """The means of floating-point columns."""
        return {
            f"{column}_mean": (f"{column}_min", f"{column}_max")
            for column, value in self._values()
            if value.kind == "floating"
        }

    def statistics(self, events: DataFrame) -> DataFrame:
        """Return one row per group: events, and of each number count, least, greatest and mean."""
        columns = [
            statistic for column, value in self._values() for statistic in describe(column, value)
        ]
        return (
            events.withWatermark("time", self._settings.watermark)
            .dropDuplicates(events.columns)
            .groupBy(F.window("time", self._settings.window).alias("window"), *self._keys)
            .agg(F.count(F.lit(1)).alias("events"), *columns)
            .withColumn("start", F.col("window.start"))
            .drop("window")
        )

    def tables(self, result: DataFrame) -> list[Table]:
        """Return the groups with the most events."""
        named = dict(zip(self._keys, self._settings.keys, strict=True))
        columns = [F.col("start").cast("string").alias(f"{self._settings.time} from")]
        columns += [F.col(key).alias(name) for key, name in named.items()]
        columns.append(F.col("events"))
        columns += [
            F.col(f"{column}_{statistic}").alias(f"{value.name} {statistic}")
            for column, value in list(self._values())[:TABLE_VALUES]
            for statistic in ("mean", "max")
        ]
        largest = result.orderBy(F.desc("events"), *self.group).select(*columns)
        return [Table.of("Groups with the most events", largest, limit=TABLE_ROWS)]

    def _values(self) -> Iterator[tuple[str, Value]]:
        for number, value in enumerate(self._settings.values):
            yield f"value{number}", value


def describe(column: str, value: Value) -> list[Column]:
    """Return count, least, greatest and mean of a column.

    Spark adds integers up as doubles for their mean; as decimals the sum is exact in any order.
    """
    number = F.col(column)
    exact = number.cast(LONG_AS_DECIMAL) if value.kind == "integer" else number
    return [
        F.count(number).alias(f"{column}_count"),
        F.min(number).alias(f"{column}_min"),
        F.max(number).alias(f"{column}_max"),
        F.avg(exact).alias(f"{column}_mean"),
    ]
