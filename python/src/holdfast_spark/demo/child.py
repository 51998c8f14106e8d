"""The drivers of the demo: `python -m holdfast_spark.demo.child STAGE WORK [OWN_FILES FILES]`.

A driver does one stage and reports over its standard output, one JSON object a line, each with
`event`: `progress` (a query's progress as Spark puts it), `done` (with the stage's outcome) or
`failed` (with one sentence; the rest is in the log, which is the process's standard error).
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

import holdfast_spark as holdfast
from holdfast_spark.demo.check import check
from holdfast_spark.demo.errors import DemoUsageError, first_sentence
from holdfast_spark.demo.own_files import OwnFiles
from holdfast_spark.demo.plan import Layout, Plan
from holdfast_spark.demo.prepare import prepare
from holdfast_spark.demo.query import BATCH_COLUMN, Query, open_queries, read_events
from holdfast_spark.demo.session import builder
from holdfast_spark.errors import HoldfastError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )
    from pyspark.sql.streaming.query import StreamingQuery


class Reporter(StreamingQueryListener):
    """Reports each progress of one of several queries; `ended` is released when one has ended."""

    def __init__(self, query: str) -> None:
        self.ended = threading.Semaphore(0)
        self._query = query

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Nothing is to be told."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Report it, if it is of the query to be reported."""
        if event.progress.name == self._query:
            emit({"event": "progress", "progress": json.loads(event.progress.json)})

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing is to be told."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: ARG002, N802
        """Spark delivers events in order, so that this is the last one."""
        self.ended.release()


def prepare_stage(layout: Layout, own: OwnFiles, files: int) -> dict[str, Any]:
    """Make the input of the stream out of the user's files, without Holdfast."""
    spark = builder(layout, brief=own.brief).getOrCreate()
    prepare(spark, own, layout, files=files).write(layout.plan)
    return {}


def stream_stage(layout: Layout) -> dict[str, Any]:
    """Run the queries on Holdfast over all input that their checkpoints do not cover yet."""
    plan = Plan.read(layout.plan)
    spark = holdfast.configure(
        builder(layout, brief=plan.brief), local_checkpoints=True
    ).getOrCreate()
    events = read_events(spark.readStream, plan, layout)
    queries = open_queries(plan, layout)
    reporter = Reporter(queries[0].name)
    spark.streams.addListener(reporter)
    started = [start(query, events, layout) for query in queries]
    for streaming in started:
        streaming.awaitTermination()
    for _ in started:
        reporter.ended.acquire()
    return {}


def start(query: Query, events: DataFrame, layout: Layout) -> StreamingQuery:
    """Start a query over all input that its checkpoint does not cover yet."""

    def write_batch(rows: DataFrame, batch: int) -> None:
        folder = layout.output_of(query.name)
        rows.write.mode("overwrite").parquet(f"file://{folder}/{BATCH_COLUMN}={batch}")

    return (
        query.statistics(events)
        .writeStream.queryName(query.name)
        .outputMode(query.output_mode)
        .foreachBatch(write_batch)
        .option("checkpointLocation", f"file://{layout.checkpoint_of(query.name)}")
        .trigger(availableNow=True)
        .start()
    )


def check_stage(layout: Layout) -> dict[str, Any]:
    """Compare the streams' results with batch, without Holdfast."""
    plan = Plan.read(layout.plan)
    spark = builder(layout, brief=plan.brief).getOrCreate()
    return {
        query.name: dataclasses.asdict(check(spark, query, plan, layout))
        for query in open_queries(plan, layout)
    }


def run_stage(stage: str, layout: Layout, arguments: list[str]) -> dict[str, Any]:
    """Run the stage called `stage` and return its outcome."""
    if stage == "prepare":
        fields = json.loads(arguments[0])
        own = OwnFiles(**{**fields, "keys": tuple(fields["keys"])})
        return prepare_stage(layout, own, int(arguments[1]))
    return check_stage(layout) if stage == "check" else stream_stage(layout)


def emit(report: dict[str, Any]) -> None:
    """Report to the process that started this one."""
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Run one stage; returns the exit code of the process."""
    stage, work, *rest = arguments
    try:
        emit({"event": "done", "outcome": run_stage(stage, Layout(Path(work)), rest)})
    except HoldfastError as error:
        usage = isinstance(error, DemoUsageError)
        emit({"event": "failed", "sentence": str(error), "usage": usage})
        return 1
    except Exception as error:  # noqa: BLE001 - of any failure the parent must learn a sentence
        traceback.print_exc()
        emit({"event": "failed", "sentence": first_sentence(error), "usage": False})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
