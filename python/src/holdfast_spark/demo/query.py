"""The queries of the demo: one definition each, run as a stream and in batch.

A query deduplicates its input and then keeps statistics per group, so that two stateful operators
stand in a row. A micro-batch writes groups under its own number, and a batch that runs again after
a crash overwrites what it wrote before. In output mode update it writes the groups that it changed,
and the result is the newest row of each group; in complete mode it writes all groups, and the
result is what the newest batch wrote (`newest_rows`).

What a query puts out does not depend on the order of its input (but for the last digits named by
`Query.approximate`), so the stream's result can be held against the batch's row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as F

from holdfast_spark.demo.plan import FlightsQuery, Layout, Plan
from holdfast_spark.demo.query_columns import NumbersByKeyAndWindow
from holdfast_spark.demo.query_flights import DelaysByCarrierAndHour
from holdfast_spark.demo.query_sessions import SessionsByAircraft
from holdfast_spark.demo.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

BATCH_COLUMN = "batch"


class Query(Protocol):
    """A stateful query and the tables that show its result."""

    @property
    def name(self) -> str:
        """What the query is called, unlike any other of the run."""

    @property
    def output_mode(self) -> str:
        """How the stream writes its result: `update` or `complete`."""

    @property
    def group(self) -> tuple[str, ...]:
        """The columns of the result that tell its rows apart."""

    @property
    def count(self) -> str:
        """The column of the result that counts the events of a group."""

    @property
    def approximate(self) -> Mapping[str, tuple[str, str]]:
        """The columns with means of floating-point numbers.

        Their last digits depend on the order of addition. Each comes with the columns of the least
        and of the greatest of its numbers.
        """

    def statistics(self, events: DataFrame) -> DataFrame:
        """Return the query over `events`, which may be a stream or not."""

    def tables(self, result: DataFrame) -> list[Table]:
        """Return what a person wants to see of the result; runs Spark jobs."""


def open_query(plan: Plan, layout: Layout) -> Query:
    """Return the query that `plan` names."""
    if isinstance(plan.query, FlightsQuery):
        return DelaysByCarrierAndHour(plan.query, weather=layout.weather)
    return NumbersByKeyAndWindow(plan.query)


def open_queries(plan: Plan, layout: Layout) -> tuple[Query, ...]:
    """Return all queries of a run: the one that `plan` names, and of flights also the sessions."""
    query = open_query(plan, layout)
    if isinstance(plan.query, FlightsQuery):
        return (query, SessionsByAircraft(plan.query))
    return (query,)


def read_events(
    reader: DataFrameReader | DataStreamReader, plan: Plan, layout: Layout
) -> DataFrame:
    """Return the input of `plan` through `spark.read` or `spark.readStream`.

    As a stream it comes file by file, so that each file is one micro-batch.
    """
    return (
        reader.format(plan.format)
        .schema(plan.schema)
        .options(header=True, maxFilesPerTrigger=1)
        .load(f"file://{layout.input}")
    )


def newest_rows(spark: SparkSession, query: Query, layout: Layout) -> DataFrame:
    """Return the result of the stream: of each group the row that the last batch wrote."""
    written = spark.read.parquet(f"file://{layout.output_of(query.name)}")
    if query.output_mode == "complete":
        newest_batch = written.agg(F.max(BATCH_COLUMN)).collect()[0][0]
        return written.where(F.col(BATCH_COLUMN) == newest_batch).drop(BATCH_COLUMN)
    values = [name for name in written.columns if name not in (*query.group, BATCH_COLUMN)]
    newest = F.max_by(F.struct(*values), BATCH_COLUMN).alias("newest")
    return written.groupBy(*query.group).agg(newest).select(*query.group, "newest.*")
