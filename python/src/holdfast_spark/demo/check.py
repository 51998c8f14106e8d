"""The comparison of what the stream wrote with the same query computed in batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from holdfast_spark.demo.plan import Layout, Plan
from holdfast_spark.demo.query import Query, newest_rows, read_events
from holdfast_spark.demo.result import Check
from holdfast_spark.demo.table import as_cell

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession

# A sum of a million doubles, added in another order, differs by less than this times the greatest.
MEAN_TOLERANCE = 1e-9
SAMPLES = 5


def check(spark: SparkSession, query: Query, plan: Plan, layout: Layout) -> Check:
    """Compute a query in batch and compare; runs Spark jobs."""
    expected = query.statistics(read_events(spark.read, plan, layout))
    found = newest_rows(spark, query, layout).cache()
    pairs = side_by_side(expected, found, query.group)
    differs = ~agreement(expected.columns, query)
    groups, events, different = pairs.agg(
        F.count("batch"), F.coalesce(F.sum(f"batch.{query.count}"), F.lit(0)), F.count_if(differs)
    ).collect()[0]
    samples = pairs.where(differs).orderBy(*query.group).limit(SAMPLES) if different else None
    return Check(
        groups=groups,
        events=events,
        different=different,
        samples=tuple(in_words(row, query.group) for row in samples.collect()) if samples else (),
        tables=tuple(query.tables(found)),
    )


def side_by_side(expected: DataFrame, found: DataFrame, group: tuple[str, ...]) -> DataFrame:
    """Return all groups of both results in one row each.

    The row has the columns of `group`, then structs `batch` and `stream` of the other columns;
    one of them is null where that result lacks the group.
    """
    values = [name for name in expected.columns if name not in group]
    left = expected.select(*group, F.struct(*values).alias("batch")).alias("left")
    right = found.select(*group, F.struct(*values).alias("stream")).alias("right")
    same = [F.col(f"left.{name}").eqNullSafe(F.col(f"right.{name}")) for name in group]
    either = [F.coalesce(f"left.{name}", f"right.{name}").alias(name) for name in group]
    return left.join(right, same, "full").select(*either, "batch", "stream")


def agreement(columns: list[str], query: Query) -> Column:
    """Return whether `batch` and `stream` have the same values; false when one is missing."""
    agree = F.col("batch").isNotNull() & F.col("stream").isNotNull()
    for name in columns:
        if name not in query.group:
            agree &= same_value(name, query)
    return agree


def same_value(name: str, query: Query) -> Column:
    """Return whether both results have the same value of one column, two nulls being the same."""
    batch, stream = F.col(f"batch.{name}"), F.col(f"stream.{name}")
    if name not in query.approximate:
        return batch.eqNullSafe(stream)
    least, greatest = (F.abs(f"batch.{bound}") for bound in query.approximate[name])
    close = F.abs(batch - stream) <= MEAN_TOLERANCE * F.greatest(least, greatest)
    return batch.eqNullSafe(stream) | F.coalesce(close, F.lit(False))


def in_words(row: Row, group: tuple[str, ...]) -> str:
    """Return a pair of differing rows as one line."""
    name = ", ".join(f"{column} {as_cell(row[column])}" for column in group)
    return f"{name}: batch has {values_of(row['batch'])}, the stream {values_of(row['stream'])}"


def values_of(values: Row | None) -> str:
    """Return the values of one side, `nothing` when it lacks the group."""
    if values is None:
        return "nothing"
    return ", ".join(f"{name} {as_cell(value)}" for name, value in values.asDict().items())
