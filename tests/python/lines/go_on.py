"""Takes checkpoints some batches further, all of them in one Spark.

    python -m lines.go_on PLAN

PLAN is a JSON file: a list of `{"query", "checkpoint", "provider", "batches"}`. A checkpoint that
is not there is begun, with the class of the provider; one that is there keeps its own. Prints as
JSON, in the same order, `{"rows": {batch: its rows, sorted}, "hinted": how many walks over a store
looked at expired rows alone, "provider": what the last batch was planned with, "error": the
sentence that ended the query, or null}`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import holdfast_spark as holdfast
from holdfast_spark.checkpoint import Checkpoint
from holdfast_spark.metrics import progress_metrics
from lines import queries
from lines.cases import OWN_STATE, QUERIES

_AT_ONCE = 2
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_MODES = {**QUERIES, **OWN_STATE}

Job = Mapping[str, Any]


def main(plan: Path) -> None:
    spark = session()
    results = run(spark, json.loads(plan.read_text()))
    spark.stop()
    sys.stdout.write(json.dumps({"results": results}))


def run(spark: SparkSession, jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """Do the jobs of a plan."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda job: _go_on(spark, job), jobs))


def session() -> SparkSession:
    """Start Spark as all of these queries have it."""
    builder = (
        SparkSession.Builder()
        .master(f"local[{_AT_ONCE}]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.minDeltasForSnapshot", "2")
        .config("spark.sql.streaming.stateStore.maintenanceInterval", "300ms")
        # Compiling takes longer than running for so few rows.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    )
    return holdfast.configure(builder, local_checkpoints=True).getOrCreate()


def _go_on(spark: SparkSession, job: Job) -> dict[str, Any]:
    rows: dict[int, list[str]] = {}

    def keep(batch: DataFrame, number: int) -> None:
        rows[number] = sorted(str(row) for row in batch.collect())

    session = spark.newSession()
    session.conf.set(_PROVIDER, job["provider"])
    query = getattr(queries, job["query"])
    hinted = 0
    error = None
    try:
        for _ in range(job["batches"]):
            writer = query(session).writeStream.outputMode(_MODES[job["query"]]).foreachBatch(keep)
            writer = writer.option("checkpointLocation", job["checkpoint"])
            running = writer.trigger(availableNow=True).start()
            running.awaitTermination()
            hinted += sum(map(_hinted, running.recentProgress))
    except Exception as e:  # noqa: BLE001 - whatever this Spark refuses with
        error = str(e)
    bound = None if error else Checkpoint.open(job["checkpoint"]).settings.provider_class
    return {"rows": rows, "hinted": hinted, "provider": bound, "error": error}


def _hinted(progress: Mapping[str, Any]) -> int:
    operators = progress_metrics(progress).operators
    return sum(operator.holdfast_eviction_hint_count or 0 for operator in operators)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
